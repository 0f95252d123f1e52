"""Static files under addresses that change with their content, without a collecting step."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage


@lru_cache(maxsize=1024)
def _digest(path: str, modified_ns: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]


class VersionedStaticFiles(StaticFilesStorage):
    """`{% static "css/base.css" %}` gives `/static/css/base.css?v=<digest>`, which may be kept for ever."""

    def url(self, name: str | None) -> str:
        address = super().url(name)
        path = finders.find(name) if name else None
        if not isinstance(path, str):
            return address
        return f"{address}?v={_digest(path, Path(path).stat().st_mtime_ns)}"
