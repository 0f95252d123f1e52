"""The site's Celery application with a task and a queue of a test's own."""

from __future__ import annotations

import os
from pathlib import Path

from celery import shared_task

from inspector.celery import app

app.conf.task_default_queue = os.environ["TWENTYFOLD_TEST_QUEUE"]


@shared_task(name="tests.write")
def write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")
