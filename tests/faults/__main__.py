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

from tests.faults.scenarios import SCENARIOS, missing_for
from tests.faults.site import Given, Numbers, temporary


def main() -> int:
    parser = argparse.ArgumentParser(description="Breaks things while files are stored.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=list(SCENARIOS), default=list(SCENARIOS))
    parser.add_argument("--seed", type=int, default=20)
    options = parser.parse_args()
    # Told to end, it ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with temporary() as folder:
        given = Given(folder)
        expected = given.numbers()
        _say(f"{len(expected['attempts']):,} attempts in {len(given.files)} files")
        wrong = sum(_rounds(name, options.rounds, options.seed, given, expected) for name in options.only)
    return 1 if wrong else 0


def _rounds(name: str, rounds: int, seed: int, given: Given, expected: Numbers) -> int:
    """Returns how many rounds went wrong."""
    if missing := missing_for(name):
        _say(f"{name}: not run, {missing} is missing here.")
        return 0
    right = faults = 0
    began = time.monotonic()
    for number in range(rounds):
        try:
            faults += SCENARIOS[name](given, expected, random.Random(f"{seed}/{name}/{number}"))
            right += 1
        except Exception as error:  # noqa: BLE001 (one round that fails does not end the others)
            _say(f"{name}, round {number + 1}: {type(error).__name__}: {str(error)[:2000]}")
    _say(f"{name}: {right} of {rounds} exact, {faults} faults, {time.monotonic() - began:.0f} s")
    return rounds - right


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
