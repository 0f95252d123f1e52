"""A task for tests of the way from a message to a worker."""

from __future__ import annotations

from pathlib import Path

from celery import shared_task


@shared_task(name="tests.write")
def write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")
