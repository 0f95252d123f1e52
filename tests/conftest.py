"""Fixtures for all tests: few, and only what a fixture alone can do."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference bundles beside the project."""
    if not SHARED.is_dir():
        pytest.skip(f"The reference bundles are not here: {SHARED.name}/ is missing beside the project.")
    return SHARED
