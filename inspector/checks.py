"""Configuration mistakes as system checks, so that `manage.py check` finds them before a person does.

    twentyfold.E001   the data folder cannot be written
    twentyfold.E002   the broker's address has a scheme that is not supported
    twentyfold.E003   the database is of a kind that is not supported
    twentyfold.W001   the data folder can be read by other users of the machine
    twentyfold.W002   the upload limit is larger than the free space of the data folder
    twentyfold.W003   HTTPS is on, and a trusted origin is plain HTTP
    twentyfold.W004   the embedded broker beside a database of another machine
"""  # fmt: skip

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

BROKERS = frozenset({"redis", "rediss", "redis+socket", "amqp", "amqps", "pyamqp", "memory"})
LOCAL_HOSTS = frozenset({"", "localhost", "127.0.0.1", "::1"})


@register
def data_folder(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    folder = settings.DATA_DIR
    if not os.access(folder, os.W_OK | os.X_OK):
        found.append(
            Error(
                f"The data folder {folder} cannot be written.",
                hint="Give this user the right to write there, or set TWENTYFOLD_DATA_DIR to another folder.",
                id="twentyfold.E001",
            )
        )
    if folder.stat().st_mode & 0o007:
        found.append(
            Warning(
                f"The data folder {folder} can be read by every user of this machine.",
                hint=f"It holds the secret key and the evaluator's records: chmod o-rwx {folder}",
                id="twentyfold.W001",
            )
        )
    return found


@register(deploy=True)
def free_space(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    free = shutil.disk_usage(settings.DATA_DIR).free
    if free >= settings.UPLOAD_LIMIT:
        return []
    return [
        Warning(
            f"Uploads may have {settings.UPLOAD_LIMIT:,} bytes, and the data folder's disk has {free:,} free.",
            hint="Lower TWENTYFOLD_UPLOAD_LIMIT, or set TWENTYFOLD_DATA_DIR to a folder on a larger disk.",
            id="twentyfold.W002",
        )
    ]


@register
def broker(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    url = settings.CELERY_BROKER_URL
    if url:
        scheme = urlsplit(url).scheme
        if scheme in BROKERS:
            return []
        return [
            Error(
                f"CELERY_BROKER_URL begins with {scheme!r}, which is not supported.",
                hint="Use redis:// or amqp://, or leave it out for the broker in the data folder.",
                id="twentyfold.E002",
            )
        ]
    host = str(settings.DATABASES["default"].get("HOST", ""))
    if host in LOCAL_HOSTS or host.startswith("/"):
        return []
    return [
        Warning(
            "The database is on another machine, and the broker is a folder on this one.",
            hint="Workers on other machines get no work. Set CELERY_BROKER_URL when there are any.",
            id="twentyfold.W004",
        )
    ]


@register(Tags.database)
def database(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    engine = settings.DATABASES["default"]["ENGINE"]
    if engine in {"django.db.backends.sqlite3", "django.db.backends.postgresql"}:
        return []
    return [
        Error(
            f"The database engine {engine} is not supported.",
            hint="Set DATABASE_URL to a postgres:// address, or leave it out for SQLite.",
            id="twentyfold.E003",
        )
    ]


@register(Tags.security, deploy=True)
def origins(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    plain = [origin for origin in settings.CSRF_TRUSTED_ORIGINS if settings.HTTPS and origin.startswith("http://")]
    if not plain:
        return []
    return [
        Warning(
            f"TWENTYFOLD_HTTPS is on, and CSRF_TRUSTED_ORIGINS trusts plain HTTP: {', '.join(plain)}.",
            hint="Write them with https://.",
            id="twentyfold.W003",
        )
    ]
