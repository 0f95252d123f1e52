"""The tables of docs/access.md that say what is answered to whom, as tests read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

__all__ = ["rows_of"]

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "access.md"


def rows_of(*first: str) -> Iterator[tuple[tuple[str, ...], dict[str, str]]]:
    """Of all tables whose columns begin with these: what stands in them, and of the other named columns name → cell."""
    columns: list[str] = []
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if cells[: len(first)] == list(first):
            columns = [name.replace("`", "") for name in cells[len(first) :]]
        elif not cells:
            columns = []
        elif columns and not set(cells[0]) <= {"-"}:
            rest = zip(columns, cells[len(first) :], strict=False)
            yield tuple(cell.strip("`") for cell in cells[: len(first)]), {name: cell for name, cell in rest if name}
