"""The Celery application: `celery -A inspector worker -P solo`.

A message carries ids only and is a hint: the database says what is to do. So there are no results, and a lost or a
doubled message does no harm. Every worker sends the hint "sweep" when it starts and from time to time, which needs no
scheduler.
"""

from __future__ import annotations

import itertools
import logging
import os
import random
import threading
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_ready
from django.conf import settings
from kombu.exceptions import OperationalError

from inspector import transport

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
logger = logging.getLogger(__name__)

SWEEP_SECONDS = 15.0
SWEEP_TASK = "runs.tasks.sweep"
EXPIRE_TASK = "inspector.tasks.expire"
SWEEPS_AN_EXPIRY = 20
"""Every so many sweeps, some five minutes, runs whose time is over are deleted."""

app = Celery("twentyfold", set_as_current=True)
app.conf.update(
    # Brokers are shared: this name is not another program's.
    task_default_queue="twentyfold",
    task_serializer="json",
    accept_content=["json"],
    task_ignore_result=True,
    task_store_errors_even_if_ignored=False,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    worker_hijack_root_logger=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    broker_connection_retry_on_startup=True,
    enable_utc=True,
    timezone="UTC",
)


def configure(application: Celery) -> None:
    """The embedded broker in the data folder, or the one that CELERY_BROKER_URL names."""
    if settings.CELERY_BROKER_URL:
        application.conf.broker_url = settings.CELERY_BROKER_URL
        # Redis gives back a message only after this time; the sweep is quicker, so it may be long.
        application.conf.broker_transport_options = {"visibility_timeout": 3600} if _is_redis() else {}
        return
    transport.register()
    application.conf.broker_url = f"{transport.SCHEME}://localhost/"
    application.conf.broker_transport_options = transport.broker_options(settings.BROKER_DIR)


def _is_redis() -> bool:
    return str(settings.CELERY_BROKER_URL).startswith(("redis://", "rediss://", "redis+socket://"))


configure(app)
app.autodiscover_tasks(["runs", "inspector"])


def keep_django_logging(**_: Any) -> None:
    """Django's LOGGING holds for workers too. A receiver is all it takes to keep Celery from its own."""


def sweep_from_time_to_time(**_: Any) -> None:
    threading.Thread(target=_send_sweeps, name="sweeps", daemon=True).start()


def _send_sweeps() -> None:
    pause = threading.Event()
    for number in itertools.count():
        if not settings.CELERY_BROKER_URL:
            transport.sweep_folder(settings.BROKER_DIR)
        try:
            # Expiring, so that workers which were busy for long are not met by a pile of them.
            app.send_task(SWEEP_TASK, expires=SWEEP_SECONDS)
            if number % SWEEPS_AN_EXPIRY == 0:
                app.send_task(EXPIRE_TASK, expires=SWEEP_SECONDS)
        except (OperationalError, OSError) as error:
            logger.warning("The sweep could not be announced: %s", error)
        pause.wait(SWEEP_SECONDS * random.uniform(0.8, 1.2))


setup_logging.connect(keep_django_logging)
worker_ready.connect(sweep_from_time_to_time)
