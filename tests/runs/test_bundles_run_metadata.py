"""The companion of a result file, and what file names suggest."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import yaml

from runs.bundles.run_metadata import companion_name, read_run_metadata, suggest_benchmark, suggest_model
from runs.errors import BundleError
from runs.records import BundleHeader
from tests.bundles import FOLDER

COMPANION = (FOLDER / "one-result_run_metadata.yaml").read_bytes()


def test_the_allow_list_and_nothing_else_is_taken() -> None:
    header = read_run_metadata(COMPANION)
    assert header == BundleHeader(
        model="aster-large",
        parameters={
            "temperature": 1.0,
            "max_completion_tokens": 4096,
            "reasoning_effort": "high",
            "is_reasoning": True,
            "parallel_tool_calls": True,
            "api": "aoai",
            "agent_kind": "thinkingbox",
            "judge_model": "judge-1",
            "judge_type": "motivation",
            "user_model": "user-1",
        },
        started_at="2026-11-29T12:56:19.365315+00:00",
        duration=13.5,
    )
    assert COMPANION.count(b"PLANTED-SECRET") >= 7
    assert b"PLANTED-SECRET" not in msgspec.json.encode(header)


def test_a_structure_where_a_plain_value_belongs_is_left_out() -> None:
    document = yaml.safe_load(COMPANION)
    agent = document["setup_config"]["orchestrator"]["agent_model"]
    agent |= {"reasoning_effort": {"api_key": "PLANTED-SECRET"}, "temperature": [1.0], "seed": "x" * 300}
    document["setup_config"] |= {"judge_type": ["PLANTED-SECRET"], "judge_model": "PLANTED-SECRET", "user_model": None}
    header = read_run_metadata(yaml.safe_dump(document).encode())
    assert header is not None
    assert header.parameters == {
        "max_completion_tokens": 4096,
        "is_reasoning": True,
        "parallel_tool_calls": True,
        "api": "aoai",
        "agent_kind": "thinkingbox",
    }


def test_the_older_place_of_the_agent_model() -> None:
    content = b"setup_config:\n  agent_model: {deployment: old-model, seed: 7}\nrun_start_dt: soon\n"
    assert read_run_metadata(content) == BundleHeader(model="old-model", parameters={"seed": 7})


def test_other_yaml_is_no_companion() -> None:
    for content in (b"a: 1\n", b"- 1\n", b"", b"setup_config: 5\n", (FOLDER / "one-result.yaml").read_bytes()):
        assert read_run_metadata(content) is None


@pytest.mark.parametrize(
    "content",
    [
        b"a: [1,\n",
        b"a: \xff\n",
        b"a: 2025-13-45\n",
        b"a: !!python/object/apply:os.system [ls]\n",
        b"a: &x {b: 1}\nc: {<<: *x}\n",
        b"a: " + b"[" * 20_000,
        b"x" * (3 << 20),
    ],
)
def test_broken_or_hostile_yaml_is_an_error(content: bytes) -> None:
    with pytest.raises(BundleError, match="run metadata"):
        read_run_metadata(content)


@pytest.mark.parametrize(
    ("file_name", "companion", "model", "benchmark"),
    [
        ("smoke.jsonl.gz", "smoke_run_metadata.yaml", None, "smoke"),
        (
            "retail-20x.aster-large.jsonl.zst",
            "retail-20x.aster-large_run_metadata.yaml",
            "aster-large",
            "retail-20x",
        ),
        (
            "retail-20x.aster-large.retry.jsonl.zst",
            "retail-20x.aster-large.retry_run_metadata.yaml",
            "aster-large",
            "retail-20x",
        ),
        ("runs/today/bench.gpt-5.5.JSONL", "bench.gpt-5.5_run_metadata.yaml", "gpt-5.5", "bench"),
        ("C:\\runs\\single.yaml", "single_run_metadata.yaml", None, "single"),
        ("single_run_metadata.yaml", "single_run_metadata.yaml", None, "single"),
        (".jsonl", "_run_metadata.yaml", None, None),
        (" .jsonl", " _run_metadata.yaml", None, None),
        (f"b.{'m' * 240}.jsonl", f"b.{'m' * 240}_run_metadata.yaml", "m" * 198, "b"),
        (f"{'b' * 240}.jsonl", f"{'b' * 240}_run_metadata.yaml", None, "b" * 200),
        ("a\nb\x1b.\u202em \u2028.jsonl", "a\nb\x1b.\u202em \u2028_run_metadata.yaml", "m", "a b"),
    ],
)
def test_what_a_file_name_suggests(file_name: str, companion: str, model: str | None, benchmark: str | None) -> None:
    suggested = (companion_name(file_name), suggest_model(file_name), suggest_benchmark(file_name))
    assert suggested == (companion, model, benchmark)


@pytest.mark.shared
def test_each_reference_result_file_names_its_model(shared: Path) -> None:
    companions = sorted((shared / "bundles").glob("*/*_run_metadata.yaml"))
    assert len(companions) == 16
    for path in companions:
        header = read_run_metadata(path.read_bytes())
        assert header is not None
        suggested = suggest_model(path.name)
        expected = suggested or {"smoke": "delta-medium", "variants": "cedar-8b"}[path.parent.name]
        assert (header.model, header.started_at is None, header.duration is None) == (expected, False, False)
