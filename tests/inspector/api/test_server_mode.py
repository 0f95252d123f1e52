"""The API where everybody has an account: how often, with which password, and whose runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from pytest_django import DjangoAssertNumQueries, Settings

from inspector import ratelimit
from inspector.api.auth import Sender
from inspector.api.errors import Problem
from inspector.models import Account, ApiToken
from inspector.receiving import STATE
from inspector.tokens import make_token
from runs.access import Role, Scope
from runs.models import Run
from runs.search import anything_waits, index_some
from tests.factories import make_row
from tests.inspector.api.conftest import text_of
from tests.inspector.server_mode import PASSWORD, make_account, turn_login_on
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def server_mode(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """In which no time passes: a bucket that fills up meanwhile would change what is said of it."""
    turn_login_on(settings)
    monkeypatch.setattr(ratelimit, "_buckets", ratelimit.Buckets(clock=lambda: 1000.0))


def program(owner: User, *scopes: Scope) -> Client:
    return Client(headers={"Authorization": f"Bearer {make_token(owner, 'ci', scopes).text}"})


# --- How often --------------------------------------------------------------------------------------------------------


def test_who_asks_too_often_is_told_when_to_come_again(settings: Settings) -> None:
    settings.API_RATE = 2
    vera = make_account("vera", Role.VIEWER)
    busy, other = program(vera), program(vera)
    allowed = [busy.get("/api/v1/access") for _ in range(2)]
    assert [(each.status_code, *limits(each)) for each in allowed] == [(200, 2, 1, 30), (200, 2, 0, 60)]
    assert "Retry-After" not in allowed[1]
    refused = busy.get("/api/v1/runs")
    assert (refused.status_code, refused["Content-Type"], refused["Cache-Control"]) == (
        429, "application/problem+json", "no-store",
    )  # fmt: skip
    assert limits(refused) == (2, 0, 60)
    # Two a minute: the next turn is there in half a minute.
    assert refused["Retry-After"] == "30"
    problem = refused.json()
    assert (problem["status"], problem["title"]) == (429, "Too Many Requests")
    assert problem["detail"].startswith("More than 2 requests a minute came from here. Send the next one in ")
    assert other.get("/api/v1/runs").status_code == 200


def test_every_answer_that_counts_says_how_many_are_left(settings: Settings) -> None:
    settings.API_RATE = 600
    eve = program(make_account("eve", Role.EVALUATOR), Scope.EVALUATE)
    etag = eve.get("/api/v1/runs")["ETag"]
    answers = [
        eve.get("/api/v1/runs", headers={"If-None-Match": etag}),
        eve.get("/api/v1/runs/none"),
        eve.get("/api/v1/runs?nope=1"),
        eve.post("/api/v1/runs", {"model": "m", "benchmark": "b"}, content_type="application/json"),
        eve.head("/api/v1/runs"),
    ]
    assert [answer.status_code for answer in answers] == [304, 404, 422, 403, 200]
    assert [limits(answer)[:2] for answer in answers] == [(600, left) for left in range(598, 593, -1)]
    # What is no operation is not counted.
    assert [name for name in eve.get("/api/v1/nothing").headers if name.startswith("RateLimit")] == []
    settings.API_RATE = 0
    assert [name for name in eve.get("/api/v1/runs").headers if name.startswith("RateLimit")] == []


def test_a_file_that_is_asked_about_before_it_is_taken_is_one_request(settings: Settings) -> None:
    settings.API_RATE = 2
    sent: dict[str, Any] = {}
    told = []
    for method, state in (("HEAD", sent), ("PUT", sent), ("GET", None), ("GET", None)):
        request = RequestFactory(REMOTE_ADDR="192.0.2.63").generic(method, f"/api/v1/uploads/{'0' * 64}")
        request.scope = {} if state is None else {STATE: state}  # type: ignore[attr-defined]  # as under a server
        with pytest.raises(Problem) as refused:
            Sender()(request)
        told.append(refused.value.status)
    # Nobody is logged in; the last one is the third request.
    assert told == [401, 401, 401, 429]


def limits(answer: Any) -> tuple[int, ...]:
    """Limit, remaining, and reset in tens of seconds: some time passes between two requests."""
    limit, left, reset = (int(answer[f"RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset"))
    return limit, left, round(reset, -1)


def test_tries_without_a_token_are_counted_by_address(settings: Settings) -> None:
    settings.API_RATE = 1
    near, far = Client(REMOTE_ADDR="192.0.2.61"), Client(REMOTE_ADDR="192.0.2.62")
    told = [client.get("/api/v1/runs").status_code for client in (near, near, far)]
    assert told == [401, 429, 401]


def test_made_up_tokens_are_counted_by_address_and_then_not_looked_up(
    settings: Settings, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    settings.API_RATE = 3
    made_up = [Client(headers={"Authorization": f"Bearer tf_{number:043}"}) for number in range(5)]
    told = [client.get("/api/v1/runs").status_code for client in made_up[:3]]
    with django_assert_num_queries(0):
        told += [client.get("/api/v1/runs").status_code for client in made_up[3:]]
    assert told == [401, 401, 401, 429, 429]


def test_what_is_refused_for_its_number_changes_nothing(settings: Settings) -> None:
    settings.API_RATE = 1
    client = program(make_account("eve", Role.EVALUATOR), Scope.WRITE)
    told = [
        client.post("/api/v1/runs", {"model": name, "benchmark": "desk"}, content_type="application/json").status_code
        for name in ("birch", "oak")
    ]
    assert (told, [run.model for run in Run.objects.all()]) == ([201, 429], ["birch"])


# --- With which password ----------------------------------------------------------------------------------------------


@pytest.fixture
def newcomer() -> Client:
    """Logged in with the password that an admin gave."""
    user = make_account("nora", Role.EVALUATOR)
    Account.objects.filter(user=user).update(password_is_new=True)
    client = Client()
    assert client.login(username="nora", password=PASSWORD)
    return client


def test_a_password_for_one_login_opens_nothing_but_the_page_to_choose_another(newcomer: Client) -> None:
    for method, path in (
        ("get", "/runs"),
        ("get", "/openapi.json"),
        ("post", "/runs"),
        ("head", f"/uploads/{'0' * 64}"),
    ):
        refused = getattr(newcomer, method)(f"/api/v1{path}")
        assert (refused.status_code, refused["Content-Type"]) == (403, "application/problem+json"), path
    assert (
        newcomer.get("/api/v1/runs").json()["detail"] == "Choose a password of your own first, on the page /account/."
    )
    assert newcomer.get("/api/v1/docs").headers["Location"] == "/account/"
    chosen = "a pass phrase of her own"
    sent = {"old_password": PASSWORD, "new_password1": chosen, "new_password2": chosen}
    assert newcomer.post("/account/password/", sent).status_code == 303
    assert newcomer.get("/api/v1/runs").status_code == 200


def test_nor_does_it_make_a_token(newcomer: Client) -> None:
    made = newcomer.post("/account/tokens/", {"name": "ci", "lasts": "90", "scopes": ["read"]})
    assert (made.status_code, made.headers["Location"], ApiToken.objects.count()) == (303, "/account/", 0)


# --- Whose runs -------------------------------------------------------------------------------------------------------

MINE = "mine-benchmark-5101"


@pytest.fixture
def private() -> Run:
    """Eve's, with a task, a model and a benchmark that nothing else has; beside a run that everybody sees."""
    store([make_row(), make_row(repetition=1, outcome="passed")], repetitions=2)
    rows = outcomes("mine.py:mine-task-5102", "fpe")
    run = store(rows, model="mine-model-5103", benchmark=MINE, repetitions=3)
    Run.objects.filter(pk=run.pk).update(owner=make_account("eve", Role.EVALUATOR), visibility="private")
    run.uploads.update(owner=User.objects.get(username="eve"), visibility="private")
    while anything_waits():
        index_some()
    return run


