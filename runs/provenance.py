"""Where a run's rows came from, and what may be said of them as a whole: complete, of one origin, canonical. Pure.

What rows say is compared, never believed: a digest is shown as it was recorded, and where it can be computed again (the
list of tasks) it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec

from runs.benchmarks import THINKINGBOX_BENCH
from runs.canonical import sha256_hex
from runs.provenance_facts import BY_SHARD, Fact, Flat, SaidBy, by_path, fact_groups, flattened, most_first, text_of
from runs.wording import counted

__all__ = ["Coverage", "Finding", "Judgement", "Tone", "judge", "selected_digest"]

RELEASE = "thinkingbox-bench-v1.0"
_SHOWN = 5


class Tone(StrEnum):
    OK = "ok"
    WARN = "warn"
    BAD = "bad"
    UNKNOWN = "dim"
    """Nothing says it either way."""


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """Places (task × repetition) of a run."""

    tasks: int
    k: int
    results: int
    """Places with a result."""
    errors: int
    """Places whose last try broke, or was not graded."""
    retried: int
    """Earlier tries that a later one replaced."""

    @property
    def planned(self) -> int:
        return self.tasks * self.k

    @property
    def missing(self) -> int:
        return max(0, self.planned - self.results - self.errors)

    @property
    def complete(self) -> bool:
        return bool(self.tasks) and self.results == self.planned


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict in plain words."""

    tone: Tone
    title: str
    details: list[str] = []


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    coverage: Coverage
    complete: Finding
    origin: Finding
    evaluator: Finding
    bench: Finding
    groups: list[tuple[str, list[Fact]]] = []
    """Title → what rows say, in the order in which it is shown."""

    @property
    def findings(self) -> list[Finding]:
        return [self.complete, self.origin, self.evaluator, self.bench]


def judge(said: Sequence[SaidBy], coverage: Coverage, places: Mapping[str, str], conflicts: int = 0) -> Judgement:
    """The verdicts on a run.

    `places`: task → one letter a repetition from 0 (p, f, e, `.`), as tallies have them; `conflicts`: rows that hold
    another result for an attempt that the run has.
    """
    flat = flattened(said)
    single = _origin(flat)
    complete = _complete(flat, coverage, conflicts)
    evaluator = _evaluator(said)
    return Judgement(
        coverage=coverage,
        complete=complete,
        origin=single,
        evaluator=evaluator,
        bench=_bench(flat, places, [complete, single, evaluator]),
        groups=fact_groups(flat),
    )


def selected_digest(uids: Iterable[str]) -> str:
    """The adapter's digest of a selection of tasks: of their sorted names as JSON without blanks."""
    encoded = msgspec.json.encode(sorted(uids))
    return sha256_hex(encoded)


# --- Complete ---------------------------------------------------------------------------------------------------------


def _complete(flat: Flat, coverage: Coverage, conflicts: int) -> Finding:
    details = []
    if coverage.missing:
        details.append(f"{counted(coverage.missing, 'attempt')} not recorded at all.")
    if coverage.errors:
        details.append(f"{counted(coverage.errors, 'attempt')} without a result: broken, or not graded.")
    if conflicts:
        details.append(f"{counted(conflicts, 'row')} with another result for an attempt that the run has.")
    tasks = _task_list(flat)
    shards = _missing_shards(flat)
    if tasks is False and not shards:
        details.append(
            "The recorded tasks are not those that the run selected, by their digest: some are missing whole."
        )
    if shards:
        details.append(f"Of {shards[0]:,} shards, counted from 0, not here: {_numbers(shards[1])}.")
    retried = f" Broken tries that a later one replaced: {coverage.retried:,}." if coverage.retried else ""
    planned = f"{counted(coverage.tasks, 'task')} × {counted(coverage.k, 'repetition')}"
    if coverage.complete and not details:
        known = "" if tasks else " Whether these are all tasks of the run, its rows do not say."
        return Finding(tone=Tone.OK, title=f"Complete: {planned}, each with one result.{retried}{known}")
    if coverage.results == coverage.planned:
        title = f"Incomplete, though each of {planned} has a result.{retried}"
    else:
        title = f"Incomplete: {coverage.results:,} of {coverage.planned:,} results ({planned}).{retried}"
    return Finding(tone=Tone.WARN, title=title, details=details)


def _task_list(flat: Flat) -> bool | None:
    """Whether the recorded tasks are those that the run selected; None where no row says what was selected."""
    uids: dict[str, set[str]] = defaultdict(set)
    for row, values in flat:
        digest = values.get("run.selected_uids_sha256")
        if isinstance(digest, str):
            uids[digest] |= row.uids
    if not uids:
        return None
    return all(selected_digest(found) == digest for digest, found in uids.items())


def _missing_shards(flat: Flat) -> tuple[int, list[int]] | None:
    """How many shards there are, and which are not here; None where all are."""
    seen: dict[int, set[int]] = defaultdict(set)
    for _, values in flat:
        count, index = values.get("run.shard_count"), values.get("run.shard_index")
        if isinstance(count, int) and isinstance(index, int) and 1 < count <= 10_000:
            seen[count].add(index)
    for count, indices in seen.items():
        if missing := sorted(set(range(count)) - indices):
            return count, missing
    return None


# --- One origin -------------------------------------------------------------------------------------------------------


