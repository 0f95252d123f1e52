"""Who sees a run and how long it stays: its edit page, deleting it, and runs whose time is over."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from inspector.models import AuditEntry
from inspector.retention import expire_runs
from inspector.tasks import expire
from runs.access import EVERYTHING, Access, Role
from runs.boards.edit import BoardChanges, BoardError, create_board, edit_board
from runs.boards.freeze import freeze_board, frozen_board
from runs.models import LeaderboardRun, Payload, Run, Upload, UploadState, Visibility
from runs.queries.leaderboards import board_page
from tests.inspector.server_mode import make_account, turn_login_on
from tests.stored import outcomes, store, upload_of

pytestmark = pytest.mark.django_db
FACTS = {"model": "birch", "benchmark": "desk"}


def expired_run(model: str = "birch") -> Run:
    run = store(outcomes("a.py:t", "pf"), model=model)
    Run.objects.filter(pk=run.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
    return run


def test_a_run_whose_day_has_come_goes_with_its_payloads_and_is_written_down() -> None:
    expired_run()
    store(outcomes("b.py:t", "p"), model="oak")
    kept = Payload.objects.count()
    assert expire_runs(timezone.now()) == ["desk-birch"]
    assert (list(Run.objects.values_list("model", flat=True)), Payload.objects.count() <= kept) == (["oak"], True)
    entry = AuditEntry.objects.get()
    assert (entry.who, entry.action, entry.about) == ("the server", "run_expired", "desk-birch")
    expire()
    assert Run.objects.count() == 1


def test_all_payloads_of_the_last_run_go() -> None:
    expired_run()
    assert Payload.objects.exists()
    expire()
    assert not Payload.objects.exists()


def test_the_servers_rule_counts_from_the_day_a_run_came(settings: Settings) -> None:
    run = store(outcomes("a.py:t", "p"))
    example = store(outcomes("a.py:t", "pp"), model="example")
    Run.objects.filter(pk=example.pk).update(is_demo=True)
    later = timezone.now() + timedelta(days=31)
    assert expire_runs(later) == []
    settings.RETENTION_DAYS = 30
    assert expire_runs(later - timedelta(days=2)) == []
    Run.objects.filter(pk=run.pk).update(expires_at=later + timedelta(days=1))
    assert expire_runs(later) == []
    Run.objects.filter(pk=run.pk).update(expires_at=None)
    assert expire_runs(later) == ["desk-birch"]


def test_a_run_that_is_being_read_waits() -> None:
    run = expired_run()
    Upload.objects.filter(run=run).update(state=UploadState.READING)
    assert (expire_runs(timezone.now()), AuditEntry.objects.count(), Run.objects.count()) == ([], 0, 1)


def test_by_hand_it_says_what_goes() -> None:
    expired_run()
    said = io.StringIO()
    call_command("expire", dry_run=True, stdout=said)
    call_command("expire", stdout=said)
    assert said.getvalue() == "desk-birch would be deleted.\ndesk-birch was deleted.\n1 runs were deleted.\n"


def test_its_owner_says_who_sees_a_run_and_when_it_goes(settings: Settings) -> None:
    turn_login_on(settings)
    eve, bob = make_account("eve", Role.EVALUATOR), make_account("bob", Role.EVALUATOR)
    run = store(outcomes("a.py:t", "p"))
    Run.objects.filter(pk=run.pk).update(owner=eve)
    address = f"/runs/{run.slug}/edit/"
    clients = {user.username: Client() for user in (eve, bob)}
    for user in (eve, bob):
        clients[user.username].force_login(user)
    sent = {**FACTS, "visibility": "private", "expires_on": "2999-12-31"}
    clients["bob"].post(address, sent)
    run.refresh_from_db()
    assert (run.visibility, run.expires_at, AuditEntry.objects.count()) == ("team", None, 0)
    assert clients["eve"].post(address, sent).status_code == 303
    run.refresh_from_db()
    assert (run.visibility, run.expires_at) == ("private", datetime(2999, 12, 31, tzinfo=UTC))
    entry = AuditEntry.objects.get()
    assert (entry.who, entry.action, entry.details) == ("eve", "visibility", "now seen by its owner and admins")
    assert (clients["bob"].get(address).status_code, clients["eve"].get(address).status_code) == (404, 200)
    page = clients["eve"].get(f"/runs/{run.slug}/").content.decode()
    assert (">private</span>" in page, "to be deleted" in page) == (True, True)


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"visibility": "everybody"}, ""),
        ({"visibility": "team", "expires_on": "2001-01-01"}, "This day is here or over."),
        ({"visibility": "team", "expires_on": "soon"}, "This is no day."),
    ],
)
def test_what_is_refused_about_keeping_a_run(client: Client, sent: dict[str, str], sentence: str) -> None:
    run = store(outcomes("a.py:t", "p"))
    answer = client.post(f"/runs/{run.slug}/edit/", {**FACTS, **sent})
    assert (answer.status_code, sentence in answer.content.decode()) == (422, True)
    run.refresh_from_db()
    assert (run.visibility, run.expires_at) == ("team", None)


def test_deleting_a_run_by_hand_is_written_down(client: Client) -> None:
    run = store(outcomes("a.py:t", "p"))
    client.post(f"/runs/{run.slug}/delete/")
    entry = AuditEntry.objects.get()
    assert (entry.who, entry.action, entry.about) == ("this machine", "run_deleted", "desk-birch")


def test_the_file_of_a_private_run_stays_private_when_the_run_is_gone() -> None:
    eve = make_account("eve", Role.EVALUATOR)
    run = store(outcomes("a.py:t", "p"))
    Run.objects.filter(pk=run.pk).update(owner=eve, visibility=Visibility.PRIVATE)
    Run.objects.filter(pk=run.pk).update(expires_at=timezone.now())
    expire()
    upload = Upload.objects.get()
    assert (upload.run, upload.owner, upload.visibility) == (None, eve, "private")


def test_rows_of_a_private_run_sent_by_somebody_else_make_a_run_of_their_own() -> None:
    eve, bob = make_account("eve", Role.EVALUATOR), make_account("bob", Role.EVALUATOR)
    rows = outcomes("a.py:t", "p")
    run = store(rows)
    Run.objects.filter(pk=run.pk).update(owner=eve, visibility=Visibility.PRIVATE)
    theirs = upload_of(rows, access=Access(True, True, user=bob.pk))
    assert theirs.run is not None
    assert (theirs.run.pk != run.pk, theirs.run.owner, theirs.stored) == (True, bob, 1)
    again = upload_of(rows, access=Access(True, True, user=eve.pk))
    assert (again.run, again.same) == (run, 1)


def test_a_private_run_is_on_a_board_for_its_owner_alone_and_in_no_freeze() -> None:
    eve, bob = make_account("eve", Role.EVALUATOR), make_account("bob", Role.EVALUATOR)
    team, private = store(outcomes("a.py:t", "p"), model="team"), store(outcomes("a.py:t", "f"), model="private")
    Run.objects.filter(pk=private.pk).update(owner=eve, visibility=Visibility.PRIVATE)
    owner, other = (Access(True, True, user=user.pk) for user in (eve, bob))
    changes = BoardChanges(title="Board", runs=(team.slug, private.slug))
    with pytest.raises(BoardError, match=f"There is no run {private.slug} on this server"):
        create_board(changes, access=other)
    board = create_board(changes, access=owner)
    assert [
        [row.name for row in board_page(board.slug, access=access).board.rows] for access in (owner, other, EVERYTHING)
    ] == [["team", "private"], ["team"], ["team", "private"]]
    # Somebody who does not see it edits the board: it stays on it.
    edit_board(board, BoardChanges(title="Board", runs=(team.slug,)), access=other)
    assert LeaderboardRun.objects.filter(leaderboard=board).count() == 2
    assert [row.name for row in frozen_board(freeze_board(board)).rows] == ["team"]
