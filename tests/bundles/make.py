"""Writes the sample files of this folder, one per trouble: `uv run python -m tests.bundles.make`."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import yaml
import zstandard

from tests.factories import Outcome, make_row

FOLDER = Path(__file__).parent
GOOD: tuple[tuple[int, int, Outcome], ...] = (
    (1, 0, "failed"),
    (1, 1, "passed"),
    (2, 0, "system"),
    (2, 1, "grader"),
    (3, 0, "not_graded"),
    (3, 1, "passed"),
)
UID = "rental_desk_group1.py:test_return_00{}"


def main() -> None:
    for name, content in samples().items():
        (FOLDER / name).write_bytes(content)


def samples() -> dict[str, bytes]:
    first, second = line(make_row()), line(make_row(repetition=1, outcome="passed"))
    good = b"".join(
        line(make_row(uid=UID.format(task), repetition=repetition, outcome=outcome))
        for task, repetition, outcome in GOOD
    )
    metadata = make_row()["metadata"]
    return {
        "good.jsonl": good,
        "good.jsonl.gz": gzip.compress(good, mtime=0),
        "good.jsonl.zst": zstandard.compress(good[:9000]) + zstandard.compress(good[9000:]),
        "cut.jsonl.gz": cut_gzip(good),
        "cut.jsonl.zst": cut_zstd(good),
        "no-states.jsonl": line(make_row(states=False)) + line(make_row(repetition=1, states=False, outcome="passed")),
        "not-graded.jsonl": line(make_row(outcome="not_graded")),
        "truncated.jsonl": first + second[:700],
        "blank-lines.jsonl": b"\n" + first + b"  \r\n\n" + second.replace(b"\n", b"\r\n") + b"\n",
        "not-json.jsonl": first + b"Traceback (most recent call last):\n" + b'{"uid": "x",, "messages": []}\n' + second,
        "not-object.jsonl": first + b'[1, 2]\n"text"\n17\nnull\n' + second,
        "wrong-types.jsonl": b"".join(
            line(row)
            for row in (
                make_row() | {"uid": 5},
                make_row(messages={"T": "Text"}),
                make_row(metadata=metadata | {"repetition": "0"}),
                make_row(metadata=metadata | {"repetition": True}),
                make_row(metadata=metadata | {"repetition": -1}),
                make_row(metadata={"scenario": "rental_desk"}),
                make_row(messages=[{"role": "user", "content": "no kind"}]),
                make_row(test_result={"result": "yes"}),
                make_row(is_system_error="no"),
                make_row(usage={"input_tokens": 1}),
                make_row(test_context=[]),
                make_row(test_context={"effects": {"rental_desk": {"result_db_state": {"rentals": {"7": {}}}}}}),
            )
        ),
        "nan.jsonl": changed(first, b'"execution_time":3.25', b'"execution_time":NaN,"load":[Infinity,-Infinity]'),
        "numbers.jsonl": changed(
            first,
            b'"deposit":40.0',
            b'"deposit":0.1000000000000000055511,"serial":123456789012345678901234567890,"volume":1e400',
        ),
        "duplicate-keys.jsonl": changed(first, b'"finish_reason":"done"', b'"finish_reason":"a","finish_reason":"b"'),
        "bom.jsonl": b"\xef\xbb\xbf" + first,
        "utf-16.jsonl": first.decode().encode("utf-16"),
        "bad-utf-8.jsonl": changed(first, b"concrete mixer back", b"concrete \xff mixer back") + second,
        "bad-utf-8-in-state.jsonl": changed(first, b'"Ada Winter"', b'"Ada \xc3\x28"') + second,
        "surrogate.jsonl": changed(
            first, b"The mixer is booked in.", b"The mixer \\ud83d is booked in \\ud83d\\ude00."
        ),
        "nul.jsonl": changed(first, b"concrete mixer back", b"concrete\\u0000mixer back"),
        "empty.jsonl": b"",
        "only-blank-lines.jsonl": b"\n\n  \n",
        "picture.jsonl": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00",
        "archive.zip": archive(good),
        "same-place.jsonl": first + line(make_row(finish_reason="user_limit")),
        "gap.jsonl": first + line(make_row(repetition=2)),
        "unknown-fields.jsonl": changed(first, b'"finish_reason":', b'"shard":{"index":3,"of":[4]},"finish_reason":'),
        "one-result.yaml": one_result(),
        "one-result_run_metadata.yaml": companion(),
    }


def line(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def cut_gzip(content: bytes) -> bytes:
    """The file up to the middle of its third line."""
    lines = content.splitlines(keepends=True)
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(b"".join(lines[:2]) + lines[2][:600]) + packer.flush(zlib.Z_SYNC_FLUSH)
    return packed + packer.compress(content) + packer.flush(zlib.Z_SYNC_FLUSH)[:9]


def cut_zstd(content: bytes) -> bytes:
    """The file up to the middle of its third line."""
    lines = content.splitlines(keepends=True)
    packer = zstandard.ZstdCompressor().compressobj()
    packed = packer.compress(b"".join(lines[:2]) + lines[2][:600])
    packed += packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    return packed + packer.compress(content) + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)[:9]


def changed(text: bytes, old: bytes, new: bytes) -> bytes:
    assert old in text, old
    return text.replace(old, new)


def archive(content: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(zipfile.ZipInfo("good.jsonl", (2025, 1, 1, 0, 0, 0)), content)
    return target.getvalue()


def one_result() -> bytes:
    row = make_row()
    row["metadata"] |= {"opened": "2025-05-02", "code": "0x1F", "shift": "12:30", "answer": "no", "mass": "1e5"}
    return yaml.safe_dump(row, sort_keys=False).encode()


def companion() -> bytes:
    model = {
        "type": "aoai",
        "credential": {"type": "api-key", "api_key": "PLANTED-SECRET-1"},
        "headers": {"Authorization": "Bearer PLANTED-SECRET-2"},
        "endpoint_url": "http://PLANTED-SECRET-3.example/v1",
        "account_name": "PLANTED-SECRET-4",
        "temperature": 1.0,
        "max_completion_tokens": 4096,
        "is_reasoning": True,
        "reasoning_effort": "high",
        "seed": None,
        "parallel_tool_calls": True,
    }
    setup = {
        "mcp_proxy": {"endpoint_url": "http://PLANTED-SECRET-5.example", "headers": {"X-Key": "PLANTED-SECRET-6"}},
        "judge_model": model | {"deployment": "judge-1"},
        "judge_type": "motivation",
        "user_model": model | {"deployment": "user-1"},
        "orchestrator": {"type": "thinkingbox", "agent_model": model | {"deployment": "aster-large"}},
    }
    return yaml.safe_dump(
        {
            "setup_config": setup,
            "agent_config": {"system_instructions": "PLANTED-SECRET-7"},
            "run_start_dt": "2026-11-29T12:56:19.365315Z",
            "run_duration (sec)": 13.5,
        },
        sort_keys=False,
    ).encode()


if __name__ == "__main__":
    main()
