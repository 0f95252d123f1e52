"""Configuration mistakes that `manage.py check` finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.checks import CheckMessage
from pytest_django import Settings

from inspector import checks

SQLITE = {"ENGINE": "django.db.backends.sqlite3"}
POSTGRES = {"ENGINE": "django.db.backends.postgresql"}


def ids(found: list[CheckMessage]) -> list[str | None]:
    return [message.id for message in found]


@pytest.mark.parametrize(("mode", "expected"), [(0o700, []), (0o750, []), (0o755, ["twentyfold.W001"])])
def test_a_data_folder_that_others_can_read(settings: Settings, tmp_path: Path, mode: int, expected: list[str]) -> None:
    tmp_path.chmod(mode)
    settings.DATA_DIR = tmp_path
    assert ids(checks.data_folder(None)) == expected


def test_a_data_folder_that_cannot_be_written(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path
    # Root may write anywhere, so the system's answer is given here.
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert ids(checks.data_folder(None)) == ["twentyfold.E001"]


@pytest.mark.parametrize(("limit", "expected"), [(1, []), (2**62, ["twentyfold.W002"])])
def test_an_upload_limit_over_the_free_space(settings: Settings, limit: int, expected: list[str]) -> None:
    settings.UPLOAD_LIMIT = limit
    assert ids(checks.free_space(None)) == expected


@pytest.mark.parametrize(
    ("url", "database", "expected"),
    [
        (None, SQLITE, []),
        (None, POSTGRES | {"HOST": "127.0.0.1"}, []),
        (None, POSTGRES | {"HOST": "/var/run/postgresql"}, []),
        (None, POSTGRES | {"HOST": "db.example.com"}, ["twentyfold.W004"]),
        ("redis://broker.example.com/0", POSTGRES | {"HOST": "db.example.com"}, []),
        ("amqp://u:p@broker.example.com//", SQLITE, []),
        ("sqs://", SQLITE, ["twentyfold.E002"]),
        ("broker.example.com:6379", SQLITE, ["twentyfold.E002"]),
    ],
)
def test_a_broker(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    url: str | None,
    database: dict[str, str],
    expected: list[str],
) -> None:
    settings.CELERY_BROKER_URL = url
    monkeypatch.setitem(settings.DATABASES, "default", database)
    assert ids(checks.broker(None)) == expected


@pytest.mark.parametrize(
    ("engine", "expected"),
    [(SQLITE, []), (POSTGRES, []), ({"ENGINE": "django.db.backends.mysql"}, ["twentyfold.E003"])],
)
def test_a_database_engine(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, engine: dict[str, str], expected: list[str]
) -> None:
    monkeypatch.setitem(settings.DATABASES, "default", engine)
    assert ids(checks.database(None)) == expected


@pytest.mark.parametrize(
    ("https", "origins", "expected"),
    [
        (True, ["https://a.example.com"], []),
        (False, ["http://a.example.com"], []),
        (True, ["http://a.example.com", "https://b.example.com"], ["twentyfold.W003"]),
    ],
)
def test_trusted_origins(settings: Settings, https: bool, origins: list[str], expected: list[str]) -> None:
    settings.HTTPS = https
    settings.CSRF_TRUSTED_ORIGINS = origins
    assert ids(checks.origins(None)) == expected


def test_every_id_is_documented() -> None:
    project = Path(__file__).resolve().parents[2]
    source = (project / "inspector" / "checks.py").read_text(encoding="utf-8")
    documented = (project / "docs" / "operating.md").read_text(encoding="utf-8")
    used = {line.split('"')[1] for line in source.splitlines() if line.strip().startswith("id=")}
    assert used == {word.strip("`") for word in documented.split() if word.startswith("`twentyfold.")} - {
        "twentyfold.sqlite3"
    }
