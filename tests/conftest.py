"""Fixtures for all tests: few, and only what a fixture alone can do."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from django.db import connection
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


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """Empties PostgreSQL's tables row by row after a test with transactions of its own: TRUNCATE writes a new file for
    each table and waits for the disk, which takes longer than most tests.
    """
    if connection.vendor == "postgresql":
        connection.ops.sql_flush = _delete_rows  # type: ignore[method-assign]


def _delete_rows(style: object, tables: Iterable[str], **_: object) -> list[str]:
    return [f"DELETE FROM {connection.ops.quote_name(table)}" for table in tables]  # noqa: S608


@pytest.fixture(autouse=True)
def _nobody_asked_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tests send from one address, and some allow it a few requests only."""
    monkeypatch.setattr(ratelimit, "_buckets", ratelimit.Buckets())
