"""Gives a campaign what failures are found by: `uv run python -m tests.bench.make_details [--transcripts all|failed]`.

Makes signatures, finer labels, differences, tools and traces for the failed attempts of the database that
`tests.bench.make_campaign` filled, and puts transcripts of 8 kB into the full-text index: of all attempts, or of the
failed ones only. What is made hangs on the attempt's id alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runs.prepare import PreparedRow

_BATCH = 2000
_WORDS = 20_000
_PARAGRAPHS = 3_000
_TRACES = 60
_TABLES = 30
_FIELDS = 8
_TOOLS = 60
_LABELS = ("wrong_field_value", "missing_effect", "extra_effect", "empty_lookup", "repeated_identical_call")
_SIGNATURES = ("wrong_state_update", "tool_usage", "no_state_changing_action", "incomplete_user_resolution")


def paragraphs() -> list[str]:
    """Text of some 400 characters each, with words as frequent as in a language: `w0` in nearly all, `w9999` in few."""
    draw = random.Random(0)
    names = [f"w{number}" for number in range(_WORDS)]
    weights = [1 / (number + 3) for number in range(_WORDS)]
    return [" ".join(draw.choices(names, weights, k=70)) for _ in range(_PARAGRAPHS)]


def traces(pool: Sequence[str]) -> list[PreparedRow]:
    """Attempts with transcripts of 8 kB, as the reader and the grading leave them."""
    from runs.bundles import reader_named  # noqa: PLC0415 (Django has to be set up first)
    from runs.bundles.base import RawRecord  # noqa: PLC0415
    from runs.prepare import PreparedRow, prepare  # noqa: PLC0415
    from tests.factories import make_messages, make_row  # noqa: PLC0415

    reader, made = reader_named("thinkingbox"), []
    for number in range(_TRACES):
        draw = random.Random(number)
        messages = make_messages()
        messages[-1:-1] = [{**messages[3], "content": text} for text in draw.choices(pool, k=19)]
        row = prepare(reader, RawRecord(line=1, text=json.dumps(make_row(messages=messages)).encode()))
        assert isinstance(row, PreparedRow)
        made.append(row)
    return made


_INTO = {
    "runs_trace": ("attempt_id", "reader", "source", "evidence"),
    "runs_attempteffect": ("attempt_id", "kind", '"table"', "key", "field", "after", "required"),
    "runs_tooluse": ("attempt_id", "name", "calls", "errors"),
    "runs_attemptlabel": ("attempt_id", "label"),
}


def fill_failed(pool: Sequence[str]) -> int:
    """What filters and rows read of the failed attempts; how many. Written as the store does, without model objects."""
    from django.db import connection  # noqa: PLC0415

    from runs.failure_facts import keep_facts  # noqa: PLC0415
    from runs.models import Attempt, Run  # noqa: PLC0415

    rows, done = traces(pool), 0
    for run in Run.objects.order_by("pk"):
        ids = list(Attempt.objects.filter(run=run, verdict="failed").order_by("pk").values_list("pk", flat=True))
        for batch in _batches(ids):
            _fill(batch, rows)
            done += len(batch)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        broken = Attempt.objects.filter(run=run, verdict="error").values_list("pk", flat=True)
        _insert({"runs_trace": [(pk, "thinkingbox", rows[0].source, rows[0].evidence) for pk in broken]})
        keep_facts(run.pk)
    return done


def _fill(ids: Sequence[int], rows: Sequence[PreparedRow]) -> None:
    from django.db import connection, transaction  # noqa: PLC0415

    into: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _INTO}
    attempts: list[tuple[Any, ...]] = []
    for pk in ids:
        draw, row = random.Random(pk), rows[pk % _TRACES]
        into["runs_trace"].append((pk, "thinkingbox", row.source, row.evidence))
        attempts.append(
            (draw.choice(_SIGNATURES), draw.random() < 0.8, True, draw.random() < 0.9, draw.random() < 0.7, pk)
        )
        into["runs_attempteffect"] += [
            (
                pk,
                draw.choice(("wrong", "missing", "extra")),
                f"table_{int(draw.paretovariate(1)) % _TABLES}",
                str(number),
                f"field_{draw.randrange(_FIELDS)}",
                f'"{draw.randrange(5)}"',
                '"6"',
            )
            for number in range(2)
        ]
        into["runs_tooluse"] += [
            (pk, f"tool_{name}", 1, int(draw.random() < 0.1)) for name in draw.sample(range(_TOOLS), 7)
        ]
        into["runs_attemptlabel"] += [(pk, label) for label in draw.sample(_LABELS, 2)]
    _insert(into)
    columns = "signature", "ended_cleanly", "called_write", "last_response_ok", "claimed_success"
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            names = ", ".join(columns)
            cursor.execute(f"CREATE TEMP TABLE filled ON COMMIT DROP AS SELECT {names}, id FROM runs_attempt LIMIT 0")  # noqa: S608
            _copy(cursor, "filled", (*columns, "id"), attempts)
            values = ", ".join(f"{name} = filled.{name}" for name in columns)
            cursor.execute(f"UPDATE runs_attempt SET {values} FROM filled WHERE runs_attempt.id = filled.id")  # noqa: S608
        else:
            values = ", ".join(f"{name} = %s" for name in columns)
            cursor.executemany(f"UPDATE runs_attempt SET {values} WHERE id = %s", attempts)  # noqa: S608


def _insert(into: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
    from django.db import connection, transaction  # noqa: PLC0415

    with transaction.atomic(), connection.cursor() as cursor:
        for table, made in into.items():
            if connection.vendor == "postgresql":
                _copy(cursor, table, _INTO[table], made)
                continue
            columns, marks = ", ".join(_INTO[table]), ", ".join(["%s"] * len(_INTO[table]))
            cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", made)  # noqa: S608


def _copy(cursor: Any, table: str, columns: Sequence[str], made: Iterable[tuple[Any, ...]]) -> None:
    with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
        for row in made:
            copy.write_row(row)


def fill_index(pool: Sequence[str], *, failed_only: bool) -> tuple[int, float]:
    """Indexes a transcript for each attempt: how many, and the seconds that the index took of them."""
    from django.db import transaction  # noqa: PLC0415

    from runs import search  # noqa: PLC0415
    from runs.models import Attempt  # noqa: PLC0415

    attempts = Attempt.objects.filter(**({"verdict": "failed"} if failed_only else {})).order_by("pk")
    done, spent = 0, 0.0
    for batch in _batches(list(attempts.values_list("pk", flat=True))):
        texts = [(pk, " ".join([*random.Random(pk).choices(pool, k=20), f"only{pk}"])) for pk in batch]
        begun = time.perf_counter()
        with transaction.atomic():
            search.insert(texts)
        spent += time.perf_counter() - begun
        done += len(batch)
    return done, spent


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
    import django  # noqa: PLC0415

    django.setup()
    from django.db import connection  # noqa: PLC0415

    parser = argparse.ArgumentParser(description="Adds tools, differences, labels, traces and transcripts.")
    parser.add_argument("--transcripts", choices=("all", "failed"), default="all")
    options = parser.parse_args()
    pool = paragraphs()
    begun = time.monotonic()
    failed = fill_failed(pool)
    print(f"{connection.vendor}: {failed:,} failed attempts filled in {time.monotonic() - begun:.0f} s", flush=True)
    done, spent = fill_index(pool, failed_only=options.transcripts == "failed")
    print(f"{connection.vendor}: {done:,} transcripts indexed, {spent / max(1, done) * 1e6:.0f} µs each")


if __name__ == "__main__":
    main()
