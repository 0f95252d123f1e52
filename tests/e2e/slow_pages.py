"""Pages that come slowly, for finding tests that look at a page before it is whole:

    uv run pytest -p tests.e2e.slow_pages -m e2e

Each page comes in two parts 0.4 s apart, and each script 0.2 s late. A test that passes on a quiet machine and
fails here would fail on a busy one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

_FIRST_PART = 900
"""Bytes: less than the head of a page."""
_PAGE_WAITS, _SCRIPT_WAITS = 0.4, 0.2


@pytest.fixture(scope="session", autouse=True)
def _slow_pages() -> Iterator[None]:
    from django.contrib.staticfiles.handlers import StaticFilesHandlerMixin  # noqa: PLC0415 (settings come first)
    from django.core.handlers.wsgi import WSGIHandler  # noqa: PLC0415

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WSGIHandler, "__call__", _in_two_parts(WSGIHandler.__call__))
        patch.setattr(StaticFilesHandlerMixin, "serve", _late(StaticFilesHandlerMixin.serve))
        yield


def _in_two_parts(answer: Callable[..., Any]) -> Callable[..., Iterable[bytes]]:
    def call(handler: object, environ: dict[str, Any], start_response: object) -> Iterable[bytes]:
        response = answer(handler, environ, start_response)
        # A file's answer is no response but the server's own wrapper.
        page = getattr(response, "streaming", True) is False and "html" in response.get("Content-Type", "")
        return _parts(response) if page else response

    return call


def _parts(response: Any) -> Iterator[bytes]:
    try:
        content = response.content
        yield content[:_FIRST_PART]
        time.sleep(_PAGE_WAITS)
        yield content[_FIRST_PART:]
    finally:
        response.close()


def _late(serve: Callable[..., Any]) -> Callable[..., Any]:
    def call(handler: object, request: Any) -> Any:
        if request.path.endswith(".js"):
            time.sleep(_SCRIPT_WAITS)
        return serve(handler, request)

    return call