LISTS = [
    "/runs", "/runs?sort=-attempts&limit=1", "/benchmarks", "/tasks", "/attempts", "/attempts?verdict=failed",
    "/attempts?replaced=true", "/failures", "/failures/facets", "/failures/facets?all=run", "/failures/groups",
    "/failures/groups?group=task", "/look-next", "/errors", "/search?q=mixer", "/search?q=mine", "/leaderboards",
    "/uploads", "/notes",
]  # fmt: skip


def walked(client: Client, path: str) -> Iterator[tuple[str, Any]]:
    """All slices of a list."""
    address = f"/api/v1{path}"
    while address:
        answer = client.get(address)
        assert answer.status_code == 200, (path, answer.content)
        yield text_of(answer).decode(), answer.json()
        following = answer.json().get("next")
        address = f"/api/v1{path}{'&' if '?' in path else '?'}cursor={following}" if following else ""


def seen(client: Client) -> dict[str, tuple[set[str], int | None]]:
    """List → what of the private run it names, and how many entries it counts."""
    found = {}
    for path in LISTS:
        slices = list(walked(client, path))
        text = "".join(text for text, _ in slices)
        found[path] = ({word for word in (MINE, "mine-task-5102", "mine-model-5103") if word in text},
                       slices[0][1].get("total"))  # fmt: skip
    return found


def test_a_private_run_is_in_the_lists_of_its_owner_and_of_nobody_else(private: Run) -> None:
    bob, scopes = make_account("bob", Role.EVALUATOR), tuple(Scope)
    others = seen(program(bob, *scopes))
    assert {path: names for path, (names, _) in others.items() if names} == {}
    owners = seen(program(User.objects.get(username="eve"), *scopes))
    named = {path for path, (names, _) in owners.items() if names}
    assert named == set(LISTS) - {"/leaderboards", "/notes", "/look-next"}
    # As if it were not there: counts are those of a server without it.
    private.delete()
    assert {path: total for path, (_, total) in seen(program(bob, *scopes)).items()} == {
        path: total for path, (_, total) in others.items()
    }
    differing = {path for path, (_, total) in owners.items() if total != others[path][1]}
    assert {"/runs", "/attempts", "/failures", "/failures/groups?group=task", "/errors", "/tasks"} <= differing
