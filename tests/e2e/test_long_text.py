"""No name of a bundle makes a page wider than its window, however long it is and without a place to break."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from runs.access import EVERYTHING
from runs.boards.edit import BoardChanges, create_board
from runs.models import Attempt, Note, Run, Upload, UploadProblem, UploadState
from tests.factories import make_row
from tests.stored import outcomes, store
from tests.trace_rows import row_with, text, tool

pytestmark = pytest.mark.django_db(transaction=True)
OpenPage = Callable[..., Page]
MODEL = "m" * 200
BENCHMARK = "b" * 100
UID = "t" * 150 + ".py:" + "u" * 145
LONG = "w" * 400
ORDINARY = "sandbox_external_retail_group1.py:test_case_ST003_006"
WIDER = """() => {
  const wide = innerWidth;
  if (document.documentElement.scrollWidth <= wide) return [];
  const found = [...document.querySelectorAll("body *")].filter(one => {
    if (one.getBoundingClientRect().right <= wide + 1) return false;
    for (let at = one.parentElement; at && at !== document.body; at = at.parentElement)
      if (getComputedStyle(at).overflowX !== "visible") return false;
    return true;
  });
  const width = `${document.documentElement.scrollWidth} px`;
  return [width, `${found.length}`, ...found.slice(-3).map(one => one.outerHTML.slice(0, 99))];
}"""


def wider_now(page: Page) -> list[str]:
    """What is wider than the window, once scripts have laid out anew what they lay out."""
    for _ in range(40):
        found: list[str] = page.evaluate(WIDER)
        if not found:
            break
        page.wait_for_timeout(50)
    return found


@pytest.fixture
def addresses() -> list[str]:
    """Every page of a site in which whatever a bundle names is very long."""
    messages = [
        text("user", LONG),
        text("assistant", LONG, tag="think"),
        *tool(1, LONG, {LONG: LONG, "item": {LONG: LONG}}, '{"' + LONG + '": "' + LONG + '"}'),
        *tool(2, LONG, LONG, f"Error: {LONG}"),
        text("assistant", LONG, tag="text"),
    ]
    row = row_with(messages, uid=UID, repetition=1, finish_reason=LONG[:50])
    row["test_result"] |= {"tb": f"AssertionError: {LONG}", "prints": LONG, "line_content": LONG}
    row["metadata"] |= {"agent": LONG, LONG: LONG}
    row["tools"][0] |= {"name": LONG, "description": LONG}
    server = next(iter(row["test_context"]["effects"].values()))
    for side in ("initial_db_state", "result_db_state", "golden_db_state"):
        server[side] = {LONG: [{"id": LONG, LONG: LONG, "status": side + LONG}]}
    server |= {"result_db_hash": LONG, "golden_db_hash": LONG + "x", "diff": None, "rubrics": [LONG]}
    rows = [make_row(uid=UID, repetition=0), row, *outcomes(ORDINARY, "pf")]
    run = store(rows, model=MODEL, benchmark=BENCHMARK, repetitions=4)
    other = store(rows, model=MODEL[:-1] + "2", benchmark=BENCHMARK)
    Run.objects.update(provider=LONG[:200], note=LONG)
    for state in (UploadState.ASKING, UploadState.READING, UploadState.FAILED):
        Upload.objects.create(file_name=LONG[:200], sha256="0", size=10, state=state, error=LONG)
    failed = Upload.objects.latest("pk")
    UploadProblem.objects.create(upload=failed, line=1, kind="rejected", reason=LONG, uid=UID)
    bad = Attempt.objects.get(run=run, task__uid=UID, repetition=1)
    good = Attempt.objects.get(run=other, task__uid=UID, repetition=0)
    plain = Attempt.objects.get(run=run, task__uid=ORDINARY, repetition=1)
    Note.objects.create(attempt=bad, step=2, label=LONG[:60], text=LONG, created_at="2026-03-01T00:00:00Z")
    board = create_board(
        BoardChanges(title=LONG[:200], runs=(run.slug, other.slug), published=("o3-pro",)), access=EVERYTHING
    )
    traces = [
        f"/attempts/{pk}/{query}"
        for pk in (bad.pk, plain.pk)
        for query in ("", "?tab=state", "?tab=checks", "?tab=task", "?tab=raw", "?tab=state&unchanged=1", "?find=ww")
    ]
    return [
        "/",
        f"/runs/{run.slug}/",
        f"/runs/{run.slug}/?colour=signature",
        f"/runs/{run.slug}/edit/",
        f"/runs/{run.slug}/delete/",
        f"/runs/{run.slug}/tasks/{UID}/",
        f"/runs/{run.slug}/tasks/{ORDINARY}/",
        f"/tasks/{UID}/",
        *traces,
        f"/attempts/{bad.pk}/steps/3/",
        f"/attempts/{bad.pk}/same/",
        f"/attempts/{bad.pk}/notes/",
        f"/compare/?candidate={run.slug}&base={other.slug}",
        f"/attempts/{good.pk}/vs/{bad.pk}/",
        "/failures/",
        f"/failures/?q={'w' * 100}",
        "/failures/errors/",
        "/failures/next/",
        "/notes/",
        f"/search/?q={'t' * 100}",
        "/uploads/",
        f"/uploads/{failed.pk}/",
        "/leaderboards/",
        f"/leaderboards/{board.slug}/",
        f"/leaderboards/{board.slug}/edit/",
        f"/leaderboards/{board.slug}/delete/",
        "/prices/",
    ]


@pytest.mark.parametrize(
    ("widths", "scripts"),
    [pytest.param((1440, 390, 360), True, id="scripts"), pytest.param((360,), False, id="no scripts")],
)
def test_long_names_do_not_widen_a_page(
    open_page: OpenPage, addresses: list[str], widths: tuple[int, ...], scripts: bool
) -> None:
    page = open_page("/", scripts=scripts)
    wider = {}
    for address in addresses:
        answer = page.goto(address)
        assert answer is not None
        assert (address, answer.status) == (address, 200)
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            found = wider_now(page)
            crumb = page.locator(".crumbs > a", has_text=re.compile("^(Runs|Failures|Leaderboards)$")).first
            if crumb.count():
                one_line = crumb.evaluate("a => a.getBoundingClientRect().height < 30")
                assert (address, width, one_line) == (address, width, True)
            if found:
                wider[address[:60], width] = found
    assert wider == {}


@pytest.mark.parametrize("path", ["/", "/runs/{slug}/"])
def test_a_long_name_pushes_no_column_out_of_its_table(open_page: OpenPage, path: str) -> None:
    run = store(outcomes(UID, "pfpf" * 5), model=MODEL, benchmark=BENCHMARK)
    page = open_page(path.format(slug=run.slug))
    scrolled = """all => all
      .filter(one => one.checkVisibility({contentVisibilityAuto: true}) && one.scrollWidth > one.clientWidth)
      .map(one => one.getAttribute("aria-label"))"""
    assert page.locator(".scroll-x").evaluate_all(scrolled) == []


def test_on_a_narrow_screen_names_marks_and_differences_are_whole(open_page: OpenPage) -> None:
    run = store(outcomes(ORDINARY, "pfpf" * 5), model="birch-2-preview")
    page = open_page(f"/runs/{run.slug}/", width=360)

    def right(selector: str) -> float:
        box = page.locator(selector).first.bounding_box()
        assert box is not None
        return box["x"] + box["width"]

    name = page.locator(".data.tasks tbody th").first
    assert name.inner_text().replace("\n", "") == "test_case_ST003_006"
    assert name.evaluate("cell => cell.scrollWidth <= cell.clientWidth")
    assert right(".data.tasks .strip .dot:last-child") < 360
    page.goto("/")
    assert right(".data.runs .legend.tiny") < 360
    page.goto(f"/runs/{run.slug}/tasks/{ORDINARY}/")
    assert right(".data.attempts tr:nth-child(2) td.first") < 360
    page.goto(Attempt.objects.get(repetition=1).get_absolute_url() + "?tab=task")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
