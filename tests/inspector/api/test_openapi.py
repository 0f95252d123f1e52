"""The schema of the API: a change of it is seen in `snapshots/openapi.json`.

Write it anew with `uv run python -m tests.inspector.api.test_openapi`, and look at the difference.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from django.test import Client

SNAPSHOT = Path(__file__).resolve().parents[1] / "snapshots" / "openapi.json"


def written(schema: Any) -> str:
    return json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def test_the_schema_is_the_one_that_was_agreed_on(client: Client, db: None) -> None:
    assert written(client.get("/api/v1/openapi.json").json()) == SNAPSHOT.read_text(encoding="utf-8")


def test_each_operation_is_described_and_refuses_in_one_way(client: Client, db: None) -> None:
    schema = client.get("/api/v1/openapi.json").json()
    names = set()
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            assert operation["responses"]["4XX"] == {"$ref": "#/components/responses/Problem"}
            names.add(operation["operationId"])
    assert len(names) == sum(map(len, schema["paths"].values()))
    referred = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(schema)))
    assert referred <= schema["components"]["schemas"].keys()


def test_the_page_names_every_operation(client: Client, db: None) -> None:
    schema = client.get("/api/v1/openapi.json").json()
    page = client.get("/api/v1/docs")
    shown = page.content.decode()
    assert page.status_code == 200
    assert [
        path
        for path, methods in schema["paths"].items()
        for method in methods
        if f'data-method="{method.upper()}" data-path="{path}"' not in shown
    ] == []
    assert "<script>" not in shown


if __name__ == "__main__":
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
    django.setup()
    from inspector.api.app import api

    SNAPSHOT.write_text(written(json.loads(json.dumps(api.get_openapi_schema()))), encoding="utf-8")
