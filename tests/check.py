"""Everything that must hold before a change lands: `uv run python -m tests.check` (`--pytest` adds the tests).

Each check runs even where an earlier one failed, so that one run shows all there is to mend.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
CHECKS: dict[str, list[str]] = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy"],
    "imports": ["lint-imports"],
    "migrations": [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"],
    "configuration": [sys.executable, "manage.py", "check", "--fail-level", "WARNING"],
}
TESTS = ["pytest", "-q"]


def run(arguments: list[str]) -> int:
    """0 when all checks passed, else 1. Their data folder is a new one: what this machine holds has no say."""
    checks = CHECKS | ({"tests": TESTS} if "--pytest" in arguments else {})
    failed = []
    with tempfile.TemporaryDirectory(prefix="twentyfold-check-") as folder:
        environment = {**os.environ, "TWENTYFOLD_DATA_DIR": folder}
        for name, command in checks.items():
            begun = time.monotonic()
            status = subprocess.run(command, cwd=PROJECT, env=environment, check=False).returncode
            _say(f"{name}: {'ok' if status == 0 else 'failed'} ({time.monotonic() - begun:.1f} s)")
            if status:
                failed.append(name)
    _say(f"Failed: {', '.join(failed)}." if failed else "All checks passed.")
    return 1 if failed else 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
