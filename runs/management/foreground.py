"""What commands that work without `up` share: an up-to-date database, and standard output kept for the answer."""

from __future__ import annotations

import argparse
import fcntl

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

__all__ = ["ensure_database", "not_taken", "whole_number"]


def ensure_database() -> None:
    """Brings the database to the newest migration, quietly, where it is not there yet.

    Commands that start at once on a new data folder take turns.
    """
    with (settings.DATA_DIR / "migrate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", verbosity=0, interactive=False)


def not_taken(error: DatabaseError) -> str:
    """What a person is told when the database refuses rows."""
    return (
        f"the database did not take the rows ({str(error).strip()}). Look after the database, or make space on its "
        "disk, and run the command again: what is stored is not counted twice."
    )


def whole_number(text: str) -> int:
    """An option's number. Raises `argparse.ArgumentTypeError`."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number.") from None
