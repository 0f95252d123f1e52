"""What the two databases do each in its own way: locks, snapshots, checks. The index of words is in `runs.search`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

__all__ = [
    "add_links",
    "add_payloads",
    "damage",
    "held_payloads",
    "insert_rows",
    "is_sqlite",
    "reserve_ids",
    "snapshot",
    "spare_memory",
]


def is_sqlite() -> bool:
    return connection.vendor == "sqlite"


def spare_memory() -> None:
    """Keeps less of an SQLite file in memory on this connection from here on.

    Pages are quicker with the file mapped, but all of it that was touched counts as memory of the process, and who
    stores rows touches all of it.
    """
    if is_sqlite():
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA mmap_size=0")
            cursor.execute("PRAGMA cache_size=-16000")


def held_payloads(digests: Iterable[str]) -> dict[str, int]:
    """The stored payloads with these digests, digest → id. None of them goes until the transaction has ended."""
    wanted = sorted(digests)
    if not wanted:
        return {}
    with connection.cursor() as cursor:
        if is_sqlite():  # one writer at a time
            marks = ",".join(["%s"] * len(wanted))
            cursor.execute(f"SELECT digest, id FROM runs_payload WHERE digest IN ({marks})", wanted)  # noqa: S608
        else:
            # Writers share this lock, and take it in one order.
            cursor.execute(
                "SELECT digest, id FROM runs_payload WHERE digest = ANY(%s) ORDER BY digest FOR KEY SHARE", [wanted]
            )
        return dict(cursor.fetchall())


def add_payloads(payloads: Iterable[tuple[str, int, bytes]]) -> None:
    """Stores payloads (digest, size, data), in this order; those that are there by now stay as they are."""
    _insert_new("runs_payload", ("digest", "size", "data"), payloads)


def add_links(links: Iterable[tuple[int, int]]) -> None:
    """Stores which state (id) holds which table (id)."""
    _insert_new("runs_payloadpart", ("whole_id", "part_id"), links)


def _insert_new(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    given = list(rows)
    if not given:
        return
    marks = ", ".join(["%s"] * len(columns))
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) ON CONFLICT DO NOTHING",  # noqa: S608
            given,
        )


def reserve_ids(table: str, count: int) -> list[int]:
    """Ids for so many new rows of a table, in order. Nobody else gets them. Part of a transaction that writes."""
    with connection.cursor() as cursor:
        if is_sqlite():
            # One writer at a time. Ids of deleted rows are not given again, as AUTOINCREMENT has it.
            cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
            (last,) = cursor.fetchone() or (0,)
            return list(range(last + 1, last + count + 1))
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count])
        return sorted(pk for (pk,) in cursor.fetchall())


@contextmanager
def snapshot() -> Iterator[None]:
    """All that is read inside is of one moment. Nobody waits for it, and it waits for nobody."""
    if connection.in_atomic_block:
        yield
    elif is_sqlite():
        connection.ensure_connection()
        # Not `atomic`: its transactions take the place of the one writer.
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute("ROLLBACK")
    else:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield


def damage() -> list[str]:
    """What the database's own check finds in its file. PostgreSQL has none that is always there: an empty list."""
    if not is_sqlite():
        return []
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA quick_check(20)")
        return [text for (text,) in cursor.fetchall() if text != "ok"]


def insert_rows(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Inserts rows whose values are as the database's driver takes them. PostgreSQL: by COPY."""
    quote = connection.ops.quote_name
    names = ", ".join(map(quote, columns))
    with connection.cursor() as cursor:
        if is_sqlite():
            marks = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {quote(table)} ({names}) VALUES ({marks})", list(rows))  # noqa: S608
        else:
            # Errors of a copy come from the driver itself.
            with connection.wrap_database_errors, cursor.copy(f"COPY {quote(table)} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
