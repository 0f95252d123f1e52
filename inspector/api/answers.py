"""What operations answer with: one thing, a slice of a list, lines, or that nothing changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags
from msgspec import Struct

from inspector.api.auth import TELLS, access
from inspector.api.errors import bad_field
from inspector.api.pagination import Slice
from inspector.api.plain import encoded, field_types, plain
from inspector.api.visibility import hidden_from
from runs.canonical import sha256_hex

__all__ = ["Unchanged", "chosen_fields", "json_answer", "lines_answer", "listed", "one", "validate"]

_ETAG = "_api_etag"
Response = TypeVar("Response", bound=HttpResponseBase)


class Unchanged(Exception):
    """What the sender has is still right."""

    def __init__(self, etag: str) -> None:
        super().__init__(etag)
        self.etag = etag


def validate(request: HttpRequest, *parts: object) -> None:
    """Names the version of what is asked for, before any of it is read. Raises `Unchanged` where the sender has it."""
    question = (request.get_full_path(), access(request).evaluates, *parts)
    etag = f'"{sha256_hex(repr(question).encode())[:32]}"'
    _compare(request, etag)
    setattr(request, _ETAG, etag)


def _compare(request: HttpRequest, etag: str) -> None:
    known = {tag.removeprefix("W/") for tag in parse_etags(request.headers.get("If-None-Match", ""))}
    if request.method in {"GET", "HEAD"} and (etag in known or "*" in known):
        raise Unchanged(etag)


def one(request: HttpRequest, value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """A struct, or the fields of it that were asked for."""
    made = plain(value, hidden_from(access(request)))
    fields = chosen_fields(request, type(value)) if isinstance(value, Struct) else None
    return json_answer(request, made if fields is None else _only(made, fields), status, headers)


def listed(request: HttpRequest, found: Slice[Any], kind: type[Struct]) -> HttpResponse:
    """A slice of a list of `kind`, with the cursor to the next one, also as a link."""
    fields = chosen_fields(request, kind)
    hidden = hidden_from(access(request))
    items = [plain(item, hidden) for item in found.items]
    body: dict[str, Any] = {
        "items": items if fields is None else [_only(item, fields) for item in items],
        "next": found.next,
        "total": found.total,
    }
    headers = {}
    if found.next is not None:
        query = request.GET.copy()
        query["cursor"] = found.next
        headers["Link"] = f'<{request.build_absolute_uri(request.path)}?{query.urlencode()}>; rel="next"'
    return json_answer(request, body, 200, headers)


def _only(item: dict[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    return {name: item[name] for name in fields if name in item}


def chosen_fields(request: HttpRequest, kind: type[Struct]) -> list[str] | None:
    """`?fields=id,slug`; None: all. Raises `Problem` 422 for a name that the answer does not have, and 403 for one that
    it does not have for this sender: left out in silence, it would look like one that says nothing."""
    text = request.GET.get("fields")
    if text is None:
        return None
    known = field_types(kind)
    hidden = (hidden_from(access(request)) or {}).get(kind, ())
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name in hidden:
            raise bad_field("fields", f"{name} {TELLS} Leave it out.", status=403)
        if name not in known:
            shown = name if len(name) <= 60 else name[:60] + "…"
            raise bad_field("fields", f"there is no {shown!r}. There are: {', '.join(sorted(known))}.")
    return list(dict.fromkeys(names))


def json_answer(
    request: HttpRequest, value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """JSON, with what tells whether it has changed. Raises `Unchanged`."""
    body = encoded(value)
    response = HttpResponse(body, status=status, content_type="application/json", headers=dict(headers or {}))
    if status == 200 and request.method in {"GET", "HEAD"}:
        etag = getattr(request, _ETAG, None)
        if etag is None:
            etag = f'"{sha256_hex(body)[:32]}"'
            _compare(request, etag)
        response["ETag"] = etag
    return for_sender(response)


def for_sender(response: Response) -> Response:
    """No cache shows it to somebody else, nor without asking whether it is still right."""
    response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ["Authorization", "Cookie"])
    return response


def unchanged(error: Unchanged) -> HttpResponse:
    response = HttpResponse(status=304, headers={"ETag": error.etag})
    del response["Content-Type"]
    return for_sender(response)


def lines_answer(request: HttpRequest, lines: Iterator[bytes], name: str) -> StreamingHttpResponse:
    """JSON values, one a line, sent as they are made."""
    response = StreamingHttpResponse(
        # Django would read lines to their end before it sends the first of them to an ASGI server.
        _piece_by_piece(lines) if isinstance(request, ASGIRequest) else lines,
        content_type="application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"},
    )
    return for_sender(response)


_PIECE = 256 * 1024


async def _piece_by_piece(lines: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Lines in pieces of some size, made on the request's own thread, which has the database's connection."""

    def piece() -> bytes:
        made = bytearray()
        for line in lines:
            made += line
            if len(made) >= _PIECE:
                break
        return bytes(made)

    while part := await sync_to_async(piece)():
        yield part
