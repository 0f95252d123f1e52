"""Accounts, tokens and the audit log in a browser, by keyboard and mouse, beside names that were made to do harm.

On a server of its own, in server mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.test_sharing import Visit, log_in, visit
from tests.served import served

__all__ = ["visit"]

PASSWORD = "a long enough pass phrase"
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\u202egnp.exe \u2066שלום\u2069 \u0627\u0644\u0639",
    "{{ 7|add:7 }}{% now 'Y' %}'\"&lt;",
    "w" * 200,
)
SEED = f"""
from django.contrib.auth.models import User
from inspector.audit import Action, note
from inspector.models import Account, ApiToken
from inspector.tokens import make_token
from runs.access import Access, Role
from runs.models import Run
from tests.stored import outcomes, store

ada = User.objects.create_user("ada", password={PASSWORD!r})
Account.objects.create(user=ada, role=Role.ADMIN)
for number, name in enumerate({HOSTILE!r}):
    user = User.objects.create(username=name[:150])
    Account.objects.create(user=user, role=Role.VIEWER)
    make_token(ada, name[:100])
    note(Access(user=user.pk, name=name[:150]), Action.RUN_DELETED, name, name)
    run = store(outcomes("desk.py:test_1", "pfe"), model=name, benchmark=name, repetitions=3)
    Run.objects.filter(pk=run.pk).update(slug=f"hostile-{{number}}", provider=name, note=name, owner=user)
"""
PAGES = {
    "account": "/account/",
    "accounts": "/accounts/",
    "audit": "/audit/",
    "docs": "/api/v1/docs",
    "runs": "/",
    "run": "/runs/hostile-1/",
    "long": "/runs/hostile-4/",
    "provenance": "/runs/hostile-4/provenance/",
    "edit": "/runs/hostile-0/edit/",
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("server"), first=SEED, TWENTYFOLD_AUTH="required") as url:
        yield url


@pytest.fixture
def ada(visit: Visit) -> Page:
    """Logged in."""
    page = visit("/account/")
    log_in(page)
    return page


def token_row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name, exact=True))


def opens(page: Page, token: str) -> int:
    """What the API answers to a program with the token."""
    context = page.context.browser.new_context()  # type: ignore[union-attr]
    answer = context.request.get(
        page.url.partition("/account")[0] + "/api/v1/access", headers={"Authorization": f"Bearer {token}"}
    )
    context.close()
    return answer.status


def test_a_token_is_made_and_revoked_with_the_mouse(ada: Page) -> None:
    name = "<img src=y onerror=alert(2)> שלום"
    ada.get_by_label("A new token, for").fill(name)
    ada.get_by_role("checkbox", name="evaluate").check()
    ada.get_by_label("It ends in").select_option("1 year")
    ada.get_by_role("button", name="Make the token").click()
    made = ada.get_by_label("The new token")
    token = made.input_value()
    ada.get_by_role("button", name="Copy", exact=True).click()
    assert ada.evaluate("navigator.clipboard.readText()") == token
    assert opens(ada, token) == 200
    expect(token_row(ada, name)).to_contain_text("read, evaluate")
    ada.goto("/account/")
    expect(made).to_have_count(0)
    assert token not in ada.content()
    token_row(ada, name).get_by_role("button", name="Revoke").click()
    expect(token_row(ada, name)).to_contain_text("revoked")
    assert opens(ada, token) == 401


def test_the_same_with_the_keyboard_alone(ada: Page) -> None:
    press = ada.keyboard.press
    tab_to(ada, ada.get_by_label("A new token, for"))
    ada.keyboard.type("nightly")
    press("Tab")  # what every token may is ticked, and cannot be taken away
    expect(ada.get_by_role("checkbox", name="evaluate")).to_be_focused()
    press("Tab")
    press("Space")
    expect(ada.get_by_role("checkbox", name="write")).to_be_checked()
    tab_to(ada, ada.get_by_label("It ends in"))
    press("ArrowUp")
    tab_to(ada, ada.get_by_role("button", name="Make the token"))
    press("Enter")
    tab_to(ada, ada.get_by_label("The new token"))
    token = ada.get_by_label("The new token").input_value()
    press("Tab")
    press("Enter")
    assert ada.evaluate("navigator.clipboard.readText()") == token
    expect(token_row(ada, "nightly")).to_contain_text("read, write")
    tab_to(ada, token_row(ada, "nightly").get_by_role("button", name="Revoke"))
    press("Enter")
    expect(token_row(ada, "nightly")).to_contain_text("revoked")


def tab_to(page: Page, wanted: Locator, most: int = 80) -> None:
    """Presses Tab until the thing has the focus, and sees that it shows it."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            style = "element => [getComputedStyle(element).outlineStyle, getComputedStyle(element).boxShadow]"
            assert wanted.evaluate(style) != ["none", "none"], "The focus cannot be seen."
            return
    raise AssertionError(f"{wanted} cannot be reached with Tab.")