def _origin(flat: Flat) -> Finding:
    telling = [(row, values) for row, values in flat if values]
    silent = sum(row.rows for row, values in flat if not values)
    if not telling:
        title = "Not recorded: the rows do not say which software, data or configuration they came from."
        return Finding(
            tone=Tone.UNKNOWN, title=title, details=["Rows of tb infer never do; those of thinkingbox-eval do."]
        )
    differing = _differing(telling)
    details = [f"{path}: {_values(values)}" for path, values in differing.items()]
    if silent:
        details.append(f"{counted(silent, 'row')} say{'s' if silent == 1 else ''} nothing, and the others do.")
    details += _contradictions(telling)
    shards = {values.get("run.shard_index") for _, values in telling}
    parts = f", in {len(shards):,} shards" if len(shards) > 1 and not differing else ""
    if not details:
        return Finding(
            tone=Tone.OK, title=f"One origin: all rows name the same software, data and configuration{parts}."
        )
    title = "Mixed: the rows are not all of one origin." if differing or silent else "One origin, with a contradiction."
    return Finding(tone=Tone.BAD if differing or silent else Tone.WARN, title=title, details=details)


def _differing(flat: Flat) -> dict[str, dict[str, int]]:
    """Path → value → rows, for what differs between rows that tell."""
    paths = sorted({path for _, values in flat for path in values} - BY_SHARD)
    found = {}
    for path in paths:
        rows: dict[str, int] = defaultdict(int)
        for row, values in flat:
            rows[text_of(values[path]) if path in values else "not said"] += row.rows
        if len(rows) > 1:
            found[path] = dict(most_first(rows))
    return found


def _values(rows_of: Mapping[str, int]) -> str:
    shown = [f"{value} ({counted(rows, 'row')})" for value, rows in list(rows_of.items())[:_SHOWN]]
    more = len(rows_of) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _contradictions(flat: Flat) -> list[str]:
    """Where what the client recorded is not what the server saw."""
    found: dict[str, int] = defaultdict(int)
    for row, values in flat:
        seen = by_path((row.said or {}).get("execution"))
        if "config_sha256" in seen:
            seen["config.sha256"] = seen.pop("config_sha256")
        for path in seen.keys() & values.keys():
            if seen[path] != values[path]:
                found[path] += row.rows
    return [
        f"{path}: the server saw another value than the client ({counted(rows, 'row')})."
        for path, rows in sorted(found.items())
    ]


# --- The evaluator's fields -------------------------------------------------------------------------------------------


def _evaluator(said: Sequence[SaidBy]) -> Finding:
    claiming = [row for row in said if row.said is not None]
    if not claiming:
        return Finding(
            tone=Tone.UNKNOWN,
            title="No row claims to be canonical, so each may hold the evaluator's fields (states, checks).",
        )
    names: dict[str, int] = defaultdict(int)
    for row in claiming:
        for name in (row.said or {}).get("forbidden") or []:
            names[str(name)] += row.rows
    if not names:
        return Finding(tone=Tone.OK, title="No field of the evaluator is in the rows that claim to be canonical.")
    found = [f"{name} in {counted(rows, 'row')}" for name, rows in sorted(names.items())]
    title = "Rows claim to be canonical and hold fields of the evaluator. Do not publish the file."
    return Finding(tone=Tone.BAD, title=title, details=found)


# --- ThinkingBox-Bench v1.0 -------------------------------------------------------------------------------------------


def _bench(flat: Flat, places: Mapping[str, str], others: Sequence[Finding]) -> Finding:
    bench = THINKINGBOX_BENCH
    name = f"{bench.name} ({len(bench.uids):,} tasks × {bench.repetitions})"
    known = bench.uids & places.keys()
    if not known:
        return Finding(tone=Tone.UNKNOWN, title=f"No task is of {name}.")
    missing = []
    if absent := len(bench.uids) - len(known):
        missing.append(f"{absent:,} of {len(bench.uids):,} tasks are not recorded.")
    if foreign := len(places) - len(known):
        missing.append(f"{counted(foreign, 'task')} do{'es' if foreign == 1 else ''} not belong to it.")
    short = sum(not _has_results(places[uid], bench.repetitions) for uid in known)
    if short:
        missing.append(f"{short:,} of its recorded tasks have not a result for each repetition from 0 to 19.")
    if any(len(letters.rstrip(".")) > bench.repetitions for letters in places.values()):
        missing.append(f"There are more than {bench.repetitions} repetitions.")
    releases = {text_of(values["data_release"]) for _, values in flat if "data_release" in values}
    if not releases:
        missing.append(f"No row names the data release {RELEASE}.")
    elif releases != {RELEASE}:
        missing.append(f"The data release is {', '.join(sorted(releases)[:_SHOWN])}, not {RELEASE}.")
    if any(values.get("run.limit") is not None for _, values in flat):
        missing.append("The run was limited to a number of tasks.")
    missing += [finding.title for finding in others[1:] if finding.tone in {Tone.BAD, Tone.WARN}]
    missing = missing or (others[0].details if others[0].tone is not Tone.OK else [])
    if missing:
        title = f"Not a canonical run of {name}. What is missing for one:"
        return Finding(tone=Tone.WARN, title=title, details=missing)
    return Finding(tone=Tone.OK, title=f"A canonical run of {name}, by what its rows say.")


def _has_results(letters: str, k: int) -> bool:
    return len(letters) >= k and all(letter in "pf" for letter in letters[:k])


def _numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(f"{number:,}" for number in numbers[:10])
    return shown if len(numbers) <= 10 else f"{shown} and {len(numbers) - 10:,} more"
