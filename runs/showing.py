"""One attempt as JSON for programs, and as text for a terminal. Both tell the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import msgspec

from runs.records import UNSET, AttemptRecord, Check, CheckKind, Effect, EffectKind, GradedAttempt, Step, StepKind

__all__ = ["attempt_json", "attempt_text", "plain"]

_SIGNS = {
    EffectKind.CORRECT: "=",
    EffectKind.WRONG: "≠",
    EffectKind.MISSING: "−",
    EffectKind.EXTRA: "+",
    EffectKind.UNGRADED: "·",
    EffectKind.REPORTED: "!",
}


def attempt_json(record: AttemptRecord, graded: GradedAttempt) -> dict[str, Any]:
    """The attempt as one JSON object. A value that is absent, or not recorded, is null."""
    usage = record.total_usage
    return {
        "uid": record.uid,
        "repetition": record.repetition,
        "verdict": record.verdict.value,
        "reason": record.reason.value if record.reason else None,
        "finish_reason": record.finish_reason,
        "domain": record.domain,
        "query": record.query,
        "error": record.error,
        "steps": [_step(step) for step in record.steps],
        "checks": [_check(check) for check in graded.checks],
        "effects": [_effect(effect) for effect in graded.effects],
        "state_source": graded.state_source.value,
        "usage": {**msgspec.to_builtins(usage), "total": usage.total} if usage else None,
        "metadata": record.metadata,
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "index": step.index,
        "kind": step.kind.value,
        "role": step.role,
        "name": step.name,
        "arguments": _known(step.arguments),
        "content": step.content,
        "error": step.error,
        "call_id": step.call_id,
    }


def _check(check: Check) -> dict[str, Any]:
    return {"kind": check.kind.value, "name": check.name, "passed": check.passed, "message": check.message}


def _effect(effect: Effect) -> dict[str, Any]:
    return {
        "kind": effect.kind.value,
        "server": effect.server,
        "table": effect.table,
        "key": effect.key,
        "field": effect.field,
        "before": _known(effect.before),
        "after": _known(effect.after),
        "required": _known(effect.required),
        "created": effect.created,
        "positional": effect.positional,
        "steps": effect.steps,
    }


def _known(value: Any) -> Any:
    return None if value is UNSET else value


def attempt_text(record: AttemptRecord, graded: GradedAttempt) -> Iterator[str]:
    """The attempt's lines for a terminal: verdict, evidence, checks, steps.

    Control characters of a bundle are shown, never sent.
    """
    reason = f" ({record.reason.value.replace('_', ' ')})" if record.reason else ""
    yield f"{plain(record.uid)}, repetition {record.repetition}: {record.verdict.value}{reason}"
    facts = [f"finish {plain(record.finish_reason or 'not recorded')}", f"{len(record.steps)} steps"]
    if record.total_usage:
        facts.append(f"{record.total_usage.total:,} tokens")
    if record.duration is not None:
        facts.append(f"{record.duration:.1f} s")
    yield ", ".join(facts)
    if record.error:
        yield f"System error: {plain(record.error)}"
    yield ""
    differences = "1 difference" if graded.differences == 1 else f"{graded.differences} differences"
    yield f"Evidence: states {graded.state_source.value}, {differences} from the required state"
    for effect in graded.effects:
        yield f"  {_effect_text(effect)}"
    yield ""
    yield "Checks"
    for check in graded.checks:
        unknown = "not asked" if check.kind is CheckKind.RUBRIC else "not recorded"
        outcome = {True: "passed", False: "failed", None: unknown}[check.passed]
        yield f"  {outcome}  {check.kind.value}  {_short(check.name, 120)}"
        if check.message:
            yield f"      {_short(check.message, 300)}"
    yield ""
    yield "Steps"
    for step in record.steps:
        yield f"  {step.index:>4}  {_step_text(step)}"


def _effect_text(effect: Effect) -> str:
    path = f"{plain(effect.table)} {plain(effect.key)} {plain(effect.field or 'row')}"
    values = " → ".join(
        f"{name} {_value(value, absent)}"
        for name, value, absent in (
            ("before", effect.before, "not recorded" if effect.kind is EffectKind.REPORTED else "none"),
            ("after", effect.after, "none"),
            ("required", effect.required, "none"),
        )
    )
    steps = f"  steps {', '.join(str(step) for step in effect.steps)} (inferred)" if effect.writes else ""
    folded = "  (follows from the length)" if effect.positional else ""
    return f"{_SIGNS[effect.kind]} {effect.kind.value:<9} {path}: {values}{steps}{folded}"


def _value(value: Any, absent: str) -> str:
    if value is UNSET:
        return absent
    return _short(msgspec.json.encode(value).decode(), 80)


def _step_text(step: Step) -> str:
    if step.kind is StepKind.CALL:
        arguments = _short(msgspec.json.encode(_known(step.arguments)).decode(), 160)
        if step.error is not None:
            answer = f"error: {_short(step.error, 200)}"
        elif step.content is None:
            answer = "no response"
        else:
            answer = _short(step.content, 160)
        return f"call {plain(step.name or '')}({arguments}) → {answer}"
    who = "thought" if step.kind is StepKind.THOUGHT else step.role
    if step.kind is StepKind.RESPONSE:
        who = f"response without a call, {plain(step.name or '')}"
    return f"{who}: {_short(step.content or '', 400)}"


def _short(text: str, limit: int) -> str:
    line = plain(" ".join(text[: limit * 4].split()))
    return line if len(line) <= limit else f"{line[:limit]}… ({len(text):,} characters)"


def plain(text: str) -> str:
    """A bundle's text for a terminal: control and direction characters appear as `\\x1b`, so that they do nothing."""
    return "".join(
        character
        if unicodedata.category(character) not in {"Cc", "Cf", "Cs"}
        else character.encode("unicode_escape").decode()
        for character in text
    )
