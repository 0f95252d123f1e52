"""`python -m runs.demo FOLDER`: write the demo's result files again, byte for byte."""

from __future__ import annotations

import sys
from pathlib import Path

import zstandard

from runs.demo.models import MODELS
from runs.demo.rows import file_name, rows, run_metadata

_LEVEL = 19
_WINDOW_LOG = 25
"""32 MiB: a whole file, so that each state is stored once; readers take windows up to 27."""


def write(folder: Path) -> list[Path]:
    """Write all result files and their metadata into a folder, which is made when it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    options = zstandard.ZstdCompressionParameters.from_level(_LEVEL, window_log=_WINDOW_LOG, enable_ldm=True)
    written = []
    for model in MODELS:
        text = b"".join(row + b"\n" for row in rows(model))
        path = folder / f"{file_name(model)}.zst"
        path.write_bytes(zstandard.ZstdCompressor(compression_params=options).compress(text))
        metadata = folder / f"{file_name(model).removesuffix('.jsonl')}_run_metadata.yaml"
        metadata.write_text(run_metadata(model), encoding="utf-8")
        written += [path, metadata]
    return written


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("Give one folder: python -m runs.demo FOLDER\n")
        return 2
    for path in write(Path(arguments[0])):
        sys.stdout.write(f"{path} {path.stat().st_size}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
