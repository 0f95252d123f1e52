#!/usr/bin/env python
"""The command line of Twentyfold: `uv run manage.py up` starts everything, `uv run manage.py help` lists the rest."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
