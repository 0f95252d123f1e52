"""The comparison against reference effects that were made from the tool servers' own record classes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import zstandard

from runs.records import Effect, EffectKind, Grading, ServerStates
from runs.statediff import Rules, TableRules, compare_server, diff_states, shipped_rules
from tests.runs.evidence import plain, read_bundle

pytestmark = pytest.mark.shared

BUNDLES = {
    "five-domains.aster-large": "five-domains/five-domains.aster-large.jsonl.zst",
    "five-domains.delta-medium": "five-domains/five-domains.delta-medium.jsonl.zst",
    "retail-20x.aster-large": "retail-20x/retail-20x.aster-large.jsonl.zst",
    "retail-20x.aster-large.retry": "retail-20x/retail-20x.aster-large.retry.jsonl.zst",
    "retail-20x.briza-mini": "retail-20x/retail-20x.briza-mini.jsonl.zst",
    "retail-20x.cedar-8b": "retail-20x/retail-20x.cedar-8b.jsonl.zst",
    "smoke": "smoke/smoke.jsonl.gz",
    "variants.full-dump": "variants/full-dump.jsonl.zst",
    "variants.limits": "variants/limits.jsonl.zst",
    "variants.no-test": "variants/no-test.jsonl.zst",
    "variants.skip-agent": "variants/skip-agent.jsonl.zst",
}
FAILING = {EffectKind.WRONG, EffectKind.MISSING, EffectKind.EXTRA}

UNKNOWABLE = {
    # Without the list, an ungraded field whose change is as required looks like any other correct change, and a
    # key of two fields is found as its first field where that alone tells the records apart: (first, second).
    "five-domains.aster-large": (89, 20),
    "five-domains.delta-medium": (26, 20),
    "retail-20x.aster-large": (139, 0),
    "retail-20x.aster-large.retry": (140, 0),
    "retail-20x.briza-mini": (31, 0),
    "retail-20x.cedar-8b": (33, 0),
    "smoke": (2, 0),
    "variants.full-dump": (2, 0),
    "variants.limits": (4, 0),
    "variants.no-test": (4, 0),
    "variants.skip-agent": (0, 0),
}


class Attempt(NamedTuple):
    uid: str
    server: str
    states: ServerStates
    golden: list[dict[str, Any]]


def reference(shared: Path, name: str) -> Iterator[dict[str, Any]]:
    data = (shared / "reference" / "effects" / f"{name}.jsonl.zst").read_bytes()
    text = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(data).read().decode()
    return map(json.loads, text.splitlines())


def attempts(shared: Path, name: str) -> Iterator[Attempt]:
    """The attempts of a bundle that have states, with their reference effects."""
    for record, golden in zip(read_bundle(shared / "bundles" / BUNDLES[name]), reference(shared, name), strict=True):
        assert (record.uid, record.repetition) == (golden["uid"], golden["repetition"])
        assert (golden["effects"] is None) == (not record.servers)
        for server, states in record.servers.items():
            assert len(record.servers) == 1
            yield Attempt(record.uid, server, states, golden["effects"])


def graded_only(value: Any, rules: TableRules | None) -> Any:
    if rules is None or not isinstance(value, dict):
        return plain(value)
    return {name: item for name, item in value.items() if name not in rules.ungraded}


def ours(effects: list[Effect], rules: Rules | None = None) -> Counter[str]:
    """Effects as the reference writes them; with rules, without the ungraded fields inside whole records."""
    found: Counter[str] = Counter()
    for effect in effects:
        if effect.kind is EffectKind.UNGRADED:
            continue
        table = rules[effect.table] if rules else None
        values = [graded_only(value, table) for value in (effect.before, effect.after, effect.required)]
        entry = [
            effect.server, effect.table, effect.key, effect.field, effect.kind.value, *values,
            effect.created, effect.after_key,
        ]  # fmt: skip
        found[json.dumps(entry, sort_keys=True)] += 1
    return found


def theirs(golden: list[dict[str, Any]]) -> Counter[str]:
    return Counter(
        json.dumps(
            [
                one["server"], one["table"], one["key"], one["field"], one["kind"], one["before"], one["after"],
                one["required"], one.get("created", False), one.get("after_key"),
            ],
            sort_keys=True,
        )
        for one in golden
    )  # fmt: skip


@pytest.mark.parametrize("name", BUNDLES)
def test_effects_of_known_and_unknown_servers(shared: Path, name: str) -> None:
    seen = 0
    ungraded_as_correct = shorter_keys = 0
    for attempt in attempts(shared, name):
        seen += 1
        rules = shipped_rules()[attempt.server]
        golden = theirs(attempt.golden)
        equal_hashes = attempt.states.after_hash == attempt.states.required_hash

        effects, how = compare_server(attempt.server, attempt.states)
        assert ours(effects) == golden, attempt.uid
        assert (how.grading, how.disagrees, how.duplicates) == (Grading.LISTED, False, [])
        assert equal_hashes == (not any(effect.kind in FAILING for effect in effects))

        effects, how = compare_server(attempt.server, attempt.states, listed={})
        assert (how.grading, how.disagrees, how.duplicates) == (Grading.COMPARED, False, [])
        assert equal_hashes == (not any(effect.kind in FAILING for effect in effects))
        kept = []
        for effect in effects:
            table = rules[effect.table]
            if effect.kind is EffectKind.CORRECT and effect.field in table.ungraded:
                ungraded_as_correct += 1
            else:
                kept.append(effect)
        for only_here, only_there in zip(
            sorted((ours(kept, rules) - golden).elements()),
            sorted((golden - ours(kept, rules)).elements()),
            strict=True,
        ):
            shorter_keys += 1
            mine, reference_entry = json.loads(only_here), json.loads(only_there)
            assert len(rules[reference_entry[1]].key) == 2
            assert mine[2] == reference_entry[2].split(":")[0]
            assert mine[:2] + mine[3:] == reference_entry[:2] + reference_entry[3:]
    assert seen > 0
    assert (ungraded_as_correct, shorter_keys) == UNKNOWABLE[name]


def stable(records: list[dict[str, Any]], ungraded: frozenset[str]) -> list[dict[str, Any]]:
    kept = [
        {
            name: sorted(value) if isinstance(value, list) else value
            for name, value in record.items()
            if name not in ungraded
        }
        for record in records
    ]
    return sorted(kept, key=lambda record: str(record.get("id", "")))


def positional(after: dict[str, Any], required: dict[str, Any], rules: Rules) -> list[dict[str, Any]]:
    """Paths of a comparison by position, as the harness makes it of records that hold no objects."""
    paths = []
    for table in required:
        pairs = zip(
            stable(after[table], rules[table].ungraded), stable(required[table], rules[table].ungraded), strict=False
        )
        for place, (one, other) in enumerate(pairs):
            paths += [f"{table}[{place}].{name}" for name in other if one[name] != other[name]]
    return [{"path": path} for path in paths]


def texts(tables: dict[str, Any]) -> dict[str, bytes]:
    return {name: json.dumps(records).encode() for name, records in tables.items()}


def test_constructed_pairings(shared: Path) -> None:
    cases = list(reference(shared, "constructed"))
    assert len(cases) == 16
    for case in cases:
        server, rules = case["server"], shipped_rules()[case["server"]]
        before, after, required = (texts(case[name]) for name in ("before", "after", "required"))
        effects = diff_states(before, after, required, rules, server=server)
        assert ours(effects) == theirs(case["effects"]), case["from_task"]

        unknown = ServerStates(
            before=before,  # type: ignore[arg-type]  # bytes are as good as Raw here
            after=after,  # type: ignore[arg-type]
            required=required,  # type: ignore[arg-type]
            diff=positional(case["after"], case["required"], rules),
        )
        effects, how = compare_server(server, unknown, listed={})
        kept = [
            one for one in effects if not (one.field in rules[one.table].ungraded and one.kind is EffectKind.CORRECT)
        ]
        assert how.grading is Grading.COMPARED
        assert ours(kept, rules) == theirs(case["effects"]), case["from_task"]


def test_a_list_that_does_not_prove_itself_is_not_used(shared: Path) -> None:
    attempt = next(attempts(shared, "smoke"))
    wrong = {attempt.server: {**shipped_rules()[attempt.server], "zendesk_tickets": TableRules(("id",), frozenset())}}
    effects, how = compare_server(attempt.server, attempt.states, listed=wrong)
    assert how.grading is Grading.COMPARED
    assert [effect.field for effect in effects if effect.kind in FAILING] == []


def test_the_surplus_record_no_longer_hides_the_real_difference(shared: Path) -> None:
    records = read_bundle(shared / "bundles" / BUNDLES["smoke"])
    record = next(one for one in records if one.uid.endswith(":test_crf_014") and one.repetition == 2)
    ((server, states),) = record.servers.items()
    effects, how = compare_server(server, states)
    assert how.positional == 234
    assert (how.tables, how.same_tables, how.same_rows) == (17, 14, 76)
    assert [(one.kind.value, one.table, one.key, one.field) for one in effects] == [
        ("missing", "zendesk_tickets", "13", None),
        ("correct", "booking_api_bookings", "BKG-00000006", "booking_status"),
        ("correct", "booking_api_bookings", "BKG-00000006", "modification_history"),
        ("correct", "booking_api_bookings", "BKG-00000006", "updated_at"),
        ("correct", "payment_api_transactions", "TXN-00000008", None),
    ]
