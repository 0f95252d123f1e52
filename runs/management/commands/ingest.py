"""Reads result files into the store, in the foreground, with no server and no worker."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import DatabaseError
from django.db.models import F, Sum

from runs.access import EVERYTHING
from runs.archives import forget_unpacked
from runs.bundles import ARCHIVE, reader_named
from runs.bundles.run_metadata import COMPANION_END, companion_name, read_beside, suggest_benchmark, suggest_model
from runs.bundles.thinkingbox_openenv import ThinkingBoxOpenEnv
from runs.databases import spare_memory
from runs.errors import IngestError, RunsError
from runs.ingest import ingest_file, unpack_file
from runs.management.foreground import ensure_database, not_taken, whole_number
from runs.models import Run, TaskTally, Upload, UploadState
from runs.naming import MOST_REPETITIONS
from runs.records import ProblemKind
from runs.showing import plain
from runs.upload_files import KeptFile, blocks_of, forget_files, hash_stream, keep_file, kind_of, open_upload
from runs.uploads import STANDARD_INPUT, Wishes, new_upload, read_header, upload_warnings
from runs.wording import counted

_COUNTS = ("read", "stored", "same", "replaced", "passed", "failed", "errors")
_INTERRUPTED = 130
"""The exit status of what Ctrl+C ended, as shells have it."""
_SHOWN = 20
"""Lines of each kind that the answer for people lists."""


class Command(BaseCommand):
    help = (
        "Read result files (JSONL, the one-result YAML form; .gz, .zst, .xz) and archives of them; - is standard input."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "paths", nargs="+", metavar="PATH", help="a result file or an archive, or - for standard input"
        )
        parser.add_argument("--model", default="", help="the model's name, where no run metadata lies beside the file")
        parser.add_argument("--benchmark", default="", help="the benchmark's name; else taken from the file's name")
        parser.add_argument(
            "--repetitions", type=_positive, metavar="K", help="attempts a task should have; else the highest index + 1"
        )
        parser.add_argument("--run", default="", metavar="SLUG", help="the stored run to add to; else a new one")
        parser.add_argument("--mask", action="store_true", help="mask secrets before rows are stored")
        parser.add_argument(
            "--processes",
            type=_processes,
            default=settings.WORKERS,
            metavar="N",
            help="how many processes share a file that takes longer (default: one a core)",
        )
        parser.add_argument("--json", action="store_true", help="answer with one JSON object a file")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stderr.style_func = None  # most of what is said there is no error
        ensure_database()
        spare_memory()
        wishes = Wishes(
            model=options["model"].strip(),
            benchmark=options["benchmark"].strip(),
            repetitions=options["repetitions"],
            run=options["run"].strip(),
            mask=options["mask"],
        )
        self.processes = options["processes"]
        self.given = {Path(path).absolute() for path in options["paths"]}
        something = False
        for path in options["paths"]:
            if path.endswith(COMPANION_END) and len(options["paths"]) > 1:
                self._say(f"{path}: read together with its result file.")
                continue
            try:
                something |= self._ingest(path, wishes, as_json=options["json"])
            except KeyboardInterrupt:
                self._say(f"{path}: stopped. Run the command again for the rest: what is stored is not counted twice.")
                raise SystemExit(_INTERRUPTED) from None
        if not something:
            raise SystemExit(1)

    def _ingest(self, path: str, wishes: Wishes, *, as_json: bool) -> bool:
        started = time.monotonic()
        upload: Upload | None = None
        kept: KeptFile | None = None
        members: list[dict[str, Any]] = []
        error = ""
        try:
            with _opened(path) as (name, stream, kept):
                beside = None if path == "-" else read_beside(Path(path))
                upload = new_upload(name, kept, companion=beside, wishes=wishes, access=EVERYTHING)
                if kind_of(stream):
                    members = self._members(path, upload, stream, started)
                else:
                    self._name_model(path, upload, stream)
                    ingest_file(upload, stream, _progress(kept.size, self), processes=self.processes)
        except RunsError as caught:
            error = f"{path}: {caught}"
        except OSError as caught:
            error = f"{path}: the file cannot be read: {caught.strerror or caught}."
        except DatabaseError as caught:
            error = f"{path}: {not_taken(caught)}"
        if error:
            self._say(error)
        answer = _answer(upload, kept, round(time.monotonic() - started, 3))
        if members:
            answer = _with_members(answer, members)
        if error:
            answer["error"] = error
        if as_json:
            self.stdout.write(json.dumps(answer, ensure_ascii=False))
        elif not error:
            self.stdout.write(_summary(plain(path), answer))
        if upload is not None and upload.pk:
            self._warn(path, upload)
            self._tell_of_errors(path, upload)
        return bool(answer["stored"] or answer["same"] or answer["replaced"])

    def _members(self, path: str, upload: Upload, stream: BinaryIO, started: float) -> list[dict[str, Any]]:
        """Reads each result file of an archive; one that cannot be read does not hold up the others."""
        answers = []
        try:
            for member in unpack_file(upload, stream):
                error = ""
                where = f"{path}: {member.file_name}"
                kept = KeptFile("", member.sha256, member.size)
                try:
                    with open_upload(member) as content:
                        self._name_model(where, member, content)
                        ingest_file(member, content, _progress(member.size, self), processes=self.processes)
                except RunsError as caught:
                    error = f"{where}: {caught}"
                    self._say(error)
                answer = {"file": member.file_name} | _answer(member, kept, round(time.monotonic() - started, 3))
                answers.append(answer | ({"error": error} if error else {}))
                self._warn(where, member)
        finally:
            forget_unpacked(upload)
        return answers

    def _name_model(self, path: str, upload: Upload, stream: BinaryIO) -> None:
        """Takes the model's name from the rows, else from the file's name, where nobody says it."""
        # A file that no reader knows is told so first; its model's name is then beside the point.
        read_header(upload, stream)
        if upload.model or upload.run is not None:
            return
        name = Path(upload.file_name).name
        upload.model = suggest_model(name) or _stem(name)
        upload.model_inferred = True
        if not upload.model:
            raise IngestError("The rows do not tell the model's name. Give it with --model NAME.")
        self._say(
            f"{path}: no {companion_name(name)} lies beside the file, so the model is called {upload.model!r}, "
            "after the file's name. Give the name with --model, or correct it on the run's page."
        )

    def _tell_of_errors(self, path: str, upload: Upload) -> None:
        """Without the harness's second file, attempts that broke would count as not recorded."""
        if upload.reader != ThinkingBoxOpenEnv.name:
            return
        stem, _, _ = Path(path).name.partition(".jsonl")
        name = "errors.jsonl" if stem == "results" else f"{stem}.errors.jsonl"
        for end in ("", ".gz", ".zst", ".xz"):
            beside = Path(path).absolute().with_name(f"{name}{end}")
            if beside not in self.given and _has_unread(beside):
                self._say(
                    f"{path}: {beside.name} lies beside the file and was not read. Ingest it too: the attempts that "
                    "broke are in it."
                )

    def _warn(self, path: str, upload: Upload) -> None:
        for warning in upload_warnings(upload):
            self._say(f"{path}: {warning}")

    def _say(self, text: str) -> None:
        self.stderr.write(plain(text))


