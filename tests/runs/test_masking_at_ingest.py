"""Secrets that are masked before rows are stored: they are nowhere, and a row that comes again is the same one."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import call_command
from pytest_django import Settings

from runs.access import EVERYTHING
from runs.models import Attempt, AttemptEffect, Payload, Run, Trace, Upload, UploadState
from runs.payloads import decompress, load_evidence, load_source, restore_row
from runs.pushing import NewRun, create_run, push, push_upload
from runs.regrade import regrade
from runs.search import anything_waits, index_some, matching
from runs.transcripts import parse_query
from runs.uploads import Wishes, accept_upload
from tests.factories import make_row, write_jsonl
from tests.runs.test_reported import message
from tests.secret_rows import secret, secret_row
from tests.stored import store, upload_of
from tests.working import work_all

pytestmark = pytest.mark.django_db


def everything_stored() -> str:
    """All that the database holds, payloads unpacked, as one text."""
    parts: list[str] = []
    for model in apps.get_app_config("runs").get_models():
        for values in model.objects.values_list():  # type: ignore[attr-defined]
            parts += [str(value) for value in values if not isinstance(value, (bytes, memoryview))]
    texts = [decompress(data) for data in Payload.objects.values_list("data", flat=True)]
    for trace in Trace.objects.select_related("dictionary"):
        texts += [load_source(trace), decompress(trace.evidence)]
    return "\n".join([*parts, *(text.decode(errors="replace") for text in texts)])


def index() -> None:
    while anything_waits():
        index_some()


def test_nothing_of_a_secret_is_stored_where_that_is_asked_and_it_is_counted() -> None:
    secrets: dict[str, str] = {}
    rows = [secret_row(secrets), make_row(repetition=1)]
    upload = upload_of(rows, mask=True)
    stored = everything_stored()
    assert [name for name, value in secrets.items() if value in stored] == []
    index()
    assert matching(parse_query(secrets["claim 0"])).size == 0
    assert (upload.read, upload.masked, upload.mask) == (2, 1, True)
    first, second = Attempt.objects.order_by("repetition").select_related("trace")
    assert first.masked is not None
    assert first.masked > 30
    assert second.masked == 0
    assert sum(load_evidence(first.trace).masked.values()) == first.masked


def test_without_it_they_are_stored_and_found_so_the_test_above_can_fail() -> None:
    secrets: dict[str, str] = {}
    upload = upload_of([secret_row(secrets)])
    stored = everything_stored()
    assert [name for name, value in secrets.items() if value not in stored] == []
    index()
    assert matching(parse_query(secrets["claim 0"])).size == 1
    assert upload.masked == 0


def test_columns_that_lists_read_are_masked_in_any_case() -> None:
    secrets: dict[str, str] = {}
    upload_of([secret_row(secrets)])
    attempt = Attempt.objects.get()
    texts = [attempt.finish_reason, *attempt.tools.values_list("name", flat=True)]
    texts += [text for values in attempt.effects.values_list("key", "after", "required") for text in values]
    assert [name for name, value in secrets.items() if value[:20] in "\n".join(texts)] == []
    assert "[masked: " in attempt.finish_reason
    assert any(text.startswith('"[masked: ') for text in texts)


def test_a_masked_row_that_comes_again_is_the_same_one() -> None:
    row = secret_row({})
    upload_of([row], mask=True)
    again = upload_of([row, row], mask=True, file_name="again.jsonl", run=Run.objects.get().slug)
    assert (again.same, again.stored, again.conflicts) == (2, 0, 0)
    unmasked = upload_of([row], file_name="third.jsonl", run=Run.objects.get().slug)
    assert (unmasked.same, unmasked.conflicts) == (0, 1)


def test_grading_anew_keeps_what_was_counted() -> None:
    upload_of([secret_row({})], mask=True)
    before = Attempt.objects.get().masked
    assert list(regrade(Run.objects.get())) == [1]
    assert (Attempt.objects.get().masked, before) == (before, before)
    assert load_evidence(Attempt.objects.get().trace).masked_at_ingest is True


def test_grading_anew_counts_rows_that_were_stored_before() -> None:
    run = store([secret_row({})])
    counted = Attempt.objects.get().masked
    Attempt.objects.update(masked=None)
    list(regrade(run))
    assert Attempt.objects.get().masked == counted


def test_masking_changes_no_verdict_and_no_signature() -> None:
    secrets: dict[str, str] = {}
    plain, masked = store([secret_row(secrets)]), store([secret_row(secrets)], mask=True, model="oak")
    columns = ("verdict", "signature", "steps", "tool_errors", "write_calls", "claimed_success", "masked")
    of = {run.model: Attempt.objects.filter(run=run).values_list(*columns).get() for run in (plain, masked)}
    assert of["birch"] == of["oak"]


def test_the_setting_masks_what_is_pushed_too(settings: Settings) -> None:
    settings.MASK_AT_INGEST = True
    secrets: dict[str, str] = {}
    run, _ = create_run(NewRun(model="m", benchmark="b"), access=EVERYTHING)
    refused = make_row(repetition=1)
    refused["test_result"]["metadata"]["judge_motivation"] = secret("refused")
    data = "".join(json.dumps(row) + "\n" for row in (secret_row(secrets), refused)).encode()
    [lines] = push(run, push_upload(run), io.BytesIO(data), max_line=settings.MAX_LINE)
    assert [line.outcome for line in lines] == ["stored", "rejected"]
    assert secret("refused") not in lines[1].reason
    stored = everything_stored()
    assert [name for name, value in {**secrets, "refused": secret("refused")}.items() if value in stored] == []
    assert Upload.objects.get(masked=1).file_name == "pushed attempts"


def test_the_file_goes_also_where_lines_were_not_stored_or_files_are_kept(settings: Settings, tmp_path: Path) -> None:
    settings.KEEP_UPLOADS = True
    secrets: dict[str, str] = {}
    data = json.dumps(secret_row(secrets)).encode() + b"\n" + b'{"broken": "' + secret("x").encode() + b'"\n'
    settings.UPLOADS_DIR = folder = tmp_path
    for mask in (False, True):
        upload = accept_upload(
            f"{mask}.jsonl", [data], wishes=Wishes(model=f"m{mask}", benchmark="b", mask=mask), access=EVERYTHING
        )
        work_all()
        upload.refresh_from_db()
        assert (upload.state, upload.stored, upload.rejected) == (UploadState.DONE, 1, 1)
        left = [file for file in folder.iterdir() if file.is_file()]
        assert (len(left), bool(upload.path)) == ((1, True) if not mask else (0, False))
        for file in left:
            file.unlink()


def test_the_command_masks_where_it_is_told_to(tmp_path: Path) -> None:
    secrets: dict[str, str] = {}
    path = write_jsonl(tmp_path / "desk.birch.jsonl", [secret_row(secrets)])
    call_command("ingest", str(path), "--mask", stdout=io.StringIO(), stderr=io.StringIO())
    stored = everything_stored()
    assert [name for name, value in secrets.items() if value in stored] == []
    back = restore_row(Attempt.objects.select_related("trace").get(), masked=False)
    assert back.count(b"[masked: ") > 30


def test_only_these_places_read_what_is_not_masked() -> None:
    """A new one is a decision: what it reads must reach nobody, or an admin who asked for it."""
    project = Path(__file__).resolve().parents[2]
    sources = [*(project / "runs").rglob("*.py"), *(project / "inspector").rglob("*.py")]
    found = {
        path.relative_to(project).as_posix()
        for path in sources
        if any(sign in path.read_text(encoding="utf-8") for sign in ("masked=False", "load_part(", "load_source("))
    }
    assert found == {
        "runs/exporting.py",
        "runs/payloads.py",
        "runs/queries/attempt_same.py",
        "runs/queries/attempts.py",
        "runs/queries/state_tables.py",
        "runs/regrade.py",
        "runs/search.py",
        "runs/verifying/contents.py",
    }


def test_a_secret_that_only_the_reported_field_tells_is_in_no_column() -> None:
    """The check's message names the field in a line of its own, so that nothing else tells that the value is one."""
    row = make_row(states=False)
    row["test_result"]["tb"] = message(("users[2].password", "value mismatch", "xyz98765", "abc12345"))
    store([row])
    effect = AttemptEffect.objects.get()
    assert (effect.field, effect.after, effect.required) == ("password", '"[masked: password]"', '"[masked: password]"')
