"""From a row's text to everything the store needs of it. All the work that needs no transaction happens here."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from runs.bundles.base import RawRecord, Reader
from runs.canonical import canonical_json, sha256_hex
from runs.claims import read_claim
from runs.dictionaries import Dictionaries
from runs.errorclasses import classify_error
from runs.errors import BadRecord
from runs.grading import grade
from runs.masking import CURRENT, count_kinds, mask_bytes, mask_effect, mask_graded, mask_text, mask_value
from runs.naming import storable
from runs.payloads import Evidence, NewPayload, PartRef, compress, stored_part
from runs.records import (
    AttemptRecord,
    CheckKind,
    Effect,
    GradedAttempt,
    Problem,
    ProblemKind,
    SaidRow,
    StateSource,
    StepKind,
    Verdict,
)
from runs.signatures import classify
from runs.transcripts import transcript_text

__all__ = ["EffectRow", "PreparedRow", "ToolRow", "indexed_text", "prepare", "row_digest"]

_SHORT = 100
_NAME = 200
_QUESTION = 300
_UID = 1000
_MOST_TOKENS = 2**40
_MOST_SECONDS = 1e9


class EffectRow(msgspec.Struct, frozen=True):
    kind: str
    table: str
    key: str
    field: str
    after: str
    required: str


class ToolRow(msgspec.Struct, frozen=True):
    name: str
    calls: int
    errors: int


class PreparedRow(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt, ready to be stored."""

    line: int
    uid: str
    repetition: int
    domain: str
    verdict: Verdict
    digest: str
    tried: int | None = None
    was_masked: bool = False
    """It had secrets, which were masked before it was graded."""
    said: SaidRow | None = None
    columns: dict[str, Any]
    """Values of the attempt's columns, by name."""
    source: bytes
    dictionary: str | None = None
    """Digest of the payload that `source` is compressed against."""
    evidence: bytes
    refs: list[PartRef]
    payloads: list[NewPayload]
    effects: list[EffectRow]
    tools: list[ToolRow]
    labels: list[str]
    rubrics: list[str]
    """Questions that the attempt failed."""
    notes: list[str]
    transcript: str
    """What the full-text index takes up."""


def prepare(
    reader: Reader,
    raw: RawRecord,
    overrides: dict[str, bool] | None = None,
    dictionaries: Dictionaries | None = None,
    *,
    mask: bool = False,
    gone: dict[str, int] | None = None,
) -> PreparedRow | Problem:
    """Reads, grades and compresses one row, against a row of the same task where `dictionaries` has one.

    A row that cannot be stored comes back as a Problem with its line and field. `mask`: its secrets are masked first,
    so that what is graded and stored has none; `gone`: how many that were when it was stored, by kind.
    """
    masked = mask_bytes(raw.text) if mask else None
    try:
        read = reader.read(raw.text if masked is None else masked.text)
    except BadRecord as error:
        return Problem(line=raw.line, kind=ProblemKind.REJECTED, reason=_refusal(reader, raw, error))
    record = read.record
    unfit = _unfit(record)
    if unfit:
        return Problem(line=raw.line, kind=ProblemKind.REJECTED, reason=unfit)
    graded = grade(record, overrides=overrides or {})
    refs: list[PartRef] = []
    payloads: list[NewPayload] = []
    for part in read.detached.parts:
        ref, payload = stored_part(part)
        refs.append(ref)
        payloads.append(payload)
    skeleton = read.detached.skeleton
    if masked is not None:
        found = masked.found
    else:
        found = mask_bytes(skeleton).found.union(*(payload.secrets for payload in payloads))
    secrets = count_kinds(found) if gone is None else gone
    quoting = _quoting(reader, raw, record, graded, refs) if found and not mask else _evidence(record, graded, refs)
    evidence = msgspec.structs.replace(
        quoting, masked=secrets, masked_by=CURRENT, masked_at_ingest=mask or gone is not None
    )
    # Columns are for lists and filters: what is in them is always shown. The graded row itself stays as it is.
    shown = _Shown(bool(found), recorded=graded.state_source is StateSource.RECORDED)
    dictionary = None if dictionaries is None else dictionaries.of(record.uid, skeleton)
    if dictionaries is None or dictionary is None:
        source = compress(skeleton)
    else:
        source = dictionaries.compress(dictionary, skeleton)
        payloads.append(NewPayload(dictionary.digest, dictionary.text))
    return PreparedRow(
        line=raw.line,
        uid=record.uid,
        repetition=record.repetition,
        domain=shown.text(record.domain, _NAME),
        verdict=record.verdict,
        digest=row_digest(skeleton, refs, read.detached.content),
        tried=record.tried,
        was_masked=masked is not None and bool(masked.found),
        said=None if record.said is None else _said(mask_value(record.said) if found else record.said),
        columns=_columns(record, graded, shown) | _diagnosis_columns(evidence) | {"masked": sum(secrets.values())},
        source=source,
        dictionary=None if dictionary is None else dictionary.digest,
        evidence=compress(msgspec.json.encode(evidence)),
        refs=refs,
        payloads=payloads,
        effects=[_effect_row(shown.effect(effect)) for effect in graded.effects if effect.counts],
        tools=_tool_rows(record, shown),
        labels=[label.value for label in evidence.diagnosis.labels] if evidence.diagnosis else [],
        rubrics=_failed_rubrics(graded, shown),
        notes=[*raw.notes, *record.notes],
        transcript=transcript_text(record),
    )


