from __future__ import annotations

import io
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from runs import search
from runs.models import (
    Attempt,
    AttemptEffect,
    AttemptPart,
    Payload,
    PayloadPart,
    PendingTranscript,
    Run,
    TaskTally,
    Trace,
    Upload,
)
from runs.payloads import compress
from runs.verifying import verify
from tests.factories import make_row
from tests.stored import store, upload_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return store([*(make_row(repetition=number) for number in range(3)), make_row(repetition=3, outcome="system")])


def texts() -> list[str]:
    return [finding.text for finding in verify()]


def mended() -> list[bool]:
    """Whether each finding was repaired; afterwards nothing repairable is left."""
    done = [finding.repaired for finding in verify(repair=True)]
    assert [finding for finding in verify() if finding.repairable] == []
    return done


def test_what_was_stored_is_well(run: Run) -> None:
    assert texts() == []


def test_a_payload_that_holds_something_else_is_named_with_the_attempts_it_is_part_of(run: Run) -> None:
    table = Payload.objects.filter(wholes__isnull=False).order_by("pk").first()
    assert table is not None
    Payload.objects.filter(pk=table.pk).update(data=compress(b"[]"))
    assert texts() == [
        f"The payload {table.digest[:12]}… holds something else. It is part of 3 attempts of {run.slug}. "
        "Restore a backup, or delete the run and read its file again."
    ]
    assert mended() == [False]


def test_a_payload_that_cannot_be_read_is_named(run: Run) -> None:
    tools = Payload.objects.filter(wholes__isnull=True, parts__isnull=True).get()
    Payload.objects.filter(pk=tools.pk).update(data=b"nothing")
    (text,) = texts()
    assert text.startswith(f"The payload {tools.digest[:12]}… cannot be read (")


def test_links_of_a_state_are_mended(run: Run) -> None:
    links = set(PayloadPart.objects.values_list("whole", "part"))
    first = PayloadPart.objects.order_by("pk").first()
    assert first is not None
    other = PayloadPart.objects.exclude(part=first.part).exclude(whole=first.whole).order_by("pk").first()
    assert other is not None
    first.delete()
    PayloadPart.objects.get_or_create(whole=other.whole, part=Payload.objects.filter(parts__isnull=True).last())
    assert all(mended())
    assert set(PayloadPart.objects.values_list("whole", "part")) == links


def test_an_attempt_without_its_trace_is_named(run: Run) -> None:
    attempt = Attempt.objects.get(repetition=1)
    search.forget(Attempt.objects.filter(pk=attempt.pk))
    Trace.objects.filter(attempt=attempt).delete()
    assert texts() == [
        f"Repetition 1 of {attempt.task.uid} in {run.slug} has no trace: its row is lost. "
        "Restore a backup, or delete the run and read its file again."
    ]


def test_a_trace_of_another_row_is_named(run: Run) -> None:
    attempt = Attempt.objects.get(repetition=1)
    other = Trace.objects.get(attempt__repetition=2)
    Trace.objects.filter(attempt=attempt).update(source=other.source)
    assert texts() == [
        f"Repetition 1 of {attempt.task.uid} in {run.slug} is not the row that its digest says. "
        "Restore a backup, or delete the run and read its file again."
    ]


def test_parts_of_an_attempt_are_mended(run: Run) -> None:
    uses = set(AttemptPart.objects.values_list("attempt", "payload"))
    AttemptPart.objects.filter(attempt__repetition=0).delete()
    assert mended() == [True]
    assert set(AttemptPart.objects.values_list("attempt", "payload")) == uses


def test_differences_to_filter_by_are_made_again(run: Run) -> None:
    columns = ("attempt", "kind", "table", "key", "field", "after", "required")
    effects = set(AttemptEffect.objects.values_list(*columns))
    AttemptEffect.objects.filter(attempt__repetition=0).delete()
    assert mended() == [True]
    assert set(AttemptEffect.objects.values_list(*columns)) == effects


