"""A result file of as many full rows with states as wanted: `uv run python -m tests.bench.make_bundle FILE [--rows N]`.

The rows are the reference data's own (`--dump testcontext`: three models of retail-20x, two of five-domains); when they
are used up they come again, as repetitions of tasks with other names.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import zstandard

BUNDLES = Path(__file__).resolve().parents[3] / "shared" / "bundles"
SOURCES = (
    "retail-20x/retail-20x.aster-large.jsonl.zst",
    "retail-20x/retail-20x.briza-mini.jsonl.zst",
    "retail-20x/retail-20x.cedar-8b.jsonl.zst",
    "five-domains/five-domains.aster-large.jsonl.zst",
    "five-domains/five-domains.delta-medium.jsonl.zst",
)


def make_bundle(target: Path, rows: int) -> int:
    """Writes so many rows; returns their number. Each source has names of tasks of its own: all rows are stored."""
    with target.open("wb") as file:
        for _, line in zip(range(rows), _lines(), strict=False):
            file.write(line)
    return rows


def _lines() -> Iterator[bytes]:
    for copy in count():
        for number, source in enumerate(SOURCES):
            with (BUNDLES / source).open("rb") as packed:
                plain = zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(packed)
                rest = b""
                while block := plain.read(4 << 20):
                    *lines, rest = (rest + block).split(b"\n")
                    for line in lines:
                        yield line.replace(b'"uid":"', b'"uid":"c%d_%d_' % (copy, number), 1) + b"\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes a result file of full rows with states.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=10_140)
    options = parser.parse_args()
    rows = make_bundle(options.file, options.rows)
    print(f"{rows:,} rows, {options.file.stat().st_size / 1e6:,.0f} MB: {options.file}")


if __name__ == "__main__":
    main()
