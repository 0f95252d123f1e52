"""The demo data: an invented benchmark of an equipment-rental desk, run by three invented models.

`bundles()` names the result files that ship with the product. They are written by `python -m runs.demo FOLDER`, which
plays every attempt on tools that really change records, so that transcripts, states, hashes and differences agree.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

__all__ = ["BENCHMARK", "DemoBundle", "bundles"]

BENCHMARK = "Rental Desk v1.0"
REPETITIONS = 20
_FOLDER = Path(__file__).parents[1] / "data" / "demo"
_MODELS = ("marlow-3-pro", "tansy-flash", "ovenbird-7b")


class DemoBundle(NamedTuple):
    """A shipped result file."""

    path: Path
    """Zstandard-compressed rows of `tb infer`."""
    metadata_path: Path
    model: str
    benchmark: str
    repetitions: int


def bundles() -> tuple[DemoBundle, ...]:
    """The shipped result files: strong, broad but erratic, narrow but steady."""
    return tuple(
        DemoBundle(
            path=_FOLDER / f"rental-desk.{model}.jsonl.zst",
            metadata_path=_FOLDER / f"rental-desk.{model}_run_metadata.yaml",
            model=model,
            benchmark=BENCHMARK,
            repetitions=REPETITIONS,
        )
        for model in _MODELS
    )
