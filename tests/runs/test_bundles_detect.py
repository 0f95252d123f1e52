"""Which reader a file gets: by its content, never by its name."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from runs.bundles import READERS, detect, read_rows, reader_named
from runs.bundles.opening import HEAD_BYTES
from runs.errors import BundleError, UnknownFormat, UnsupportedBundle
from tests.bundles import FOLDER, MAX_LINE
from tests.bundles.make import line
from tests.factories import make_row

KNOWN = (
    "Known are ThinkingBox tb infer (thinkingbox), ThinkingBox tb infer, one result as YAML (thinkingbox-yaml) "
    "and ThinkingBox thinkingbox-eval (OpenEnv) (thinkingbox-openenv), "
    "plain or compressed with gzip, zstd or xz, alone or in a zip or tar archive."
)


def refusal(content: bytes, name: str = "results.jsonl") -> str:
    with pytest.raises(BundleError) as caught:
        read_rows(io.BytesIO(content), name=name, max_line=MAX_LINE)
    return f"{type(caught.value).__name__}: {caught.value}"


def found(content: bytes) -> str:
    return detect(content[:HEAD_BYTES], "results.dat").name


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("good.jsonl", "thinkingbox"),
        ("blank-lines.jsonl", "thinkingbox"),
        ("truncated.jsonl", "thinkingbox"),
        ("unknown-fields.jsonl", "thinkingbox"),
        ("wrong-types.jsonl", "thinkingbox"),
        ("one-result.yaml", "thinkingbox-yaml"),
    ],
)
def test_content_decides(name: str, reader: str) -> None:
    assert found((FOLDER / name).read_bytes()) == reader


def test_broken_first_lines_do_not_hide_the_rows_behind_them() -> None:
    good = line(make_row())
    assert found(b"\n\nTraceback: boom\n{broken\n[]\n" + good) == "thinkingbox"


def test_a_first_line_longer_than_the_head_is_recognised_in_any_order_of_keys() -> None:
    row = make_row()
    row["messages"][1]["content"] = "policy " * 40_000
    backwards = dict(reversed(row.items()))
    for content in (line(row), line(backwards), line({"zone": "x" * 40_000} | row), b"garbage " + line(row)):
        assert len(content) > 4 * HEAD_BYTES
        assert found(content) == "thinkingbox"


def test_an_empty_file_is_called_so() -> None:
    for name in ("empty.jsonl", "only-blank-lines.jsonl"):
        expected = f"UnknownFormat: {name} is empty: there is no result in it."
        assert refusal((FOLDER / name).read_bytes(), name) == expected


@pytest.mark.parametrize("blank", [b"\n", b" ", b"\0"])
def test_a_file_whose_head_is_blank_is_not_called_empty(blank: bytes) -> None:
    expected = f"UnknownFormat: x.jsonl begins with {HEAD_BYTES:,} bytes of blanks or zeros. Remove them."
    assert refusal(blank * (2 * HEAD_BYTES) + line(make_row()), "x.jsonl") == expected
    assert found(b"\n" * 100 + line(make_row())) == "thinkingbox"


def test_a_picture_is_told_by_its_first_bytes() -> None:
    assert refusal((FOLDER / "picture.jsonl").read_bytes(), "picture.jsonl") == (
        "UnknownFormat: picture.jsonl is of no known format: it starts with \\x89PNG\\r\\n\\x1a\\n\\x00\\x00\\x00\\r. "
        + KNOWN
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_other_unicode_encodings_are_named(encoding: str) -> None:
    content = line(make_row()).decode().encode(encoding)
    assert refusal(content) == f"UnknownFormat: results.jsonl is {encoding.upper()} text. Save it as UTF-8."


def test_rows_of_another_harness_are_not_ours() -> None:
    other = {"task_id": 1, "reward": 1.0, "messages": [{"role": "user", "content": "hi"}], "usage": [], "metadata": {}}
    assert refusal(line(other)).startswith("UnknownFormat: results.jsonl is of no known format: it starts with {")


def canonical(**changes: object) -> dict[str, object]:
    """A row as the OpenEnv adapter writes it: keys sorted, no evaluator's parts."""
    row = make_row()
    kept = {name: row[name] for name in sorted(row) if name not in {"test_context", "tools"}}
    kept["metadata"] = {"repetition": 0, "repetition_id": "x::repeat::0", "schema_version": 3}
    return kept | changes


def test_the_openenv_format_is_told_from_the_harness_own() -> None:
    error = {"classification": "operational_system_error", "repetition_id": "x::repeat::0", "uid": "x"}
    long = canonical(test_tags={"labels": ["x" * 2 * HEAD_BYTES]})
    longer = canonical(messages=[{"T": "Text", "role": "user", "content": "x" * 2 * HEAD_BYTES}])
    with_states = canonical() | {"test_context": make_row()["test_context"]}
    contents = (
        line(canonical()),
        line(canonical()) + line(long),
        line(long),
        line(longer),
        line(error),
        line(with_states),
    )
    assert [found(content) for content in contents] == ["thinkingbox-openenv"] * 6
    sorted_keys = {name: make_row()[name] for name in sorted(make_row())}
    assert found(line(sorted_keys)) == "thinkingbox"


def test_the_companion_is_named() -> None:
    name = "one-result_run_metadata.yaml"
    assert refusal((FOLDER / name).read_bytes(), name) == (
        f"UnsupportedBundle: {name} is the run metadata that goes with a result file, and holds no results. "
        "Give it together with the result file."
    )


def test_results_spread_over_lines_are_named() -> None:
    for content in (json.dumps(make_row(), indent=2), json.dumps([make_row()], indent=1)):
        assert refusal(content.encode()) == (
            "UnsupportedBundle: results.jsonl holds tb infer results as JSON over several lines, which is not read. "
            "Write one result a line, for example with jq -c."
        )


@pytest.mark.parametrize("count", [1, 3, 100])
def test_a_list_of_results_on_one_line_is_named(count: int) -> None:
    assert refusal(json.dumps([make_row()] * count).encode()) == (
        "UnsupportedBundle: results.jsonl holds tb infer results as one JSON list on one line, which is not read. "
        "Write one result a line, for example with jq -c '.[]'."
    )


def test_readers_are_found_by_the_name_they_are_stored_under() -> None:
    assert [reader_named(reader.name) for reader in READERS] == list(READERS)
    with pytest.raises(BundleError, match="no reader named tau3; it reads ThinkingBox tb infer"):
        reader_named("tau3")


@pytest.mark.shared
def test_reference_files_that_are_not_read_say_why(shared: Path) -> None:
    folder = shared / "bundles" / "retail-20x-canonical"
    files = [*folder.glob("*/results.jsonl.zst"), *folder.glob("*/errors.jsonl")]
    assert len(files) == 4
    for path in files:
        with path.open("rb") as source:
            assert read_rows(source, name=path.name, max_line=MAX_LINE)[0].name == "thinkingbox-openenv"
    for path in (shared / "bundles" / "other").rglob("*.json"):
        with path.open("rb") as source, pytest.raises((UnknownFormat, UnsupportedBundle)):
            read_rows(source, name=path.name, max_line=MAX_LINE)
