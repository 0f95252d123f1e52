"""Result files of `thinkingbox-eval`, the harness's OpenEnv adapter: `results.jsonl`, and `errors.jsonl` beside it.

A result is the harness's row, cut to what may be published. An error row is a try that broke: it counts as an error
until a later try at the same repetition has a result, and stays as history then.
"""

from __future__ import annotations

from typing import Any

import msgspec

from runs.benchmarks import THINKINGBOX_BENCH
from runs.bundles.base import ReadRecord
from runs.bundles.canonical_rows import is_error_row, read_said, read_try, row_notes
from runs.bundles.fields import Fields
from runs.bundles.repairing import repair, too_deep
from runs.bundles.run_metadata import AGENT_PARAMETERS, plain_value
from runs.bundles.sniffing import is_openenv
from runs.bundles.thinkingbox import ThinkingBox
from runs.bundles.thinkingbox_record import HIGHEST_REPETITION, place_of
from runs.bundles.thinkingbox_row import detach_row, open_skeleton, split_row
from runs.canonical import canonical_json, sha256_hex
from runs.naming import MOST_REPETITIONS
from runs.records import AttemptRecord, BundleHeader, ErrorReason, Verdict

__all__ = ["ThinkingBoxOpenEnv", "lineage_of"]

_MARK = b"operational_system_error"
_RELEASES = {"thinkingbox-bench-v1.0": THINKINGBOX_BENCH.name}
"""The adapter's names of data releases → this product's names of benchmarks."""
_BY_SHARD = frozenset({"shard_index", "selected_uids_sha256"})
"""What shards of one run differ in, and nothing else."""
_any = msgspec.json.Decoder()


class ThinkingBoxOpenEnv(ThinkingBox):
    """Results and errors are one format here, as one file may hold both. A row of `tb infer` is read as such."""

    name = "thinkingbox-openenv"
    title = "ThinkingBox thinkingbox-eval (OpenEnv)"

    def matches(self, head: bytes) -> bool:
        return is_openenv(head)

    def header(self, text: bytes) -> BundleHeader | None:
        try:
            row = _any.decode(text)
        except (msgspec.DecodeError, RecursionError):  # the row is listed when it is read
            return None
        if not isinstance(row, dict):
            return None
        level = row if is_error_row(row) else row.get("metadata")
        provenance = level.get("provenance") if isinstance(level, dict) else None
        return _header(provenance) if isinstance(provenance, dict) else None

    def read(self, text: bytes) -> ReadRecord:
        if _MARK in text and (read := _read_error(text)) is not None:
            return read
        return super().read(text)

    def normalise(self, skeleton: bytes) -> AttemptRecord:
        split, notes = open_skeleton(skeleton)
        if "classification" in split.row:
            row = {name: _any.decode(value) for name, value in split.row.items()}
            if is_error_row(row):
                return _error_record(row, notes)
        return super().normalise(skeleton)


def lineage_of(provenance: dict[str, Any]) -> str:
    """A digest that all shards of one run share, and no other run has."""
    run = provenance.get("run")
    kept = {name: value for name, value in run.items() if name not in _BY_SHARD} if isinstance(run, dict) else run
    return sha256_hex(canonical_json(provenance | {"run": kept}))


def _read_error(text: bytes) -> ReadRecord | None:
    """An error row; None where the line is another one."""
    notes: list[str] = []
    try:
        try:
            row = _any.decode(text)
        except msgspec.DecodeError:
            text, notes = repair(text)
            row = _any.decode(text)
    except RecursionError as error:
        raise too_deep() from error
    except msgspec.DecodeError:
        return None
    if not isinstance(row, dict) or not is_error_row(row):
        return None
    record = _error_record(row, notes)
    detached, _ = detach_row(split_row(text), {}, notes)
    return ReadRecord(record=record, detached=detached)


def _error_record(row: dict[str, Any], notes: list[str]) -> AttemptRecord:
    fields = Fields(row)
    uid = fields.text("uid")
    repetition = fields.count("repetition", highest=HIGHEST_REPETITION)
    error = fields.fields_or_empty("error")
    said = [text for text in (error.maybe_text("type"), error.maybe_text("message")) if text]
    scenario, domain = place_of(uid)
    told = (
        "classification",
        "retryable",
        "quarantined",
        "timestamp_utc",
        "observation_audit",
        "trace_audit",
        "provenance",
    )
    return AttemptRecord(
        uid=uid,
        repetition=repetition,
        tried=read_try(fields),
        said=read_said({name: value for name, value in row.items() if name != "error"}, fields),
        verdict=Verdict.ERROR,
        reason=ErrorReason.SYSTEM,
        domain=domain,
        scenario=scenario,
        error=": ".join(said) or None,
        error_traceback=error.maybe_text("traceback") or "",
        metadata={name: row[name] for name in told if name in row},
        notes=[*notes, *row_notes(row, fields, repetition)],
    )


def _header(provenance: dict[str, Any]) -> BundleHeader:
    config, run = _level(provenance, "config"), _level(provenance, "run")
    agent, judge, user = _level(config, "agent_model"), _level(config, "judge_model"), _level(config, "user_model")
    found = {name: agent.get(name) for name in AGENT_PARAMETERS} | {
        "api": agent.get("type"),
        "agent_kind": run.get("agent"),
        "judge_model": judge.get("deployment") or judge.get("model"),
        "judge_type": config.get("judge_type"),
        "user_model": user.get("deployment") or user.get("model"),
    }
    release = _text(provenance.get("data_release"))
    return BundleHeader(
        model=_text(agent.get("deployment")) or _text(agent.get("model")),
        parameters={name: value for name, given in found.items() if (value := plain_value(given)) is not None},
        benchmark=_RELEASES.get(release, release) if release else None,
        repetitions=_repetitions(run),
        lineage=lineage_of(provenance),
    )


def _repetitions(run: dict[str, Any]) -> int | None:
    """k: the highest repetition that the run has, counted from 1."""
    start, repeat = _whole(run.get("repetition_start", 0)), _whole(run.get("repeat"))
    return start + repeat if start is not None and repeat else None


def _whole(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_REPETITIONS:
        return value
    return None


def _level(values: dict[str, Any], name: str) -> dict[str, Any]:
    value = values.get(name)
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    found = plain_value(value)
    return found if isinstance(found, str) else None
