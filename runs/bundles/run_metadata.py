"""The companion `<name>_run_metadata.yaml`, the only place that names the model, and what file names suggest.

The companion also holds endpoints, credentials and headers. What is taken is an allow-list of plain values by exact
path, so nothing else of the file is ever kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any

import yaml

from runs.bundles.fields import as_number
from runs.errors import BundleError
from runs.naming import LONGEST_NAME
from runs.records import BundleHeader

__all__ = [
    "AGENT_PARAMETERS", "COMPANION_END", "LONGEST_COMPANION", "companion_name", "plain_value", "read_beside",
    "read_run_metadata",
    "suggest_benchmark", "suggest_model",
]  # fmt: skip

LONGEST_COMPANION = 2 << 20
"""Bytes."""
_LONGEST_NAME = 255
"""Bytes of a file's name."""
_LONGEST = 200
COMPANION_END = "_run_metadata.yaml"
_COMPRESSIONS = (".gz", ".zst", ".xz")
_RESULTS = (".jsonl", ".json", ".yaml", ".yml")
_RETRY = re.compile(r"\.(?:retry|part|shard)[-_]?\d*$")

AGENT_PARAMETERS = (
    "temperature", "max_completion_tokens", "reasoning_effort", "is_reasoning", "seed", "parallel_tool_calls", "top_p",
    "top_k",
)  # fmt: skip


def read_run_metadata(data: bytes) -> BundleHeader | None:
    """What the companion says of the run; None when the file is another kind of YAML.

    Raises `BundleError` when it is no YAML, or larger than such a file ever is.
    """
    if len(data) > LONGEST_COMPANION:
        raise BundleError(f"The run metadata has {len(data):,} bytes; more than {LONGEST_COMPANION:,} are not read.")
    document = _load(data)
    setup = document.get("setup_config") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(setup, dict):
        return None
    orchestrator = _mapping(setup.get("orchestrator"))
    agent = _mapping(orchestrator.get("agent_model")) or _mapping(setup.get("agent_model"))
    judge, user = _mapping(setup.get("judge_model")), _mapping(setup.get("user_model"))
    found = {name: agent.get(name) for name in AGENT_PARAMETERS} | {
        "api": agent.get("type"),
        "agent_kind": orchestrator.get("type"),
        "judge_model": judge.get("deployment"),
        "judge_type": setup.get("judge_type"),
        "user_model": user.get("deployment"),
    }
    parameters = {name: value for name, given in found.items() if (value := plain_value(given)) is not None}
    return BundleHeader(
        model=_text(agent.get("deployment")),
        parameters=parameters,
        started_at=_instant(document.get("run_start_dt")),
        duration=as_number(document.get("run_duration (sec)")),
    )


def companion_name(file_name: str) -> str:
    """The companion that the harness writes beside a result file: `smoke.jsonl.gz` → `smoke_run_metadata.yaml`."""
    return _stem(file_name) + COMPANION_END


def read_beside(path: Path, *, links: bool = True) -> bytes | None:
    """The companion beside a result file, one byte more of it than is read at most; None where there is none.

    `links`: whether one that is a link is read.
    """
    beside = path.with_name(companion_name(path.name))
    if len(os.fsencode(beside.name)) > _LONGEST_NAME:  # no such file can be there
        return None
    if not beside.is_file() or (beside.is_symlink() and not links):
        return None
    with beside.open("rb") as file:
        return file.read(LONGEST_COMPANION + 1)


def suggest_model(file_name: str) -> str | None:
    """A model's name for a person to confirm, from `<benchmark>.<model>.jsonl`; None when the name has no such part."""
    _, dot, model = _plain(_RETRY.sub("", _stem(file_name))).partition(".")
    return model.strip() if dot and model.strip() else None


def suggest_benchmark(file_name: str) -> str | None:
    """A benchmark's name for a person to confirm, from `<benchmark>.<model>.jsonl`; None for an empty name."""
    return _plain(_stem(file_name).partition(".")[0]) or None


def _stem(file_name: str) -> str:
    name = PurePath(file_name.replace("\\", "/")).name
    for endings in (_COMPRESSIONS, _RESULTS):
        ending = next((ending for ending in endings if name.lower().endswith(ending)), "")
        name = name[: len(name) - len(ending)]
    return name.removesuffix(COMPANION_END.removesuffix(".yaml"))


def _plain(name: str) -> str:
    """Without what no name may have: line breaks, control characters, spaces around it, more than 200 characters."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in name).split())[:LONGEST_NAME].strip()


class _Loader(yaml.CSafeLoader):
    """Plain values. Merge keys, which the harness never writes, could grow without end in a hostile file."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        return


def _load(data: bytes) -> Any:
    try:
        return yaml.load(data, Loader=_Loader)  # noqa: S506 (a safe loader)
    except yaml.YAMLError as error:
        where = str(error).splitlines()[0]
        raise BundleError(f"The run metadata is not valid YAML: {where}.") from error
    except (ValueError, RecursionError) as error:  # an impossible date, bytes that are no UTF-8, endless nesting
        raise BundleError("The run metadata is not valid YAML, or nested too deeply to be read.") from error


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def plain_value(value: Any) -> str | bool | int | float | None:
    """A short plain value as it is; None for everything else, so that no structure slips in."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return None if as_number(value) is None else value
    return _text(value)


def _text(value: Any) -> str | None:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST or "\0" in value:
        return None
    return value.strip()


def _instant(value: Any) -> str | None:
    if isinstance(value, datetime):
        return value.isoformat()
    if not isinstance(value, str):
        return None
    try:
        return datetime.fromisoformat(value).isoformat()
    except ValueError:
        return None
