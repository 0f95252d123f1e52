from __future__ import annotations

import time

import pytest

from runs.errorclasses import ERROR_CLASS_TITLES, ErrorClass, ErrorDiagnosis, classify_error
from runs.records import AttemptRecord, ErrorReason, TestResult, Verdict
from tests.runs.paper_cases import attempt

WRAP = "RuntimeError: Error during decoding turn 0 for test case f.py:test: "
USER = "RuntimeError: Error during user LLM simulation for test case f.py:test: "
INIT = (
    'ThinkingBoxError: {"success":false,"content":{"type":"text","value":"Error calling desk init: {\\"status\\": '
    '\\"error\\", \\"message\\": \\"Data patch validation failed: Unknown table \'x\'\\", \\"tb\\": \\"...\\"}"}}'
)
STATUS = "httpx.HTTPStatusError: {} error '{}' for url 'http://10.0.0.1:8001/v1/chat/completions'"


def system(said: str, traceback: str = "") -> AttemptRecord:
    return attempt(verdict=Verdict.ERROR, reason=ErrorReason.SYSTEM, error=said, error_traceback=traceback)


def grader(traceback: str) -> AttemptRecord:
    test = TestResult(passed=False, broke=True, traceback=f'Traceback\n  File "<string>", line 2, in t\n{traceback}\n')
    return attempt(verdict=Verdict.ERROR, reason=ErrorReason.GRADER, test=test)


def http(kind: str, status: str) -> str:
    return STATUS.format(kind, status)


SYSTEM = {
    "the endpoint answers 500": (
        system(f"{WRAP}{{'message': 'The server broke.', 'type': 'server_error'}}", http("Server", "500 Internal")),
        (ErrorClass.AGENT_ENDPOINT, True, 500, "The server broke."),
    ),
    "without a traceback": (
        system(f"{WRAP}{{'message': 'The server broke.', 'type': 'server_error'}}"),
        (ErrorClass.AGENT_ENDPOINT, True, None, "The server broke."),
    ),
    "the endpoint refuses the request": (
        system(f"{WRAP}{{'message': 'Too long.', 'type': 'invalid_request_error'}}", http("Client", "400 Bad Request")),
        (ErrorClass.AGENT_ENDPOINT, False, 400, "Too long."),
    ),
    "the endpoint asks to wait": (
        system(f"{WRAP}slow down", http("Client", "429 Too Many Requests")),
        (ErrorClass.AGENT_ENDPOINT, True, 429, "slow down"),
    ),
    "the endpoint takes too long": (
        system(f"{WRAP}", "httpx.ReadTimeout\n"), (ErrorClass.AGENT_ENDPOINT, True, None, ""),
    ),
    "the simulated user": (
        system(f"{USER}{{'message': 'upstream connect error', 'type': 'server_error'}}", http("Server", "500 Oh")),
        (ErrorClass.SIMULATED_USER, True, 500, "upstream connect error"),
    ),
    "the simulated user's key": (
        system(f"{USER}no key", http("Client", "401 Unauthorized")),
        (ErrorClass.SIMULATED_USER, False, 401, "no key"),
    ),
    "the sandbox refuses its data": (
        system(INIT, http("Client", "400 Bad Request")),
        (ErrorClass.SANDBOX_SETUP, False, 400, "Data patch validation failed: Unknown table 'x'"),
    ),
    "the sandbox does not answer": (
        system("ConnectError: All connection attempts failed", 'File "m.py", in session_create\nhttpx.ConnectError'),
        (ErrorClass.SANDBOX_SETUP, True, None, "ConnectError: All connection attempts failed"),
    ),
    "the harness cannot take the answer": (
        system(f"{WRAP}1 validation error for ToolCall\narguments", "in _decode_message\nValidationError"),
        (ErrorClass.HARNESS, True, None, "1 validation error for ToolCall arguments"),
    ),
    "a tool server does not answer": (
        system(f"{WRAP}gone", 'File "/a/agent_session.py"\nFile "/a/mcp_proxy_client.py"\nhttpx.ReadTimeout'),
        (ErrorClass.HARNESS, True, None, "gone"),
    ),
    "something else in a turn": (system(f"{WRAP}'name'"), (ErrorClass.HARNESS, False, None, "'name'")),
    "something else": (system("KeyError: 'x'"), (ErrorClass.HARNESS, False, None, "KeyError: 'x'")),
    "nothing said": (system(""), (ErrorClass.HARNESS, False, None, "")),
    "the judge does not answer": (
        grader("JudgeException: Error getting Judge completion: {'message': 'overloaded', 'type': 'server_error'}"),
        (ErrorClass.JUDGE, True, None, "overloaded"),
    ),
    "the judge's answer cannot be read": (
        grader("x.JudgeException: no answer"), (ErrorClass.JUDGE, False, None, "x.JudgeException: no answer"),
    ),
    "the test raises": (grader("KeyError: 'k'"), (ErrorClass.GRADER, False, None, "KeyError: 'k'")),
    "the test takes too long": (
        grader("TimeoutError: too long"), (ErrorClass.GRADER, True, None, "TimeoutError: too long"),
    ),
    "the test left no trace": (
        attempt(verdict=Verdict.ERROR, reason=ErrorReason.GRADER), (ErrorClass.GRADER, False, None, ""),
    ),
    "not graded": (
        attempt(verdict=Verdict.ERROR, reason=ErrorReason.NOT_GRADED), (ErrorClass.NOT_GRADED, False, None, ""),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SYSTEM)
def test_the_class_of_an_error(name: str) -> None:
    record, (kind, retryable, status, words) = SYSTEM[name]
    assert classify_error(record) == ErrorDiagnosis(kind=kind, retryable=retryable, status=status, words=words)


def test_a_failure_is_no_error() -> None:
    assert [classify_error(attempt()), classify_error(attempt(verdict=Verdict.PASSED))] == [None, None]


def test_no_address_is_shown() -> None:
    error = classify_error(system("Error: cannot reach http://10.0.0.1:8001/v1?key=secret now"))
    assert error is not None
    assert error.words == "Error: cannot reach (address) now"


def test_each_class_has_a_title() -> None:
    assert list(ERROR_CLASS_TITLES) == list(ErrorClass)


def test_a_huge_traceback_is_read_at_its_ends() -> None:
    begun = time.perf_counter()
    error = classify_error(system(WRAP + "'message': \"" * 200_000, "a" * 5_000_000 + http("Server", "503 Busy")))
    assert error is not None
    assert (error.kind, error.status) == (ErrorClass.AGENT_ENDPOINT, 503)
    assert time.perf_counter() - begun < 2
