from __future__ import annotations

import io
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from runs import search
from runs.backups import check_backup, make_backup, restore_backup
from runs.backups.container import Contents, Table, Writer, members, read_rows
from runs.backups.values import misfit
from runs.errors import BackupError
from runs.models import Chunk, Note, PendingTranscript, Run, Upload
from runs.transcripts import parse_query
from runs.verifying import verify
from tests.factories import make_row, write_jsonl
from tests.inspector.access_scene import make_scene
from tests.served import new_database
from tests.stored import store

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of its own beside the database of the tests."""
    data = tmp_path / "data"
    for name, setting in ((".", "DATA_DIR"), ("uploads", "UPLOADS_DIR"), ("tmp", "TEMP_DIR")):
        (data / name).mkdir(exist_ok=True)
        monkeypatch.setattr(settings, setting, data / name)
    (data / "secret_key").write_text("a key", encoding="ascii")
    return data


@pytest.fixture
def run(db: None, folder: Path) -> Run:
    run = store([make_row(repetition=0, outcome="system"), *(make_row(repetition=number) for number in range(3))])
    Note.objects.create(attempt=run.attempts.all()[0], text="look – here", created_at=timezone.now())
    get_user_model()._default_manager.create_user("alice", password="a long enough password")
    (folder / "uploads" / "kept").write_bytes(b"rows\n" * 1000)
    upload = Upload.objects.create(file_name="b.jsonl", sha256="0" * 64, size=5000, path="kept", state="reading")
    (folder / "uploads" / f"chunks-{upload.pk}").mkdir()
    (folder / "uploads" / f"chunks-{upload.pk}" / "1.zst").write_bytes(b"part")
    (folder / "uploads" / f"chunks-{upload.pk}" / "2.part").write_bytes(b"half")
    Chunk.objects.create(upload=upload, number=1, path=f"chunks-{upload.pk}/1.zst")
    return run


def everything() -> dict[str, list[Any]]:
    return {
        model._meta.label: list(model._base_manager.order_by("pk").values_list())
        for model in apps.get_models(include_auto_created=True)
        if model is not PendingTranscript
    }


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".part"
    }


def indexed() -> None:
    while search.index_some():
        pass


def test_everything_comes_back(run: Run, folder: Path, tmp_path: Path) -> None:
    stored, kept = everything(), files(folder)
    contents = make_backup(tmp_path / "a.backup")
    assert (contents.runs, contents.attempts) == (1, 4)
    assert list((folder / "tmp").iterdir()) == []
    Run.objects.update(model="another")
    Note.objects.all().delete()
    store([make_row(uid="c.py:test_c")], model="elm")
    shutil.rmtree(folder / "uploads")
    (folder / "uploads").mkdir()
    (folder / "secret_key").write_text("another key", encoding="ascii")
    restore_backup(tmp_path / "a.backup", force=True)
    assert everything() == stored
    assert files(folder) == kept
    assert list(verify()) == []
    indexed()
    assert sorted(search.matching(parse_query("mixer"))) == sorted(run.attempts.values_list("pk", flat=True))
    # The next row gets a number of its own.
    assert store([make_row(uid="c.py:test_c")], model="elm").pk != run.pk


def test_only_the_owner_reads_it(run: Run, tmp_path: Path) -> None:
    make_backup(tmp_path / "a.backup")
    assert stat.S_IMODE((tmp_path / "a.backup").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.backup"]


def test_what_is_there_is_not_written_over(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.backup"
    make_backup(path)
    with pytest.raises(BackupError, match="is there already"):
        make_backup(path)
    make_backup(path, force=True)
    stored = everything()
    with pytest.raises(BackupError, match=r"something stored here already \(1 runs, 2 uploads, 1 notes, 1 accounts\)"):
        restore_backup(path)
    assert everything() == stored


def test_a_file_that_is_not_whole_is_refused_before_anything_is_touched(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.backup"
    make_backup(path)
    data = path.read_bytes()
    stored = everything()
    middle = data.index(b"tables/runs.trace") + 2000
    damaged = {
        "ends early": data[: data.index(b"checksums.json")],
        "cut short": data[:middle],
        "is not as it was written": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "no backup": b"{}\n",
        "no backup, or": b"",
    }
    for words, content in damaged.items():
        path.write_bytes(content)
        with pytest.raises(BackupError) as error:
            restore_backup(path, force=True)
        assert words in str(error.value)
    assert everything() == stored


def written(path: Path, contents: Contents, **members: bytes) -> Path:
    with path.open("wb") as target:
        writer = Writer(target)
        writer.contents(contents)
        for name, data in members.items():
            writer.add(name, data)
        writer.close()
    return path


def empty(**changes: Any) -> Contents:
    return Contents(**{"made_at": "", "database": "sqlite", "migrations": [], "tables": [], **changes})


def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    for name in ("uploads/../../x", "/etc/x", "uploads/chunks-1/../../x", "tables/../x"):
        path = written(tmp_path / "a", empty(), **{name: b"x"})
        with pytest.raises(BackupError, match="which no backup has"):
            check_backup(path)


def test_one_of_a_newer_version_or_kind_is_refused(db: None, tmp_path: Path, folder: Path) -> None:
    path = written(tmp_path / "a", empty(migrations=[("runs", "9999_later")]))
    with pytest.raises(BackupError, match=r"another version, which has runs\.9999_later"):
        restore_backup(path)
    with pytest.raises(BackupError, match="is of kind 2"):
        check_backup(written(tmp_path / "b", empty(format=2)))
    older = written(tmp_path / "c", empty(migrations=[("runs", "0001_initial")]))
    with pytest.raises(BackupError, match="of another version than the tables"):
        restore_backup(older)


def test_rows_that_do_not_fit_leave_what_was_there(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.backup"
    contents = make_backup(path)
    fields = ["id", "name"]
    broken = msgspec.structs.replace(contents, tables=[Table("runs.benchmark", fields, 1)])
    with (tmp_path / "b").open("wb") as target:
        writer = Writer(target)
        writer.contents(broken)
        writer.rows("runs.benchmark", 1, [[1, None]])
        writer.close()
    stored = everything()
    with pytest.raises(BackupError, match="cannot be put"):
        restore_backup(tmp_path / "b", force=True)
    assert everything() == stored


def manage(folder: Path, *arguments: str, **variables: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT,
        env=kept | {"TWENTYFOLD_DATA_DIR": str(folder)} | variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr.splitlines()[-1] if done.returncode else done.stdout


def test_into_a_new_data_folder_by_the_commands(run: Run, folder: Path, tmp_path: Path) -> None:
    out = io.StringIO()
    call_command("backup", str(tmp_path / "a.backup"), stdout=out)
    assert out.getvalue().startswith(f"{tmp_path / 'a.backup'}: 1 runs, 4 attempts, ")
    new = tmp_path / "new"
    assert "restored: 1 runs, 4 attempts" in manage(new, "restore", str(tmp_path / "a.backup"))
    assert (new / "secret_key").read_text(encoding="ascii") == "a key"
    assert manage(new, "verify").endswith("all is well.\n")
    assert manage(new, "reindex") == "4 transcripts indexed\n"
    assert manage(new, "export", run.slug).count("\n") == 4
    assert "There is something stored here already" in manage(new, "restore", str(tmp_path / "a.backup"))
    assert "the backup is whole" in manage(new, "restore", "--check", str(tmp_path / "a.backup"))


def rows_in(path: Path) -> dict[str, list[Any]]:
    """Table → its rows, as a backup has them."""
    found: dict[str, list[Any]] = {}
    for name, stream in members(path):
        if name.startswith("tables/"):
            found.setdefault(name.split("/")[1], []).extend(read_rows(stream))
    return found


@pytest.mark.postgres
def test_a_backup_leads_from_one_database_to_the_other_and_back(run: Run, tmp_path: Path) -> None:
    """PostgreSQL → SQLite → PostgreSQL, by the commands, with something in almost every table."""
    if connection.vendor != "postgresql":
        pytest.skip("DATABASE_URL names no PostgreSQL database.")
    make_scene()
    first, second, third = (tmp_path / name for name in ("a.backup", "b.backup", "c.backup"))
    make_backup(first)
    assert "restored: 4 runs" in manage(tmp_path / "sqlite", "restore", str(first))
    assert "all is well." in manage(tmp_path / "sqlite", "verify")
    assert "4 runs" in manage(tmp_path / "sqlite", "backup", str(second))
    with new_database() as database:
        assert "restored: 4 runs" in manage(tmp_path / "postgres", "restore", str(second), **database)
        assert "all is well." in manage(tmp_path / "postgres", "verify", **database)
        assert "4 runs" in manage(tmp_path / "postgres", "backup", str(third), **database)
        # The next row gets a number of its own.
        new = write_jsonl(tmp_path / "new.jsonl", [make_row(uid="c.py:test_c")])
        told = manage(tmp_path / "postgres", "ingest", str(new), "--model", "elm", "--benchmark", "new", **database)
        assert "1 stored" in told
    assert [check_backup(path).database for path in (first, second, third)] == ["postgresql", "sqlite", "postgresql"]
    assert rows_in(first) == rows_in(second) == rows_in(third)
    assert set(rows_in(first)) > {"runs.note", "runs.pricelist", "inspector.account", "inspector.share"}


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"note": "a\0b"}, "runs.run: note of the row 1 has the character U+0000 in it"),
        ({"model": "m" * 201}, "runs.run: model of the row 1 has 201 characters, and 200 fit"),
    ],
    ids=["nul", "too-long"],
)
def test_what_only_sqlite_takes_is_named(change: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with new_database() as database:
        if not database:
            pytest.skip("DATABASE_URL names no PostgreSQL database.")
        path = write_jsonl(tmp_path / "rows.jsonl", [make_row()])
        sqlite, postgres = tmp_path / "sqlite", tmp_path / "postgres"
        manage(sqlite, "ingest", str(path), "--model", "elm", "--benchmark", "desk")
        manage(sqlite, "shell", "--command", f"from runs.models import Run; Run.objects.update(**{change!r})")
        manage(sqlite, "backup", str(tmp_path / "a.backup"))
        told = manage(postgres, "restore", str(tmp_path / "a.backup"), **database)
        assert f"this database does not take a row of {sentence}. What was here is as it was." in told
        assert manage(postgres, "verify", **database).startswith("0 attempts")


def test_what_both_databases_take_is_no_misfit() -> None:
    fields: list[Any] = [Run._meta.get_field(name) for name in ("id", "model", "settings", "note")]
    # An escape that is written out is no character.
    assert misfit(fields, [[1, "m" * 200, json.dumps({"a": "\\u0000"}), "–"], [2, "", None, ""]]) == ""
    nul = [[1, "m", json.dumps({"a": ["\\\0"]}), ""]]
    assert misfit(fields, nul) == "settings of the row 1 has the character U+0000 in it"


def test_the_command_says_why_not(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="the backup cannot be read"):
        call_command("restore", str(tmp_path / "none"))
    with pytest.raises(CommandError, match="the backup cannot be written"):
        call_command("backup", str(tmp_path / "none" / "a"))