def test_who_is_new_chooses_a_password_before_anything_else(ada: Page, visit: Visit) -> None:
    ada.get_by_role("link", name="Accounts", exact=True).click()
    form = ada.locator("form.new-account")
    form.get_by_label("Name").fill("<script>alert(3)</script>")
    form.get_by_role("button", name="Make the account").click()
    expect(form).to_contain_text("Enter a valid username")
    form.get_by_label("Name").fill("nora")
    form.get_by_label("Role").select_option("evaluator")
    tab_to(ada, form.get_by_role("button", name="Make the account"))
    ada.keyboard.press("Enter")
    given = ada.get_by_label("The password", exact=True).input_value()
    nora = visit("/")
    nora.get_by_label("Name").fill("nora")
    nora.get_by_label("Password").fill(given)
    nora.keyboard.press("Enter")
    expect(nora.get_by_text("Choose a password of your own.")).to_be_visible()
    for elsewhere in ("/", "/uploads/", "/api/v1/docs"):
        nora.goto(elsewhere)
        expect(nora).to_have_url(nora.url.partition("/account")[0] + "/account/")
    assert nora.evaluate("fetch('/api/v1/runs').then(answer => answer.status)") == 403
    expect(nora.get_by_role("button", name="Make the token")).to_have_count(0)
    nora.get_by_label("The one you have").fill(given)
    nora.get_by_label("A new one").fill("a pass phrase of her own")
    nora.get_by_label("Once more").fill("a pass phrase of her own")
    nora.get_by_role("button", name="Change the password").click()
    expect(nora.get_by_role("button", name="Make the token")).to_be_visible()
    assert nora.evaluate("fetch('/api/v1/runs').then(answer => answer.status)") == 200


def test_the_audit_log_tells_it_and_is_searched_by_keyboard(ada: Page) -> None:
    ada.goto("/audit/")
    tab_to(ada, ada.get_by_label("By whom"))
    ada.keyboard.type(HOSTILE[0])
    ada.keyboard.press("Enter")
    expect(ada.get_by_role("heading", name="1 entry")).to_be_visible()
    row = ada.get_by_role("table").get_by_role("row").nth(1)
    expect(row).to_contain_text(HOSTILE[0])
    with ada.expect_download() as download:
        ada.get_by_role("link", name="CSV").click()
    assert HOSTILE[0] in download.value.path().read_text(encoding="utf-8")


def test_hostile_names_are_text_on_every_page(ada: Page, visit: Visit, barriers: Callable[[Page], list[str]]) -> None:
    """Each page fits its window and says nothing to axe; `visit` sees to errors and violations of the policy."""
    page = visit("/account/", like=ada)
    for name, path in PAGES.items():
        page.goto(path)
        assert page.locator("img[src='x'], main script:not([type='application/json'])").count() == 0, name
        assert barriers(page) == [], name


@pytest.mark.parametrize("path", ["/account/", "/accounts/", "/audit/"])
def test_tables_of_accounts_are_read_without_scrolling_sideways(ada: Page, visit: Visit, path: str) -> None:
    """Narrow, each cell stands below the other with the name of its column, however long what is in it."""
    page = visit(path, width=390, like=ada)
    table = page.get_by_role("region").or_(page.get_by_role("group")).locator("table.stacks").first
    assert table.evaluate("table => [table.scrollWidth, table.parentElement.scrollWidth]") == [364, 364]
    cell = table.locator("td[data-label]").first
    label = cell.get_attribute("data-label")
    assert cell.evaluate("cell => getComputedStyle(cell, '::before').content") == f'"{label}"'
    wide = visit(path, width=1440, like=ada).locator("table.stacks td[data-label]").first
    assert wide.evaluate("cell => getComputedStyle(cell).display") == "table-cell"
