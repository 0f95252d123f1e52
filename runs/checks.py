"""The executable conditions of an attempt: state comparison, failing assertion, rubric questions, with outcomes."""

from __future__ import annotations

from collections.abc import Sequence

from runs.records import AttemptRecord, Check, CheckKind, Effect, ServerStates, TestResult
from runs.reported import differences_start, recorded_hashes

__all__ = ["build_checks", "failure_message"]

_RUBRIC = "Rubric yesno failed: "


def build_checks(record: AttemptRecord, effects: Sequence[Effect]) -> list[Check]:
    """All checks of an attempt: state comparisons, then the failing assertion, then rubric questions in the order in
    which they are asked.
    """
    message = failure_message(record.test.traceback) if record.test is not None else ""
    failed_question = message.removeprefix(_RUBRIC) if message.startswith(_RUBRIC) else None
    return [
        *_state_checks(record, effects, state_held=failed_question is not None),
        *_assertion(record.test, message),
        *_rubrics(record, failed_question),
    ]


def failure_message(traceback: str) -> str:
    """The message of the exception that a traceback ends with, without its type when it is a plain assertion, and
    without the list of differences. Empty when there is no traceback.
    """
    lines = traceback.strip("\n").split("\n")
    # The exception is the last line that starts a block of its own after the frames; an assertion message can go over
    # many lines.
    last_frame = max((number for number, line in enumerate(lines) if line.startswith("  File ")), default=-1)
    start = next((number for number in range(last_frame + 1, len(lines)) if lines[number][:1] not in ("", " ")), None)
    if start is None:
        return ""
    rest = lines[start:]
    end = differences_start(rest)
    text = "\n".join(rest if end is None else rest[:end]).strip()
    kept = [line for line in text.split("\n") if not line.startswith(("Result hash: ", "Golden hash: "))]
    return "\n".join(kept).strip().removeprefix("AssertionError: ")


def _state_checks(record: AttemptRecord, effects: Sequence[Effect], *, state_held: bool) -> list[Check]:
    if record.servers:
        return [_server_check(server, states, effects) for server, states in record.servers.items()]
    if record.test is None or record.test.broke:
        return []
    hashes = recorded_hashes(record.test.traceback)
    if hashes.after is not None and hashes.required is not None:
        count = sum(effect.counts for effect in effects)
        return [
            Check(
                kind=CheckKind.STATE,
                name=record.scenario,
                passed=hashes.after == hashes.required,
                message=f"The check reports {_differences(count)}. The states themselves are not recorded.",
                after_hash=hashes.after,
                required_hash=hashes.required,
            )
        ]
    if record.test.passed or state_held:
        message = "The check found no difference. The states themselves are not recorded."
        return [Check(kind=CheckKind.STATE, name=record.scenario, passed=True, message=message)]
    return []


def _server_check(server: str, states: ServerStates, effects: Sequence[Effect]) -> Check:
    count = sum(effect.counts for effect in effects if effect.server == server)
    hashed = states.after_hash is not None and states.required_hash is not None
    passed: bool | None = None
    if hashed:
        passed = states.after_hash == states.required_hash
    elif states.recorded:
        passed = count == 0
    if passed is None:
        message = "The states are not recorded."
    elif passed == (count == 0) or not states.recorded:
        message = "The state is as required." if passed else f"The state is not as required: {_differences(count)}."
    else:
        message = (
            f"The hashes are {'equal' if passed else 'different'}, but the comparison finds {_differences(count)}."
        )
    if passed is not None and not hashed:
        message += " No hashes are recorded."
    return Check(
        kind=CheckKind.STATE,
        name=server,
        passed=passed,
        message=message,
        after_hash=states.after_hash,
        required_hash=states.required_hash,
    )


def _differences(count: int) -> str:
    return f"{count} difference" if count == 1 else f"{count or 'no'} differences"


def _assertion(test: TestResult | None, message: str) -> list[Check]:
    """The assertion that failed; with a test that broke its outcome is unknown."""
    if test is None or (test.passed and not test.broke) or not (message or test.line_content):
        return []
    name = test.line_content.strip() or message.partition("\n")[0]
    passed = None if test.broke else False
    return [Check(kind=CheckKind.ASSERTION, name=name, passed=passed, message=message, line=test.line)]


def _rubrics(record: AttemptRecord, failed_question: str | None) -> list[Check]:
    """The rubric questions with the judge's answers.

    Judging stops at the first No, and begins only when the state is as required.
    """
    judgements = {}
    for entry in (record.test.judgements if record.test is not None else None) or []:
        question, answer, motivation = entry.get("question"), entry.get("answer"), entry.get("motivation")
        if isinstance(question, str) and isinstance(answer, bool):
            judgements[question] = (answer, motivation if isinstance(motivation, str) else None)
    asked_last = failed_question
    questions = list(dict.fromkeys([q for states in record.servers.values() for q in states.rubrics] + [*judgements]))
    if failed_question is not None and failed_question not in questions:
        # The message may go on behind the question.
        asked_last = next(
            (question for question in questions if question and failed_question.startswith(question)), None
        )
        if asked_last is None:
            asked_last = failed_question
            questions.append(failed_question)
    all_held = record.test is not None and record.test.passed and not record.test.broke
    still_asked = all_held or asked_last is not None
    checks = []
    for question in questions:
        passed: bool | None = None
        if question in judgements:
            passed, motivation = judgements[question]
        else:
            motivation = None
            if still_asked:
                passed = question != asked_last
        if question == asked_last:
            passed, still_asked = False, False
        checks.append(Check(kind=CheckKind.RUBRIC, name=question, passed=passed, motivation=motivation))
    return checks
