"""The numbers beside each facet against a plain recount of the files. Nothing of `runs.queries` or `runs.facets` counts
here: rows are read from the files again, graded, and added up with sets."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import zstandard

from runs import search
from runs.access import EVERYTHING
from runs.bundles import reader_named
from runs.claims import read_claim
from runs.grading import grade
from runs.ingest import ingest_file
from runs.queries.failure_filters import FailureFilters
from runs.queries.failure_index import Facet
from runs.queries.failures import failure_page
from runs.records import CheckKind
from runs.signatures import classify
from runs.upload_files import KeptFile
from runs.uploads import Wishes, new_upload

pytestmark = [pytest.mark.shared, pytest.mark.django_db]

FILES = (
    "retail-20x/retail-20x.aster-large.jsonl.zst",
    "retail-20x/retail-20x.cedar-8b.jsonl.zst",
    "five-domains/five-domains.delta-medium.jsonl.zst",
)
READER = reader_named("thinkingbox")

Facts = Mapping[str, Any]
"""An attempt: facet → set of its values; `effects` → its differences; `words` → all text said, called and answered."""


def rows_of(path: Path) -> Iterator[str]:
    data = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
    yield from data.decode().splitlines()


def facts_of(line: str, model: str, benchmark: str) -> dict[str, Any] | None:
    """What a failed row is counted by; None for all others."""
    row = json.loads(line)
    result = row["test_result"]
    if row["is_system_error"] or result is None or result["is_system_error"] or result["result"]:
        return None
    record = READER.read(line.encode()).record
    graded = grade(record, overrides={})
    diagnosis, claim = classify(record, graded), read_claim(record, graded)
    assert diagnosis is not None
    calls = [
        call for message in row["messages"] for call in message.get("tool_calls", [message]) if "arguments" in call
    ]
    return {
        "model": {model},
        "benchmark": {benchmark},
        "copy": {"no"},
        "task": {row["uid"]},
        "domain": {record.domain},
        "finish": {row["finish_reason"] or ""},
        "tool": {call["name"] for call in calls},
        "erred": {step.name for step in record.steps if step.error is not None and step.kind == "call"},
        "signature": {diagnosis.signature.value},
        "label": {label.value for label in diagnosis.labels},
        "looked": {"yes" if claim.ended_cleanly and claim.called_write and claim.last_response_ok else "no"},
        "claimed": {"yes" if claim.claimed_success else "no"},
        "disagrees": {"yes" if any(server.disagrees for server in graded.servers) else "no"},
        "rubric": {
            check.name[:300] for check in graded.checks if check.kind is CheckKind.RUBRIC and check.passed is False
        },
        "effects": {
            (effect.kind.value, effect.table, f"{effect.table}.{effect.field or ''}")
            for effect in graded.effects
            if effect.counts
        },
        "words": "\n".join(text_of(message) for message in row["messages"]).lower(),
    }


def text_of(message: dict[str, Any]) -> str:
    """What is searched of a message: no instructions, and only the beginning of a long response."""
    if message.get("role") == "system":
        return ""
    calls = message.get("tool_calls", [message] if "arguments" in message else [])
    called = " ".join(f"{call['name']} {json.dumps(call['arguments'], ensure_ascii=False)}" for call in calls)
    said = str(message.get("content") or "").replace("\\n", " ")
    return f"{called} {said[:4000] if message['T'] == 'ToolResponse' else said}"


@pytest.fixture
def attempts(shared: Path) -> list[Facts]:
    """The failed attempts of three files, stored and as the files have them."""
    facts: list[Facts] = []
    for name in FILES:
        path = shared / "bundles" / name
        benchmark, model = path.name.split(".")[:2]
        data = path.read_bytes()
        upload = new_upload(
            path.name,
            KeptFile("", name, len(data)),
            wishes=Wishes(model=model, benchmark=benchmark),
            access=EVERYTHING,
        )
        with path.open("rb") as stream:
            ingest_file(upload, stream)
        facts += [found for line in rows_of(path) if (found := facts_of(line, model, benchmark)) is not None]
    while search.index_some():
        pass
    return facts


def fits(attempt: Facts, chosen: Mapping[str, tuple[str, ...]]) -> bool:
    same_row = any(
        all(
            value in chosen.get(name, (value,))
            for name, value in zip(("effect", "table", "field"), effect, strict=True)
        )
        for effect in attempt["effects"]
    )
    asks_effects = bool({"effect", "table", "field"} & chosen.keys())
    rest = all(
        attempt[name] & set(values) for name, values in chosen.items() if name not in {"effect", "table", "field"}
    )
    return rest and (same_row or not asks_effects)


def recounted(attempts: list[Facts], facet: str, chosen: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    others = {name: values for name, values in chosen.items() if name != facet}
    left = [attempt for attempt in attempts if fits(attempt, others)]
    position = {"effect": 0, "table": 1, "field": 2}.get(facet)
    if position is None:
        return dict(Counter(chain.from_iterable(attempt[facet] for attempt in left)))
    values = (
        {effect[position] for effect in attempt["effects"] if fits({**attempt, "effects": [effect]}, others)}
        for attempt in left
    )
    return dict(Counter(chain.from_iterable(values)))


CHOICES: list[dict[str, tuple[str, ...]]] = [
    {},
    {"model": ("cedar-8b",)},
    {"model": ("cedar-8b", "delta-medium"), "signature": ("wrong_state_update",)},
    {"effect": ("wrong", "missing")},
    {"effect": ("missing",), "field": ("zendesk_tickets.status",)},
    {"tool": ("zendesk_update_item",), "looked": ("yes",)},
    {"erred": ("zendesk_update_item", "zendesk_create_item"), "claimed": ("yes",)},
    {"label": ("empty_lookup",), "table": ("zendesk_tickets",), "domain": ("Retail", "Travel")},
]


def test_the_number_beside_every_value_is_that_of_the_files(attempts: list[Facts]) -> None:
    assert len(attempts) > 500
    checked = Counter[str]()
    for chosen in CHOICES:
        for facet in Facet:
            if facet in {Facet.RUN, Facet.SAME, Facet.LONE, Facet.ALIKE, Facet.NOTE}:
                continue
            page = failure_page(
                FailureFilters(chosen={Facet(name): values for name, values in chosen.items()}, whole=facet),
                access=EVERYTHING,
            )
            assert page.total == sum(fits(attempt, chosen) for attempt in attempts), chosen
            (found,) = (one for one in page.facets if one.facet is facet)
            numbers = {choice.value: choice.count for choice in found.choices if choice.count}
            assert numbers == recounted(attempts, facet.value, chosen), (facet, chosen)
            checked[facet.value] += len(numbers)
    # Every facet that the bundles know had something to count.
    assert {facet for facet in checked if not checked[facet]} == set()
    assert checked["field"] > 20


def test_words_find_the_attempts_that_have_them(attempts: list[Facts]) -> None:
    for words in ("refund", "cancellation refund", "zendesk_update_item", "unheardof"):
        wanted = [re.compile(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])") for word in words.split()]
        by_hand = sum(all(word.search(attempt["words"]) for word in wanted) for attempt in attempts)
        assert failure_page(FailureFilters(text=words), access=EVERYTHING).total == by_hand, words
