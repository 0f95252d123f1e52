"""The harness's test: the states compared by hash, then the yes/no questions to a judge, in the words it records."""

from __future__ import annotations

import functools
import zlib
from typing import Any

from runs.demo import tooling
from runs.demo.benchmark import task_of, tools_of
from runs.demo.states import Databases, difference_report, positional_diff, stable, state_hash
from runs.demo.task import Spoiled, Task
from runs.demo.world import fresh

_ROOT = "/srv/eval"
_RUNNER = f'  File "{_ROOT}/harness/testrunner.py", line 218, in evaluate\n    exec(self.code, names, names)\n'
_STATE_LINE = "        assert False, report"
_RUBRIC_LINE = '        assert judge.text_yesno(x.response, rubric), f"Rubric yesno failed: {rubric}"'


def required_states(task: Task) -> Databases:
    """The databases after the task's own calls on a fresh copy."""
    databases = fresh()
    tools = tools_of(task.domain)
    for one in task.writes:
        answer = tooling.call(tools, databases, one.tool, one.arguments)
        if answer.failed:
            raise ValueError(f"The required call {one.tool} of {task.uid} fails: {answer.content}")
    return databases


@functools.cache
def _required(uid: str) -> Databases:
    return required_states(task_of(uid))


def effects(task: Task, after: Databases) -> dict[str, dict[str, Any]]:
    """What the tool servers report: three states each, two hashes, and the differences by position."""
    before, required = fresh(), _required(task.uid)
    report: dict[str, dict[str, Any]] = {}
    for server in before:
        result, golden = stable(server, after[server]), stable(server, required[server])
        report[server] = {
            "initial_db_state": before[server],
            "result_db_state": after[server],
            "result_db_hash": state_hash(server, after[server]),
            "golden_db_state": required[server],
            "golden_db_hash": state_hash(server, required[server]),
            "diff": positional_diff(result, golden),
            "rubrics": {} if task.rubrics else None,
        }
        if task.rubrics:
            report[server]["rubrics_yesno"] = [rubric.question for rubric in task.rubrics] if server == "desk" else []
    return report


def _line(task: Task, offset: int) -> int:
    """A line number that stays the same for a task."""
    return 1_000 + zlib.crc32(task.uid.encode()) % 4_000 + offset


def _traceback(task: Task, function: str, line: int, last: str) -> str:
    return (
        "Traceback (most recent call last):\n"
        f"{_RUNNER}"
        f'  File "<string>", line {_line(task, 700)}, in <module>\n'
        f'  File "<string>", line {_line(task, 0)}, in {task.name}\n'
        f'  File "<string>", line {line}, in {function}\n'
        f"{last}"
    )


def _result(
    passed: bool, *, broke: bool = False, tb: str = "", line: int = -1, content: str = "", prints: str = ""
) -> dict[str, Any]:
    return {
        "result": passed,
        "reward": 1.0 if passed else 0.0,
        "is_system_error": broke,
        "tb": tb,
        "prints": prints,
        "lineno": line,
        "line_content": content,
        "metadata": {"judge_motivation": None},
    }


def grade(task: Task, report: dict[str, dict[str, Any]], response: str, broken: str = "") -> dict[str, Any]:
    """The test result for these effects and this answer. `broken` is `judge` or `test` when the test itself breaks."""
    prints = ""
    for server, effect in report.items():
        if broken == "test":
            last = "KeyError: 'handover_note'\n"
            line = '    note = x.metadata["handover_note"]'
            return _result(
                False,
                broke=True,
                tb=_traceback(task, "validate_handover", 61, last),
                line=61,
                content=line,
                prints=prints,
            )
        if effect["result_db_hash"] != effect["golden_db_hash"]:
            text = difference_report(effect["result_db_hash"], effect["golden_db_hash"], effect["diff"])
            tb = _traceback(task, "validate_database", 38, f"AssertionError: {text}\n")
            return _result(False, tb=tb, line=38, content=_STATE_LINE, prints=prints)
        if task.rubrics:
            prints += f"{server}: state as required\n"
    if not task.rubrics:
        return _result(True)
    if broken == "judge":
        last = (
            f'  File "{_ROOT}/harness/judge.py", line 131, in text_yesno\n    raise HarnessError(message) from error\n'
            "harness.errors.HarnessError: {'message': 'the judge is overloaded, try again', 'type': 'server_error'}\n"
        )
        return _result(
            False,
            broke=True,
            tb=_traceback(task, "validate_rubrics_yesno", 47, last),
            line=47,
            content=_RUBRIC_LINE,
            prints=prints,
        )
    return _judged(task, response, prints)


def _judged(task: Task, response: str, prints: str) -> dict[str, Any]:
    """Judging stops at the first No."""
    spoiled: Spoiled | None = next((entry for entry in task.spoiled if entry.answer == response), None)
    answers: list[dict[str, Any]] = []
    for number, rubric in enumerate(task.rubrics):
        good = spoiled is None or spoiled.rubric != number
        reason = rubric.yes if spoiled is None or good else spoiled.no
        answers.append({"question": rubric.question, "answer": good, "motivation": reason})
        if not good:
            last = f"AssertionError: Rubric yesno failed: {rubric.question}\n"
            result = _result(
                False,
                tb=_traceback(task, "validate_rubrics_yesno", 47, last),
                line=47,
                content=_RUBRIC_LINE,
                prints=prints,
            )
            break
    else:
        result = _result(True, prints=prints)
    result["metadata"]["judge_motivation"] = answers
    return result
