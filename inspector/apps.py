from __future__ import annotations

from django.apps import AppConfig

# Makes the application the current one, so that the domain's tasks find their broker in any process.
from inspector import celery as celery


class InspectorConfig(AppConfig):
    name = "inspector"
