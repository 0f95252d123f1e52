"""From the levels of a `tb infer` row to an attempt in this project's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from runs.benchmarks import THINKINGBOX_BENCH, domain_label
from runs.bundles.canonical_rows import claims_canonical, read_said, read_try, row_notes
from runs.bundles.fields import Fields, as_number, describe, wrong
from runs.bundles.thinkingbox_messages import read_messages
from runs.bundles.thinkingbox_row import SplitRow, fields_of
from runs.naming import MOST_REPETITIONS
from runs.records import (
    AttemptRecord,
    ErrorReason,
    ServerStates,
    TestResult,
    Tool,
    Usage,
    Verdict,
)

__all__ = ["HIGHEST_REPETITION", "make_record", "place_of"]

HIGHEST_REPETITION = MOST_REPETITIONS - 1
_STATE_NAMES = {"initial_db_state": "before", "result_db_state": "after", "golden_db_state": "required"}
_CONTEXT_STARTS = "=== END CONVERSATION HISTORY ===\n\nUSER_CONTEXT:\n"
_CONTEXT_ENDS = "\n\nLAST_ASSISTANT_MESSAGE:"
_NULL = Raw(b"null")


def make_record(
    split: SplitRow, states: Mapping[tuple[str, str], dict[str, Raw]], tools: list[Tool], notes: list[str]
) -> AttemptRecord:
    """The attempt. `states` by server and field of the row, as far as they are at hand.

    Raises `BadRecord` for a field of another type than the format's, `msgspec.DecodeError` for a value that is no JSON.
    """
    row = Fields({name: split.value(text) for name, text in split.row.items() if name not in _NOT_HERE})
    uid = row.text("uid")
    metadata = row.fields_or_empty("metadata")
    repetition = metadata.count("repetition", highest=HIGHEST_REPETITION)
    messages = row.values.get("messages")
    if not isinstance(messages, list):
        raise wrong("messages", messages, "a list of messages")
    transcript = read_messages(messages)
    test = _test_result(row.maybe_fields("test_result"))
    verdict, reason = _verdict(row.flag("is_system_error"), test)
    error, traceback = _error(metadata)
    scenario = metadata.maybe_text("scenario") or place_of(uid)[0]
    tags = row.fields_or_empty("test_tags")
    decided = [*notes, *transcript.notes]
    canonical = claims_canonical(row.values)
    if canonical:
        decided += row_notes(row.values, metadata, repetition)
    return AttemptRecord(
        uid=uid,
        repetition=repetition,
        verdict=verdict,
        tried=read_try(metadata) if canonical else None,
        said=_said(split, row, metadata) if canonical else None,
        reason=reason,
        finish_reason=row.maybe_text("finish_reason"),
        domain=tags.maybe_text("domain") or domain_label(scenario),
        scenario=scenario,
        instructions=transcript.instructions,
        policy=transcript.policy,
        query=transcript.query,
        private_context=_private_context(row.maybe_list("user_llm_history")),
        steps=transcript.steps,
        tools=tools,
        usage=_usage(row.maybe_list("usage"), decided),
        duration=_seconds(metadata, "execution_time", decided),
        timers=_timers(metadata, decided),
        servers=_servers(split, states, decided),
        test=test,
        error=error,
        error_traceback=traceback,
        tags=tags.values,
        metadata=metadata.values,
        notes=decided,
    )


_NOT_HERE = frozenset({"test_context", "tools"})  # read by level and by part


def _said(split: SplitRow, row: Fields, metadata: Fields) -> dict[str, Any] | None:
    """The fields that are read apart are named too, since a canonical row may not have them."""
    apart = dict.fromkeys(name for name in _NOT_HERE if (split.row.get(name) or _NULL) != _NULL)
    return read_said(row.values | dict.fromkeys(apart, True), metadata)


def place_of(uid: str) -> tuple[str, str]:
    """Scenario and domain of a task that the benchmark knows; else two empty texts."""
    scenario = THINKINGBOX_BENCH.scenarios.get(uid, "")
    return scenario, domain_label(scenario)


def _test_result(test: Fields | None) -> TestResult | None:
    if test is None:
        return None
    broke = test.flag("is_system_error")
    judgements = test.fields_or_empty("metadata").maybe_list("judge_motivation")
    path = test.at("metadata.judge_motivation")
    for position, judgement in enumerate(judgements or []):
        if not isinstance(judgement, dict):
            raise wrong(f"{path}.{position}", judgement, "an object")
    line = test.maybe_number("lineno")
    return TestResult(
        passed=test.flag("result") if broke else test.required_flag("result"),
        reward=test.maybe_number("reward"),
        broke=broke,
        traceback=test.maybe_text("tb") or "",
        prints=test.maybe_text("prints") or "",
        line=int(line) if line is not None and line >= 0 else None,
        line_content=test.maybe_text("line_content") or "",
        judgements=judgements,
    )


def _verdict(is_system_error: bool, test: TestResult | None) -> tuple[Verdict, ErrorReason | None]:
    if is_system_error:
        return Verdict.ERROR, ErrorReason.SYSTEM
    if test is None:
        return Verdict.ERROR, ErrorReason.NOT_GRADED
    if test.broke:
        return Verdict.ERROR, ErrorReason.GRADER
    return (Verdict.PASSED if test.passed else Verdict.FAILED), None


def _error(metadata: Fields) -> tuple[str | None, str]:
    error = metadata.values.get("error")
    if error is None or isinstance(error, str):
        return error or None, ""
    fields = Fields(error, metadata.at("error"))
    said = [text for text in (fields.maybe_text("type"), fields.maybe_text("message")) if text]
    return ": ".join(said) or None, fields.maybe_text("tb") or ""


def _seconds(metadata: Fields, name: str, notes: list[str]) -> float | None:
    value = metadata.values.get(name)
    seconds = as_number(value)
    if seconds is None and value is not None:
        notes.append(f"{metadata.at(name)} is {describe(value)}, no number of seconds, so it is not counted.")
    return seconds


def _timers(metadata: Fields, notes: list[str]) -> dict[str, float]:
    timers = {}
    for name in metadata.values:
        if name.startswith("time_") and (seconds := _seconds(metadata, name, notes)) is not None:
            timers[name.removeprefix("time_")] = seconds
    return timers


def _usage(entries: list[Any] | None, notes: list[str]) -> list[Usage] | None:
    if entries is None:
        return None
    counted = [_usage_entry(entry) for entry in entries]
    usage = [entry for entry in counted if entry is not None]
    if len(usage) < len(counted):
        position = counted.index(None)
        notes.append(f"usage.{position} has no token counts that can be read, so the tokens are not counted.")
        return None
    return usage


def _usage_entry(entry: Any) -> Usage | None:
    """One model call, in either of the two spellings that endpoints use."""
    if not isinstance(entry, dict):
        return None
    for given, details, made, made_details in (
        ("input_tokens", "input_tokens_details", "output_tokens", "output_tokens_details"),
        ("prompt_tokens", "prompt_tokens_details", "completion_tokens", "completion_tokens_details"),
    ):
        if given in entry or made in entry:
            if entry.get(given, 0) is None or entry.get(made, 0) is None:
                return None  # an unknown count is not 0
            beside = "cache_read_input_tokens" in entry or "cache_creation_input_tokens" in entry
            cached = entry.get("cache_read_input_tokens") if beside else _detail(entry.get(details), "cached_tokens")
            numbers = (
                entry.get(given),
                cached,
                entry.get("cache_creation_input_tokens"),
                entry.get(made),
                _detail(entry.get(made_details), "reasoning_tokens"),
            )
            whole = [0 if number is None else number for number in numbers]
            if any(isinstance(number, bool) or not isinstance(number, int) or number < 0 for number in whole):
                return None
            return Usage(
                input=whole[0],
                cached=whole[1],
                cache_write=whole[2],
                output=whole[3],
                reasoning=whole[4],
                calls=1,
                # A part cannot be larger than the whole, so such a count lies beside it.
                beside=beside or whole[1] > whole[0],
            )
    return None


def _detail(details: Any, name: str) -> Any:
    return details.get(name) if isinstance(details, dict) else details


def _private_context(history: list[Any] | None) -> str | None:
    """What the simulated user was told: the context in its first prompt, or all of a prompt laid out otherwise."""
    for turn in history or []:
        for message in turn if isinstance(turn, list) else []:
            if isinstance(message, dict) and message.get("role") == "user" and isinstance(message.get("content"), str):
                prompt: str = message["content"]
                _, found, rest = prompt.rpartition(_CONTEXT_STARTS)
                context, ended, _ = rest.rpartition(_CONTEXT_ENDS)
                return context.strip("\n") if found and ended else prompt
    return None


def _servers(
    split: SplitRow, states: Mapping[tuple[str, str], dict[str, Raw]], notes: list[str]
) -> dict[str, ServerStates]:
    servers = {}
    for name, server in (split.servers or {}).items():
        if isinstance(server, Raw):
            notes.append(f"The effects of server {name[:40]!r} are no object, so there is nothing to compare.")
        fields = Fields(
            {key: split.value(text) for key, text in fields_of(server).items() if key not in _STATE_NAMES},
            f"test_context.effects.{name}",
        )
        tables = {ours: states.get((name, theirs)) for theirs, ours in _STATE_NAMES.items()}
        servers[name] = ServerStates(
            before=tables["before"],
            after=tables["after"],
            required=tables["required"],
            after_hash=fields.maybe_text("result_db_hash"),
            required_hash=fields.maybe_text("golden_db_hash"),
            diff=_objects(fields, "diff"),
            rubrics=_rubrics(fields),
        )
    return servers


def _objects(fields: Fields, name: str) -> list[dict[str, Any]] | None:
    values = fields.maybe_list(name)
    for position, value in enumerate(values or []):
        if not isinstance(value, dict):
            raise wrong(f"{fields.at(name)}.{position}", value, "an object")
    return values


def _rubrics(fields: Fields) -> list[str]:
    """The questions of both lists. `rubrics` may also be an object of criteria by name."""
    given = fields.values.get("rubrics")
    listed = list(given.values()) if isinstance(given, dict) else given
    texts = [_question(item) for item in (listed if isinstance(listed, list) else [])]
    yes_no = fields.maybe_list("rubrics_yesno") or []
    for position, question in enumerate(yes_no):
        if not isinstance(question, str):
            raise wrong(f"{fields.at('rubrics_yesno')}.{position}", question, "a text")
    return [text for text in texts if text is not None] + yes_no


def _question(item: Any) -> str | None:
    if isinstance(item, dict):
        item = item.get("criterion")
    return item if isinstance(item, str) else None
