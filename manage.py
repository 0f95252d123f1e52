#!/usr/bin/env python
"""The command line of Twentyfold: `uv run manage.py up` starts everything, `uv run manage.py help` lists the rest."""

from __future__ import annotations

import errno
import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
    try:
        execute_from_command_line(sys.argv)
    except BrokenPipeError:
        # The reader of the output has gone, as `head` does. What is still in the buffer has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit("There is no space left on the disk. Make some and run the command again; nothing is stored twice.")
    except ImproperlyConfigured as error:
        # A setting that cannot be read: its sentence says all there is to know.
        sys.exit(str(error))


if __name__ == "__main__":
    main()
