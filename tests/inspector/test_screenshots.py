"""The command that takes the pictures of the documentation."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from inspector.management.commands.screenshots import CHROMIUMS, HEIGHT, WIDTH, _environment

PROJECT = Path(__file__).resolve().parents[2]
PICTURES = ["run.png", "runs.png", "trace-dark.png", "trace.png", "uploads.png"]


def test_it_says_that_no_chromium_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError) as caught:
        call_command("screenshots", "--to", str(tmp_path / "pictures"))
    assert str(caught.value) == (
        "No Chromium was found. Install one (Debian: apt-get install chromium), or give --chromium PATH."
    )
    assert not (tmp_path / "pictures").exists()


def test_it_says_that_playwright_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(CommandError) as caught:
        call_command("screenshots", "--to", str(tmp_path / "pictures"), "--chromium", "chromium")
    assert str(caught.value) == ("The screenshots need playwright, which is installed for development only: uv sync")


def test_settings_of_this_machine_never_reach_the_pictures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else the demo would be loaded into a database that somebody works with."""
    for name in (
        "DATABASE_URL", "DATABASE_URL_FILE", "CELERY_BROKER_URL", "SECRET_KEY_FILE", "ALLOWED_HOSTS", "DEBUG",
        "CSRF_TRUSTED_ORIGINS", "TWENTYFOLD_HTTPS", "TWENTYFOLD_DATA_DIR",
    ):  # fmt: skip
        monkeypatch.setenv(name, "somewhere else")
    monkeypatch.setenv("HOME_SWEET_HOME", "kept")
    environment = _environment(tmp_path)
    assert {name: value for name, value in environment.items() if value == "somewhere else"} == {}
    assert environment["HOME_SWEET_HOME"] == "kept"
    assert environment["TWENTYFOLD_DATA_DIR"] == str(tmp_path / "data")


@pytest.mark.e2e
def test_it_takes_every_picture(tmp_path: Path) -> None:
    if not any(map(shutil.which, CHROMIUMS)):
        pytest.skip("No Chromium is installed.")
    done = subprocess.run(
        [sys.executable, str(PROJECT / "manage.py"), "screenshots", "--to", str(tmp_path)],
        env=dict(os.environ), capture_output=True, text=True, check=False, timeout=180,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == PICTURES
    sizes = {struct.unpack(">II", path.read_bytes()[16:24]) for path in tmp_path.iterdir()}
    assert sizes == {(WIDTH, HEIGHT)}
