from __future__ import annotations

from django.apps import AppConfig

# Makes the application the current one, so that the domain's tasks find their broker in any process.
from inspector import celery as celery
from inspector import checks as checks


class InspectorConfig(AppConfig):
    name = "inspector"