class _opened:
    """A path, or standard input kept in a file: its name, a seekable stream, and its digest."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.stream: BinaryIO | None = None
        self.spooled: KeptFile | None = None

    def __enter__(self) -> tuple[str, BinaryIO, KeptFile]:
        if self.path == "-":
            self.spooled = keep_file(blocks_of(sys.stdin.buffer))
            self.stream = (settings.UPLOADS_DIR / self.spooled.path).open("rb")
            return STANDARD_INPUT, self.stream, KeptFile("", self.spooled.sha256, self.spooled.size)
        self.stream = Path(self.path).open("rb")
        return Path(self.path).name, self.stream, hash_stream(self.stream)

    def __exit__(self, *_: object) -> None:
        if self.stream is not None:
            self.stream.close()
        if self.spooled is not None:
            forget_files(Upload(path=self.spooled.path))


def _stem(name: str) -> str:
    return "" if name == STANDARD_INPUT else suggest_benchmark(name) or ""


def _positive(text: str) -> int:
    number = whole_number(text)
    if not 1 <= number <= MOST_REPETITIONS:
        raise argparse.ArgumentTypeError(f"K counts attempts a task, so it is from 1 to {MOST_REPETITIONS:,}.")
    return number


def _processes(text: str) -> int:
    number = whole_number(text)
    if number < 1:
        raise argparse.ArgumentTypeError("At least one process has to read the file.")
    return number


def _answer(upload: Upload | None, kept: KeptFile | None, seconds: float) -> dict[str, Any]:
    saved = upload if upload is not None and upload.pk else None
    return {
        "sha256": kept.sha256 if kept else None,
        "format": _format(saved.reader) if saved and saved.reader else None,
        "bytes": kept.size if kept else 0,
        "run": saved.run.slug if saved and saved.run and saved.read else None,
        **{name: getattr(saved, name) if saved else 0 for name in _COUNTS},
        "missing": _missing(saved.run) if saved and saved.run and saved.read else 0,
        "conflicts": _listed(saved, ProblemKind.CONFLICT, line="line", uid="uid", repetition="repetition", kept="kept"),
        "rejected": _listed(saved, ProblemKind.REJECTED, line="line", reason="reason"),
        "notes": _listed(saved, ProblemKind.NOTE, line="line", note="reason"),
        "seconds": seconds,
    }


def _format(reader: str) -> str:
    return "archive" if reader == ARCHIVE else reader_named(reader).title


def _with_members(answer: dict[str, Any], members: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer for an archive: counts of its members together, and each member's own answer."""
    runs = {member["run"]: member["missing"] for member in members if member["run"]}
    summed = {name: sum(member[name] for member in members) for name in _COUNTS}
    listed = {
        name: answer[name] + [{"member": member["file"]} | entry for member in members for entry in member[name]]
        for name in ("conflicts", "rejected", "notes")
    }
    return (
        answer
        | summed
        | listed
        | {"missing": sum(runs.values()), "run": next(iter(runs)) if len(runs) == 1 else None, "members": members}
    )


