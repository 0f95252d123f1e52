"""Static files under addresses that change with their content, without a collecting step."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.finders import BaseFinder
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.checks import CheckMessage
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import FileSystemStorage


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


class PlotlyFinder(BaseFinder):
    """`plotly/plotly.min.js`: the drawing script as the Python package ships it, and nothing else of the package."""

    FOLDER, NAME = "plotly", "plotly.min.js"

    def __init__(self, *args: object, **kwargs: object) -> None:
        package = find_spec("plotly")
        if package is None or package.origin is None:
            raise ImproperlyConfigured("The package plotly, which draws the charts, is not installed.")
        self.storage = FileSystemStorage(location=Path(package.origin).parent / "package_data")
        self.storage.prefix = self.FOLDER  # type: ignore[attr-defined]  # as Django's own finders mark theirs

    def check(self, **kwargs: object) -> list[CheckMessage]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: object) -> Any:
        if path != f"{self.FOLDER}/{self.NAME}":
            return []  # Django counts a None as a find
        found = self.storage.path(self.NAME)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        yield self.NAME, self.storage
