"""Loads the shipped demo runs, with their prices and leaderboard. Running it twice changes nothing."""

from __future__ import annotations

from runs.access import EVERYTHING
from runs.demo import bundles
from runs.demo_boards import board_demo_runs
from runs.ingest import ingest_file
from runs.models import Run, Upload
from runs.upload_files import hash_stream
from runs.uploads import Wishes, new_upload

__all__ = ["load_demo"]


def load_demo() -> list[Run]:
    """Ingests each demo bundle in the foreground and returns its runs, in the order of the bundles."""
    runs = []
    for bundle in bundles():
        with bundle.path.open("rb") as stream:
            upload = new_upload(
                bundle.path.name,
                hash_stream(stream),
                companion=bundle.metadata_path.read_bytes(),
                wishes=Wishes(benchmark=bundle.benchmark, repetitions=bundle.repetitions),
                is_demo=True,
                access=EVERYTHING,
            )
            done: Upload = ingest_file(upload, stream)
        assert done.run is not None, "a shipped bundle has rows"
        runs.append(done.run)
    board_demo_runs(runs)
    return runs
