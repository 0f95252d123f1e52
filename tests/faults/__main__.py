"""Breaks things while files are stored: `uv run python -m tests.faults [--rounds N] [--only NAME …] [--seed N]`.

Each round is an installation of its own. It is right when every row and every number is as after an ingest that
nothing disturbed, and `verify` finds nothing. Redis and PostgreSQL are started here; `disk` has to mount a tmpfs.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
from pathlib import Path

from runs.demo import bundles
from tests.faults.scenarios import SCENARIOS
from tests.faults.site import numbers_of

SHARED = Path(__file__).resolve().parents[3] / "shared" / "bundles"


def files() -> list[Path]:
    """The reference data's own rows with states where they lie beside the project, and the demo's."""
    real = SHARED / "retail-20x" / "retail-20x.cedar-8b.jsonl.zst"
    return [*([real] if real.is_file() else []), *(bundle.path for bundle in bundles())]


def main() -> int:
    parser = argparse.ArgumentParser(description="Breaks things while files are stored.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=list(SCENARIOS), default=list(SCENARIOS))
    parser.add_argument("--seed", type=int, default=20)
    options = parser.parse_args()
    # Told to end, it ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    given = files()
    expected = numbers_of(given)
    _say(f"{len(expected['attempts']):,} attempts in {len(given)} files")
    wrong = 0
    for name in options.only:
        right = faults = 0
        began = time.monotonic()
        for number in range(options.rounds):
            try:
                faults += SCENARIOS[name](given, expected, random.Random(f"{options.seed}/{name}/{number}"))
                right += 1
            except Exception as error:  # noqa: BLE001 (one round that fails does not end the others)
                _say(f"{name}, round {number + 1}: {type(error).__name__}: {str(error)[:2000]}")
        wrong += options.rounds - right
        _say(f"{name}: {right} of {options.rounds} exact, {faults} faults, {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
