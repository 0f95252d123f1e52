"""`screenshots`: the pictures of the documentation, taken from the demo runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import zstandard
from django.conf import settings
from django.core.management import BaseCommand, CommandError

from runs.demo import bundles

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDTH, HEIGHT = 1440, 900
MOST_BYTES = 400_000
RUN = "rental-desk-v1-0-tansy-flash"
STEADY_RUN = "rental-desk-v1-0-ovenbird-7b"
"""It has tasks of each kind: always, sometimes, never."""
TASK = "rental_desk_workshop_jobs.py:test_reopened_job_waits_for_part"
REPETITIONS = 20
ROWS = 40
"""Rows of a copy that breaks off in the row behind them: something for the page of uploads to tell."""
_OURS = re.compile(
    r"TWENTYFOLD_\w+|(?:DATABASE_URL|CELERY_BROKER_URL|SECRET_KEY)(?:_FILE)?|ALLOWED_HOSTS|CSRF_\w+|DEBUG"
)


class Picture(NamedTuple):
    name: str
    address: str
    dark: bool = False


class Command(BaseCommand):
    help = "Take the pictures of the documentation: the app on a new data folder with the demo, in a headless Chromium."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--to",
            type=Path,
            default=settings.BASE_DIR / "docs" / "screenshots",
            metavar="FOLDER",
            help="where they go",
        )
        parser.add_argument(
            "--chromium", default="", metavar="PATH", help="the browser; else the first one on the path"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        chromium = options["chromium"] or next(filter(None, map(shutil.which, CHROMIUMS)), "")
        if not chromium:
            raise CommandError(
                "No Chromium was found. Install one (Debian: apt-get install chromium), or give --chromium PATH."
            )
        try:
            playwright: Any = import_module("playwright.sync_api")
        except ImportError as error:
            raise CommandError(
                "The screenshots need playwright, which is installed for development only: uv sync"
            ) from error
        target: Path = options["to"]
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="twentyfold-screenshots-") as name:
            folder = Path(name)
            environment = _environment(folder)
            repetition = _prepare(folder, environment)
            with _serving(environment) as address, playwright.sync_playwright() as driver:
                try:
                    browser = driver.chromium.launch(
                        executable_path=chromium,
                        args=FLAGS,
                        chromium_sandbox=hasattr(os, "geteuid") and os.geteuid() != 0,
                    )
                    for picture in _pictures(browser, address, repetition):
                        self._take(browser, picture, target)
                    browser.close()
                except playwright.Error as error:
                    raise CommandError(f"The browser could not take the pictures: {str(error).strip()}") from error

    def _take(self, browser: Browser, picture: Picture, target: Path) -> None:
        context = browser.new_context(
            viewport={"width": WIDTH, "height": HEIGHT},
            color_scheme="dark" if picture.dark else "light",
            reduced_motion="reduce",
            timezone_id="UTC",
            locale="en-GB",
        )
        page = context.new_page()
        answer = page.goto(picture.address, wait_until="networkidle")
        if answer is None or not answer.ok:
            raise CommandError(f"{picture.address} answered with {answer.status if answer else 'nothing'}.")
        path = target / f"{picture.name}.png"
        page.screenshot(path=path)
        context.close()
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise CommandError(
                f"{path} has {size:,} bytes, and {MOST_BYTES:,} are the most for a picture of the documentation."
            )
        self.stdout.write(f"{path}: {size:,} bytes")


def _environment(folder: Path) -> dict[str, str]:
    """This process's, without any setting of ours: the pictures are of the demo alone, whatever this machine holds."""
    kept = {name: value for name, value in os.environ.items() if _OURS.fullmatch(name) is None}
    return {**kept, "TWENTYFOLD_DATA_DIR": str(folder / "data")}


def _prepare(folder: Path, environment: dict[str, str]) -> int:
    """Loads the demo and a copy that breaks off; gives the repetition of the attempt to show."""
    _manage(environment, "demo")
    bundle = next(bundle for bundle in bundles() if bundle.metadata_path.name.startswith("rental-desk.tansy-flash"))
    with bundle.path.open("rb") as stream:
        lines = zstandard.ZstdDecompressor().stream_reader(stream).read().split(b"\n", ROWS + 1)
    cut = folder / "rental-desk.tansy-flash.retry.jsonl"
    cut.write_bytes(b"\n".join([*lines[:ROWS], lines[ROWS][:7000]]))
    _manage(environment, "ingest", str(cut), "--run", RUN)
    for repetition in range(REPETITIONS):
        attempt = json.loads(_manage(environment, "show", RUN, TASK, str(repetition), "--json"))
        if any(effect["kind"] == "missing" and len(effect["steps"]) > 1 for effect in attempt["effects"]):
            return repetition
    raise CommandError(f"No repetition of {TASK} writes a field and puts the old value back. Choose another task here.")


def _manage(environment: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CommandError(f"The command {arguments[0]} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


@contextmanager
def _serving(environment: dict[str, str]) -> Iterator[str]:
    """`up` on a free port; gives its address, and ends it with all its processes."""
    command = [
        sys.executable,
        str(settings.BASE_DIR / "manage.py"),
        "up",
        "--no-demo",
        "--no-browser",
        "--workers",
        "1",
    ]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as up:
        try:
            yield _address(up)
        finally:
            up.terminate()
            with suppress(ValueError):
                up.communicate()


def _address(up: subprocess.Popen[str]) -> str:
    assert up.stdout is not None
    said = []
    for line in up.stdout:
        said.append(line)
        if found := re.search(r"running at (http://\S+)", line):
            return found[1]
    raise CommandError(f"The app did not start: {''.join(said).strip()}")


def _pictures(browser: Browser, address: str, repetition: int) -> list[Picture]:
    page = browser.new_page()
    page.goto(f"{address}runs/{RUN}/tasks/{TASK}/")
    trace = page.get_by_role("link", name=re.compile(rf"^Repetition {repetition},")).first.get_attribute("href")
    page.close()
    if trace is None:
        raise CommandError(f"The page of the task {TASK} has no link to repetition {repetition}.")
    at = address.rstrip("/")
    return [
        Picture("runs", f"{at}/"),
        Picture("run", f"{at}/runs/{STEADY_RUN}/"),
        Picture("trace", f"{at}{trace}"),
        Picture("trace-dark", f"{at}{trace}", dark=True),
        Picture("uploads", f"{at}/uploads/"),
    ]
