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
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

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


def fill_failed(pool: Sequence[str]) -> int:
    """What filters and rows read of the failed attempts; how many."""
    from runs.models import Attempt, AttemptEffect, AttemptLabel, Run, ToolUse, Trace  # noqa: PLC0415

    rows, done = traces(pool), 0
    for run in Run.objects.order_by("pk"):
        ids = list(Attempt.objects.filter(run=run, verdict="failed").order_by("pk").values_list("pk", flat=True))
        for start in range(0, len(ids), _BATCH):
            effects, labels, tools, made, attempts = [], [], [], [], []
            for pk in ids[start : start + _BATCH]:
                draw, row = random.Random(pk), rows[pk % _TRACES]
                made.append(Trace(attempt_id=pk, reader="thinkingbox", source=row.source, evidence=row.evidence))
                attempts.append(
                    Attempt(
                        pk=pk,
                        signature=draw.choice(_SIGNATURES),
                        ended_cleanly=draw.random() < 0.8,
                        called_write=True,
                        last_response_ok=draw.random() < 0.9,
                        claimed_success=draw.random() < 0.7,
                    )
                )
                effects += [
                    AttemptEffect(
                        attempt_id=pk,
                        kind=draw.choice(("wrong", "missing", "extra")),
                        table=f"table_{int(draw.paretovariate(1)) % _TABLES}",
                        key=str(number),
                        field=f"field_{draw.randrange(_FIELDS)}",
                        after=f'"{draw.randrange(5)}"',
                        required='"6"',
                    )
                    for number in range(2)
                ]
                tools += [
                    ToolUse(attempt_id=pk, name=f"tool_{name}", calls=1, errors=draw.random() < 0.1)
                    for name in draw.sample(range(_TOOLS), 7)
                ]
                labels += [AttemptLabel(attempt_id=pk, label=label) for label in draw.sample(_LABELS, 2)]
            Trace.objects.bulk_create(made, batch_size=_BATCH)
            AttemptEffect.objects.bulk_create(effects, batch_size=_BATCH)
            ToolUse.objects.bulk_create(tools, batch_size=_BATCH)
            AttemptLabel.objects.bulk_create(labels, batch_size=_BATCH)
            Attempt.objects.bulk_update(
                attempts,
                ["signature", "ended_cleanly", "called_write", "last_response_ok", "claimed_success"],
                batch_size=100,
            )
            done += len(made)
    broken = Attempt.objects.filter(verdict="error").values_list("pk", flat=True)
    Trace.objects.bulk_create(
        [Trace(attempt_id=pk, reader="thinkingbox", source=rows[0].source, evidence=rows[0].evidence) for pk in broken],
        batch_size=_BATCH,
    )
    return done


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
