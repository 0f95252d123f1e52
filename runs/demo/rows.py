"""Attempts as rows of a result file, and the metadata that the harness writes beside it."""

from __future__ import annotations

import datetime
import json
import random
import uuid
from collections.abc import Iterator
from typing import Any

import yaml

from runs.demo import scripts
from runs.demo.benchmark import SLUG, TASKS, definitions_of
from runs.demo.episode import Episode
from runs.demo.grader import effects, grade
from runs.demo.models import Model
from runs.demo.task import Task
from runs.demo.world import CONTENT, instructions

_ROOT = "/srv/eval"
_LOOP = f"{_ROOT}/harness/agent_loop.py"

_CRASHES = {
    "agent": (
        "RuntimeError",
        "The model's endpoint answered 500 in turn {turn} of {uid}: {{'message': 'internal error'}}",
        214,
        "run_agent",
    ),
    "user": (
        "RuntimeError",
        "The simulated customer's endpoint answered 503 for {uid}: {{'message': 'connect error'}}",
        194,
        "run_customer",
    ),
    "setup": ("HarnessError", "The tool server 'depot' did not start for {uid}: no answer within 30 s", 88, "create"),
}


def rows(model: Model) -> Iterator[bytes]:
    """The lines of a model's result file, without line ends: tasks in order, each with all repetitions."""
    for task in TASKS:
        for repetition, script in enumerate(model.scripts(task)):
            row = _row(model, task, repetition, script)
            yield json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()


def _row(model: Model, task: Task, repetition: int, script: str) -> dict[str, Any]:
    episode = scripts.episode_of(model, task, repetition)
    ending = scripts.play(episode, script)
    row: dict[str, Any] = {
        "uid": task.uid,
        "messages": [] if ending.crash == "setup" else episode.messages,
        "test_result": None,
        "test_context": None,
        "test_tags": {"labels": [], "category": [], "domain": task.domain, "eval_type": None, "skip": False},
        "tools": None,
        "raw_messages": None,
        "user_llm_history": episode.customer_log if model.private_context else None,
        "usage": episode.usage,
        "metadata": {
            "scenario": f"rental_desk_{task.domain.lower()}",
            "agent": "desk",
            "test_case_file": f"{_ROOT}/rental-desk/dataset/{task.file}",
            "test_case_name": task.name,
            "repetition": repetition,
        },
        "is_system_error": bool(ending.crash),
        "finish_reason": ending.finish_reason,
    }
    if ending.crash:
        row["metadata"]["error"] = _error(ending.crash, task, episode)
        row["metadata"].update(_timers(episode, graded=False, crashed=True))
        return row
    report = effects(task, episode.databases)
    kind, _, argument = script.partition(":")
    if kind != "not_graded":
        row["test_result"] = grade(task, report, episode.last_answer, argument if kind == "grader" else "")
    row["test_context"] = {
        "response": episode.last_answer,
        "tool_direct_responses": episode.direct,
        "effects": report,
        "tool_calls": episode.tool_calls,
        "messages": episode.messages,
        "init_result": {server: {} for server in report},
        "session_id": str(uuid.UUID(int=episode.rng.getrandbits(128), version=4)),
        "metadata": {},
    }
    row["tools"] = definitions_of(task.domain)
    row["metadata"].update(_timers(episode, graded=kind != "not_graded", crashed=False))
    return row


def _timers(episode: Episode, *, graded: bool, crashed: bool) -> dict[str, float]:
    test = round(episode.rng.uniform(0.05, 0.4), 3) if graded else 0.0
    agent, tool, user = (round(part, 3) for part in (episode.agent_seconds, episode.tool_seconds, episode.user_seconds))
    loop = round(agent + tool + user + 0.02, 3)
    timers = {
        "time_tool": tool,
        "time_agent": agent,
        "time_user": user,
        "time_test": test,
        "time_agent_user_loop": loop,
    }
    if crashed:
        timers.update(time_tool=0.0, time_agent=0.0, time_user=0.0)
    return {**timers, "execution_time": round(loop + test + episode.rng.uniform(0.8, 2.5), 3)}


def _error(crash: str, task: Task, episode: Episode) -> dict[str, str]:
    kind, text, line, function = _CRASHES[crash]
    message = text.format(uid=task.uid, turn=sum(message.get("role") == "user" for message in episode.messages) - 1)
    trace = (
        f'Traceback (most recent call last):\n  File "{_LOOP}", line {line}, in {function}\n    raise {kind}(message)\n'
    )
    return {"type": kind, "message": message, "tb": f"{trace}{kind}: {message}\n"}


def run_metadata(model: Model) -> str:
    """The YAML file that the harness writes beside a result file; the only place that names the model."""
    endpoint = {
        "type": "chat",
        "credential": None,
        "headers": None,
        "timeout": 600.0,
        "endpoint_url": "http://127.0.0.1:8001/v1/chat/completions",
    }
    rng = random.Random(model.name)
    document = {
        "setup_config": {
            "mcp_proxy": {
                "endpoint_url": "http://127.0.0.1:7111",
                "timeout": 300.0,
                "credential": None,
                "headers": None,
            },
            "judge_model": {
                **endpoint,
                "deployment": "judge-small",
                "temperature": 0.0,
                "seed": 7,
                "max_completion_tokens": 256,
            },
            "judge_type": "motivation",
            "user_model": {
                **endpoint,
                "deployment": "customer-small",
                "temperature": 0.0,
                "max_completion_tokens": 1024,
            },
            "orchestrator": {
                "type": "desk",
                "agent_model": {
                    **endpoint,
                    "deployment": model.name,
                    "seed": None,
                    "temperature": 1.0,
                    "max_completion_tokens": 4096,
                    "is_reasoning": True,
                    "reasoning_effort": "medium",
                    "parallel_tool_calls": model.parallel,
                },
            },
            "user_can_end_conversation": False,
        },
        "agent_config": {"system_instructions": instructions(), "builtin_tools": []},
        "user_config": {"system_instructions": (CONTENT / "customer.md").read_text("utf-8")},
        "run_start_dt": datetime.datetime.fromisoformat(model.started_at).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "run_duration (sec)": round(rng.uniform(900, 2400), 3),
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)


def file_name(model: Model) -> str:
    """The name of a model's result file, uncompressed and without folder."""
    return f"{SLUG}.{model.name}.jsonl"