class _Shown(msgspec.Struct, frozen=True):
    """Texts of a row for columns. A row without a secret is not looked through once more."""

    has_secrets: bool
    recorded: bool
    """Effects are of states, which are looked through with the names of their fields."""

    def text(self, text: str, limit: int) -> str:
        return indexed_text(mask_text(text) if self.has_secrets else text, limit)

    def effect(self, effect: Effect) -> Effect:
        return effect if self.recorded and not self.has_secrets else mask_effect(effect)


def indexed_text(text: str, limit: int) -> str:
    """A text for a column: PostgreSQL cannot store U+0000, and a lone surrogate is no UTF-8; the payload keeps both."""
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()[:limit]


def _unfit(record: AttemptRecord) -> str:
    """Why a readable row cannot have a place in the database; the empty text when it can."""
    if len(record.uid) > _UID:
        return f"uid: the task's name has {len(record.uid):,} characters, and {_UID:,} are the most that can be stored."
    if not storable(record.uid):
        return "uid: the task's name holds U+0000 or half of a surrogate pair, which no name can have."
    if not record.uid.strip():
        return "uid: the task's name is empty."
    return ""


def row_digest(skeleton: bytes, refs: list[PartRef], content: bytes = b"") -> str:
    """What tells rows apart: the SHA-256 of a row's canonical content.

    `content` is the skeleton's canonical JSON where it is at hand.
    """
    parts = canonical_json([[ref.path, ref.digest] for ref in refs])
    return sha256_hex((content or canonical_json(msgspec.json.decode(skeleton))) + b"\n" + parts)


def _said(value: dict[str, Any]) -> SaidRow:
    text = canonical_json(value)
    # A database's JSON takes no U+0000 and no lone surrogate. The row itself keeps both.
    clean = indexed_text(text.decode(), len(text)).replace("\\u0000", "\ufffd")
    return SaidRow(sha256_hex(text), msgspec.json.decode(clean))


def _columns(record: AttemptRecord, graded: GradedAttempt, shown: _Shown) -> dict[str, Any]:
    usage = record.total_usage
    calls = [step for step in record.steps if step.kind is StepKind.CALL]
    return {
        "verdict": record.verdict.value,
        "reason": record.reason.value if record.reason else "",
        "finish_reason": shown.text(record.finish_reason or "", 60),
        "state_source": graded.state_source.value,
        "differences": graded.differences,
        "steps": len(record.steps),
        "tool_calls": len(calls),
        "tool_errors": sum(step.error is not None for step in record.steps),
        "write_calls": len(graded.write_steps),
        "model_calls": usage.calls if usage else None,
        "input_tokens": _tokens(usage.input) if usage else None,
        "cached_tokens": _tokens(usage.cached) if usage else None,
        "cache_write_tokens": _tokens(usage.cache_write) if usage else None,
        "usage_beside": usage.beside if usage else False,
        "output_tokens": _tokens(usage.output) if usage else None,
        "reasoning_tokens": _tokens(usage.reasoning) if usage else None,
        "duration": record.duration if record.duration is not None and 0 <= record.duration < _MOST_SECONDS else None,
        **_turns(record),
    }


