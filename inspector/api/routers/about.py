"""Who asks, and the schema."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from inspector.api.answers import json_answer
from inspector.api.auth import access
from inspector.api.operations import Sparse, operation, reads
from inspector.api.structs import Sender

router = Router()


@reads(router, "/access", Sender, example={"name": "", "evaluates": True, "writes": True, "administers": True})
def sender(request: HttpRequest, sparse: Query[Sparse]) -> Sender:
    """Who the server takes you for, and what you may."""
    found = access(request)
    return Sender(name=found.name, evaluates=found.evaluates, writes=found.writes, administers=found.administers)


@operation(router, ["GET"], "/openapi.json", {200: ("application/json", {"type": "object"}, None)})
def schema(request: HttpRequest) -> HttpResponse:
    """This description, for programs."""
    from inspector.api.app import api  # noqa: PLC0415  # the schema is of all routers, this one included

    return json_answer(request, dict(api.get_openapi_schema()))