@pytest.mark.parametrize("change", [{"passed": 9}, {"verdicts": "pp"}, {"input_tokens": 7}, {"duration": 1e6}])
def test_a_tally_is_counted_again(run: Run, change: dict[str, Any]) -> None:
    sound = TaskTally.objects.values().get()
    TaskTally.objects.update(**change)
    assert texts() == [
        f"The tally of {Attempt.objects.all()[0].task.uid} in {run.slug} is not what its attempts add up to."
    ]
    assert mended() == [True]
    assert TaskTally.objects.values().get() == sound


def test_a_missing_tally_is_made_and_one_of_nothing_goes(run: Run) -> None:
    sound = TaskTally.objects.values("run", "task", "recorded", "verdicts").get()
    TaskTally.objects.all().delete()
    other = store([make_row(uid="a.py:test_b")], model="elm")
    TaskTally.objects.create(run=run, task=TaskTally.objects.get(run=other).task, recorded=2)
    assert mended() == [True, True]
    assert TaskTally.objects.filter(run=run).values("run", "task", "recorded", "verdicts").get() == sound


def test_an_upload_whose_file_is_gone_is_named_and_ends(run: Run) -> None:
    Upload.objects.update(path="nowhere", state="waiting")
    assert texts() == [
        f"The file 'desk.birch.jsonl' (upload {Upload.objects.get().pk}) is no longer in the folder of uploads. "
        "Upload it again; nothing is stored twice."
    ]
    assert mended() == [True]
    assert Upload.objects.values_list("path", "state").get() == ("", "stopped")


def test_an_upload_whose_file_is_there_is_well(run: Run) -> None:
    (settings.UPLOADS_DIR / "here").write_bytes(b"x")
    Upload.objects.update(path="here")
    assert texts() == []


def test_counts_of_an_upload_that_do_not_add_up_are_named(run: Run) -> None:
    Upload.objects.update(stored=99)
    assert ["add up to another number" in text for text in texts()] == [True]


def test_transcripts_that_nobody_finds_wait_again(run: Run) -> None:
    while search.index_some():
        pass
    search.forget(Attempt.objects.filter(repetition=0))
    assert texts() == ["1 transcript is not in the index, so its words are not found."]
    assert mended() == [True]
    assert PendingTranscript.objects.count() == 1


def test_rows_that_belong_to_nothing_are_removed(run: Run) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL does not let such rows be.")
    effect = AttemptEffect.objects.order_by("pk").first()
    assert effect is not None
    with connection.cursor() as cursor:
        cursor.execute(
            'INSERT INTO runs_attempteffect (attempt_id, kind, "table", key, field, after, required) '
            "VALUES (999999, 'wrong', 't', 'k', 'f', '', '')"
        )
        cursor.execute("UPDATE runs_attempt SET seen_in_id = 999999 WHERE repetition = 0")
    assert texts() == [
        "runs_attempt.seen_in_id: 1 row refers to a row of runs_upload that is not there.",
        "runs_attempteffect.attempt_id: 1 row refers to a row of runs_attempt that is not there.",
    ]
    assert mended() == [True, True]


def test_the_command_says_what_is_wrong_and_by_its_status(run: Run) -> None:
    def command(*options: str) -> str:
        out = io.StringIO()
        try:
            call_command("verify", *options, stdout=out)
        except SystemExit as ended:
            return f"{out.getvalue().splitlines()[-1]} {ended.code}"
        return out.getvalue().splitlines()[-1]

    payloads = Payload.objects.count()
    checked = f"4 attempts, {payloads} payloads and 1 tallies checked:"
    assert command() == f"{checked} all is well."
    TaskTally.objects.update(passed=9)
    assert command() == f"{checked} 1 found. --repair mends 1 of them. 1"
    assert command("--repair") == f"{checked} 1 repaired."
    assert command() == f"{checked} all is well."


def test_an_upload_with_conflicts_and_rejects_is_well() -> None:
    upload_of([make_row(), make_row(outcome="passed"), {"uid": 1}])
    assert texts() == []