def _listed(upload: Upload | None, kind: ProblemKind, **columns: str) -> list[dict[str, Any]]:
    """The upload's problems of a kind as dicts: key → column."""
    if upload is None:
        return []
    # By rows, not objects: a damaged file can have half a million of them.
    rows = upload.problems.filter(kind=kind).values_list(*columns.values())
    return [dict(zip(columns, row, strict=True)) for row in rows.iterator()]


def _missing(run: Run) -> int:
    """Attempts that the run should have, by its k, and has not."""
    run.refresh_from_db()
    short = TaskTally.objects.filter(run=run, recorded__lt=run.repetitions)
    return short.aggregate(missing=Sum(run.repetitions - F("recorded")))["missing"] or 0


def _summary(path: str, answer: dict[str, Any]) -> str:
    counts = ", ".join(f"{answer[name]:,} {name}" for name in ("stored", "same", "replaced"))
    runs = sorted({member["run"] for member in answer.get("members", []) if member["run"]}) or [answer["run"]]
    where = f"run{'' if len(runs) == 1 else 's'} {', '.join(run or 'none' for run in runs[:_SHOWN])}"
    lines = [
        f"{path}: {counted(answer['read'], 'row')} of {_kind(answer)} → {where}",
        f"  {counts}; {answer['passed']:,} passed, {answer['failed']:,} failed, {counted(answer['errors'], 'error')}, "
        f"{answer['missing']:,} missing; {answer['seconds']:.1f} s",
    ]
    told = [
        f"  {_line(c, answer)}: {c['uid']} repetition {c['repetition']} is stored already, with another content "
        f"({c['kept']} is kept)"
        for c in answer["conflicts"][:_SHOWN]
    ]
    told += [f"  {_line(r, answer)}: not stored. {r['reason']}" for r in answer["rejected"][:_SHOWN]]
    told += [f"  {_line(n, answer)}: {n['note']}" for n in answer["notes"][:_SHOWN]]
    left = sum(len(answer[name]) for name in ("conflicts", "rejected", "notes")) - len(told)
    if left:
        told.append(f"  and {left:,} more to look at; --json, and the page of uploads, list them all.")
    lines += told
    return "\n".join(lines)


def _kind(answer: dict[str, Any]) -> str:
    members = answer.get("members")
    return f"an archive of {counted(len(members), 'result file')}" if members else str(answer["format"])


def _line(entry: dict[str, Any], answer: dict[str, Any]) -> str:
    if "member" in entry:
        return f"{entry['member']}, line {entry['line']}"
    return f"{'member' if answer['format'] == 'archive' else 'line'} {entry['line']}"


def _has_unread(path: Path) -> bool:
    """Whether a file has something that no upload brought. The harness leaves an empty one where nothing broke."""
    if not path.is_file() or not path.stat().st_size:
        return False
    with path.open("rb") as stream:
        digest = hash_stream(stream).sha256
    return not Upload.objects.filter(sha256=digest).exclude(state=UploadState.FAILED).exists()


def _progress(size: int, command: BaseCommand) -> Any:
    """A line on the terminal: done, rate, time left. Nothing where standard error is no terminal."""
    if not sys.stderr.isatty() or not size:
        return None
    started = time.monotonic()

    def show(position: int) -> None:
        seconds = max(time.monotonic() - started, 0.001)
        rate = position / seconds
        left = (size - position) / rate if rate else 0
        command.stderr.write(
            f"\r{position / size:4.0%} of {size / 1e6:,.1f} MB, {rate / 1e6:,.1f} MB/s, {left:,.0f} s left ", ending=""
        )
        if position >= size:
            command.stderr.write("")

    return show
