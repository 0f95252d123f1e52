"""Full text over transcripts: written, asked and forgotten, in each database's own way.

SQLite: a contentless FTS5 table, written in the transaction that stores the attempts. It keeps no text, so a row is
taken out with the text that was put in, which is made again from the attempt's payload.
PostgreSQL: a tsvector with a GIN index. It costs some sixteen times as much to write, so the store only notes what
waits (`PendingTranscript`), and workers index it in chunks when no upload waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet

from runs.batches import batches
from runs.models import Attempt, PendingTranscript, Trace
from runs.payloads import load_record
from runs.transcripts import Query, spaced, transcript_text, words_of

__all__ = [
    "anything_waits", "clear", "create_index", "drop_index", "forget", "index_some", "insert", "matching",
    "merge_late", "queue", "queue_all", "unindexed", "write",
]  # fmt: skip

_BATCH = 100


def create_index(connection: BaseDatabaseWrapper) -> None:
    """Makes the empty index. For migrations."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                "CREATE VIRTUAL TABLE runs_transcript "
                "USING fts5(words, content='', tokenize='unicode61 remove_diacritics 2')"
            )
        else:
            # Without a foreign key: rows go with their attempts by `forget`, as they do on SQLite.
            cursor.execute("CREATE TABLE runs_transcript (attempt_id bigint PRIMARY KEY, words tsvector NOT NULL)")
            cursor.execute("CREATE INDEX transcript_words ON runs_transcript USING gin (words)")
    merge_late(connection)


def merge_late(connection: BaseDatabaseWrapper) -> None:
    """Lets SQLite merge the parts of the index sixteen at a time instead of four. For migrations, too.

    A large index is otherwise read again and again: 800 rows beside a hundred thousand cost twice the time.
    """
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO runs_transcript(runs_transcript, rank) VALUES (%s, %s)",
                [("automerge", 16), ("crisismerge", 64)],
            )


def drop_index(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE runs_transcript")


def write(texts: Sequence[tuple[int, str]]) -> None:
    """Takes up new attempts: id and `transcript_text`. Part of the transaction that stores them."""
    if _is_sqlite():
        insert(texts)
    else:
        PendingTranscript.objects.bulk_create(PendingTranscript(attempt_id=pk) for pk, _ in texts)


def forget(attempts: QuerySet[Attempt]) -> None:
    """Takes attempts out of the index. Call it before their traces are deleted, in the same transaction."""
    # What waits first: a worker that is indexing one of them ends before this goes on.
    waiting = set(PendingTranscript.objects.filter(attempt__in=attempts).values_list("attempt_id", flat=True))
    PendingTranscript.objects.filter(attempt__in=attempts).delete()
    for ids in batches(attempts.order_by("pk").values_list("pk", flat=True), _BATCH):
        with connection.cursor() as cursor:
            if _is_sqlite():
                cursor.executemany(
                    "INSERT INTO runs_transcript(runs_transcript, rowid, words) VALUES ('delete', %s, %s)",
                    [(pk, spaced(text)) for pk, text in _texts(pk for pk in ids if pk not in waiting)],
                )
            else:
                cursor.execute("DELETE FROM runs_transcript WHERE attempt_id = ANY(%s)", [ids])


def index_some(limit: int = _BATCH) -> int:
    """Indexes some of what waits, oldest first, in one transaction. Returns how many; 0: nothing is left to take."""
    with transaction.atomic():
        waiting = PendingTranscript.objects.select_for_update(skip_locked=True, of=("self",)).order_by("pk")
        ids = [pending.pk for pending in waiting[:limit]]
        if ids:
            insert(_texts(ids))
            PendingTranscript.objects.filter(pk__in=ids).delete()
    return len(ids)


def anything_waits() -> bool:
    return PendingTranscript.objects.exists()


@transaction.atomic
def clear() -> None:
    """Empties the index; nothing is found until `queue_all` and the workers have filled it again."""
    PendingTranscript.objects.all().delete()
    drop_index(connection)
    create_index(connection)


def queue_all(connection: BaseDatabaseWrapper) -> None:
    """Lets all stored attempts wait to be indexed."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO runs_pendingtranscript (attempt_id) SELECT id FROM runs_attempt")


def unindexed() -> list[int]:
    """Attempts with a transcript (ids) that is neither in the index nor waits for it, in order."""
    column = "rowid" if _is_sqlite() else "attempt_id"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT attempt_id FROM runs_trace EXCEPT SELECT {column} FROM runs_transcript "  # noqa: S608
            "EXCEPT SELECT attempt_id FROM runs_pendingtranscript ORDER BY 1"
        )
        return [pk for (pk,) in cursor.fetchall()]


def queue(ids: Iterable[int]) -> None:
    """Lets attempts (ids) wait to be indexed."""
    PendingTranscript.objects.bulk_create((PendingTranscript(attempt_id=pk) for pk in ids), ignore_conflicts=True)


def matching(query: Query) -> npt.NDArray[np.int64]:
    """Ids of the attempts that have all terms, in no order; also ids that are no attempt any more."""
    if not query:
        return np.empty(0, dtype=np.int64)
    # Words hold letters and digits only, and stand in quotes: nothing in them is an operator. The ids come as one text,
    # since a frequent word has hundreds of thousands.
    if _is_sqlite():
        wanted = " ".join(f'"{" ".join(term)}"' for term in query.terms)
        with connection.cursor() as cursor:
            cursor.execute("SELECT group_concat(rowid) FROM runs_transcript WHERE runs_transcript MATCH %s", [wanted])
            (ids,) = cursor.fetchone() or (None,)
    else:
        wanted = " & ".join("(" + " <-> ".join(f"'{word}'" for word in term) + ")" for term in query.terms)
        with transaction.atomic(), connection.cursor() as cursor:
            # The planner takes reading the whole table for cheap: it does not see that the vectors lie outside it.
            cursor.execute("SET LOCAL enable_seqscan TO off")
            cursor.execute(
                "SELECT string_agg(attempt_id::text, ',') FROM runs_transcript WHERE words @@ to_tsquery('simple', %s)",
                [wanted],
            )
            (ids,) = cursor.fetchone() or (None,)
            cursor.execute("SET LOCAL enable_seqscan TO DEFAULT")
    return np.fromstring(ids, dtype=np.int64, sep=",") if ids else np.empty(0, dtype=np.int64)


def _is_sqlite() -> bool:
    return connection.vendor == "sqlite"


def insert(texts: Iterable[tuple[int, str]]) -> None:
    """Puts texts of attempts (ids) into the index. None of them may be in it yet."""
    with connection.cursor() as cursor:
        if _is_sqlite():
            cursor.executemany(
                "INSERT INTO runs_transcript(rowid, words) VALUES (%s, %s)", [(pk, spaced(text)) for pk, text in texts]
            )
        else:
            cursor.executemany(
                "INSERT INTO runs_transcript(attempt_id, words) VALUES (%s, to_tsvector('simple', %s)) "
                "ON CONFLICT (attempt_id) DO UPDATE SET words = excluded.words",
                [(pk, " ".join(words_of(text))) for pk, text in texts],
            )


def _texts(ids: Iterable[int]) -> Iterator[tuple[int, str]]:
    for trace in Trace.objects.filter(pk__in=list(ids)).select_related("dictionary").defer("evidence"):
        yield trace.pk, transcript_text(load_record(trace, masked=False))