def _turns(record: AttemptRecord) -> dict[str, int]:
    """Counts as `tb agg` makes them: a text of the agent, a thought too, is a turn, and so is a tool's response."""
    texts = [step for step in record.steps if step.kind in {StepKind.MESSAGE, StepKind.THOUGHT}]
    spoken = sum(len(step.content or "") for step in texts)
    answered = [step for step in record.steps if step.kind in {StepKind.CALL, StepKind.RESPONSE}]
    return {
        "assistant_turns": sum(step.role == "assistant" for step in texts),
        "user_turns": sum(step.role == "user" for step in texts),
        "tool_turns": sum(step.content is not None for step in answered),
        "characters": spoken + len(record.instructions or "") + len(record.policy or ""),
    }


def _evidence(record: AttemptRecord, graded: GradedAttempt, refs: list[PartRef]) -> Evidence:
    failed = record.verdict is Verdict.FAILED
    return Evidence(
        graded=graded,
        parts=refs,
        diagnosis=classify(record, graded),
        claim=read_claim(record, graded) if failed else None,
        error=classify_error(record),
    )


def _quoting(
    reader: Reader, raw: RawRecord, record: AttemptRecord, graded: GradedAttempt, refs: list[PartRef]
) -> Evidence:
    """The same for a row with secrets, with quotes from the masked row: a quote may cut a secret in two, and of half of
    one nobody could tell what it is. What masking would change in the findings themselves is said without a quote.
    """
    found = _evidence(record, graded, refs)
    shown = _evidence(reader.read(mask_bytes(raw.text).text).record, mask_graded(graded), refs)
    diagnosis, claim, error = found.diagnosis, found.claim, found.error
    if diagnosis is not None:
        other = shown.diagnosis
        same = other is not None and (other.signature, other.labels) == (diagnosis.signature, diagnosis.labels)
        diagnosis = other if same else msgspec.structs.replace(diagnosis, evidence=[])
    if claim is not None:
        words = "" if shown.claim is None or shown.claim.step != claim.step else shown.claim.words
        claim = msgspec.structs.replace(claim, words=words)
    if error is not None:
        words = "" if shown.error is None or shown.error.kind != error.kind else shown.error.words
        error = msgspec.structs.replace(error, words=words)
    return msgspec.structs.replace(found, diagnosis=diagnosis, claim=claim, error=error)


def _refusal(reader: Reader, raw: RawRecord, error: BadRecord) -> str:
    """Why a row was not read. A reason may quote the row, and cut what it quotes: it is taken from the masked row."""
    masked = mask_bytes(raw.text)
    if masked.found:
        try:
            reader.read(masked.text)
        except BadRecord as other:
            error = other
    where = f"{error.field}: " if error.field else ""
    return mask_text(f"{where}{error.reason}")


def _diagnosis_columns(evidence: Evidence) -> dict[str, Any]:
    diagnosis, claim, error = evidence.diagnosis, evidence.claim, evidence.error
    return {
        "signature": diagnosis.signature.value if diagnosis else "",
        "signature_version": diagnosis.version if diagnosis else None,
        "ended_cleanly": claim.ended_cleanly if claim else None,
        "called_write": claim.called_write if claim else None,
        "last_response_ok": claim.last_response_ok if claim else None,
        "claimed_success": claim.claimed_success if claim else None,
        "error_class": error.kind.value if error else "",
        "retryable": error.retryable if error else None,
        "disagrees": any(server.disagrees for server in evidence.graded.servers),
    }


def _failed_rubrics(graded: GradedAttempt, shown: _Shown) -> list[str]:
    failed = (check for check in graded.checks if check.kind is CheckKind.RUBRIC and check.passed is False)
    return sorted({shown.text(check.name, _QUESTION) for check in failed})


def _tokens(count: int) -> int | None:
    """A count that cannot be one (negative, or beyond any model's life) is unknown; the payload keeps what the row
    says.
    """
    return count if 0 <= count < _MOST_TOKENS else None


def _effect_row(effect: Effect) -> EffectRow:
    return EffectRow(
        kind=effect.kind.value,
        table=indexed_text(effect.table, _NAME),
        key=indexed_text(effect.key, _NAME),
        field=indexed_text(effect.field or "", _NAME),
        after=_short(effect.after),
        required=_short(effect.required),
    )


def _short(value: Any) -> str:
    if value is msgspec.UNSET:
        return ""
    return indexed_text(canonical_json(value).decode(), _SHORT)


def _tool_rows(record: AttemptRecord, shown: _Shown) -> list[ToolRow]:
    calls: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    for step in record.steps:
        if step.kind is StepKind.CALL:
            name = shown.text(step.name or "", _NAME)
            calls[name] += 1
            errors[name] += step.error is not None
    return [ToolRow(name, count, errors[name]) for name, count in sorted(calls.items())]
