"""Fixtures for all tests: few, and only what a fixture alone can do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from inspector import ratelimit

# A busy machine is no failure. Where CI is set, Hypothesis itself also takes the same examples each time.
settings.register_profile("unhurried", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference bundles beside the project."""
    if not SHARED.is_dir():
        pytest.skip(f"The reference bundles are not here: {SHARED.name}/ is missing beside the project.")
    return SHARED


@pytest.fixture(autouse=True)
def _nobody_asked_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tests send from one address, and some allow it a few requests only."""
    monkeypatch.setattr(ratelimit, "_buckets", ratelimit.Buckets())
