"""CSV for table programs, line by line, so that a long list is never held whole."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

__all__ = ["csv_lines"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class _Line:
    """A file for the csv writer that gives back what is written."""

    def write(self, text: str) -> str:
        return text


def csv_lines(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The head, then a line a row. Text that a table program would take for a formula gets a quote before it."""
    writer = csv.writer(_Line())
    yield writer.writerow(head)
    for row in rows:
        yield writer.writerow([_cell(value) for value in row])


def _cell(value: object) -> object:
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    text = value.encode(errors="replace").decode().replace("\0", "\ufffd")
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
