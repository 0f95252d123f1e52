#!/usr/bin/env python
"""The command line of Twentyfold: `uv run manage.py up` starts everything, `uv run manage.py help` lists the rest."""

from __future__ import annotations

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        # A setting that cannot be read: its sentence says all there is to know.
        sys.exit(str(error))


if __name__ == "__main__":
    main()
