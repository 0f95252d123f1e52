"""Bodies in JSON: which are read, and what is wrong with one that is not."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from django.http import HttpRequest
from ninja.parser import Parser

from inspector.api.errors import Problem, bad_field

__all__ = ["JSON", "JsonBodies", "broken_json", "kind_of_body"]

JSON = "application/json"


class JsonBodies(Parser):
    """Of what is sent as JSON in UTF-8, and not compressed."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Raises `Problem` 415 or 400."""
        kind_of_body(request, {JSON})
        reason = broken_json(request.body)
        if reason is not None:
            raise bad_field("body", reason, place="body", status=400)
        return json.loads(request.body)


def kind_of_body(request: HttpRequest, kinds: Collection[str], *, send: str = JSON) -> str:
    """Its media type, one of `kinds`. Raises `Problem` 415, which says to `send` another one, where it is not, or the
    body is in another encoding than UTF-8, or compressed."""
    kind = (request.content_type or "").lower()
    if kind not in kinds:
        raise _refused("Content-Type", f"is {_shown(kind)}. Send {send}.")
    charset = (request.content_params or {}).get("charset", "utf-8")
    if charset.lower() not in {"utf-8", "utf8", "us-ascii"}:
        raise _refused("Content-Type", f"has the charset {_shown(charset)}. Send the text in UTF-8.")
    coding = request.headers.get("Content-Encoding", "").strip().lower()
    if coding not in {"", "identity"}:
        raise _refused("Content-Encoding", f"is {_shown(coding)}. Send the body as it is, without this header.")
    return kind


def broken_json(text: bytes) -> str | None:
    """Where JSON is broken, and what was expected there; None where it is not."""
    try:
        json.loads(text.decode())
    except UnicodeDecodeError as error:
        return f"is not UTF-8 at byte {error.start + 1:,}. Send the text in UTF-8."
    except json.JSONDecodeError as error:
        expected = f"{error.msg[:1].lower()}{error.msg[1:]}"
        return f"is broken JSON at line {error.lineno:,}, column {error.colno:,}: {expected}."
    except RecursionError:
        return "is JSON that is nested too deeply to be read."
    except ValueError:
        return "has a number with too many digits."
    return None


def _refused(header: str, message: str) -> Problem:
    return bad_field(header, message, place="header", status=415)


def _shown(text: str) -> str:
    return (text if len(text) <= 60 else text[:60] + "…") or "missing"
