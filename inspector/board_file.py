"""A leaderboard as a file: CSV, JSON, or one HTML page for those who cannot publish a server."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from django.conf import settings
from django.http import Http404, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from inspector.board_charts import board_charts
from inspector.charts.data import Chart
from inspector.charts.svg import drawing
from runs.boards.export import as_csv, as_json
from runs.queries.leaderboards import BoardPage

__all__ = ["board_file", "file_answer"]

_SHEETS = ("tokens", "base", "components", "pages", "boards", "charts")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


class DrawnChart(NamedTuple):
    chart: Chart
    svg: SafeString
    """Empty where nothing can be drawn."""


def file_answer(page: BoardPage, kind: str, least: int = 0) -> HttpResponse:
    """The page to take away, as `csv`, `json` or `html`. Raises Http404 for another kind.

    `least`: the pass@1 in percent under which the page's charts leave models out.
    """
    frozen_at = page.frozen.frozen_at.isoformat() if page.frozen else None
    content: str | bytes
    match kind:
        case "csv":
            content, content_type = as_csv(page.board), "text/csv; charset=utf-8"
        case "json":
            content = as_json(page.board, title=page.title, text=page.text, frozen_at=frozen_at)
            content_type = "application/json"
        case "html":
            content, content_type = board_file(page, least), "text/html; charset=utf-8"
        case _:
            raise Http404
    answer = HttpResponse(content, content_type=content_type)
    answer["Content-Disposition"] = f'attachment; filename="{page.slug}.{kind}"'
    return answer


def board_file(page: BoardPage, least: int = 0) -> str:
    """Holds what the page shows and its style sheets; no script, and nothing that is loaded from elsewhere."""
    context = {
        "page": page,
        "links": False,
        "styles": _styles(),
        "made_at": timezone.now(),
        "in_file": True,
        "drawings": [_drawn(chart) for chart in board_charts(page, links=False, least=least)],
    }
    return render_to_string("leaderboards/file.html", context)


def _drawn(chart: Chart) -> DrawnChart:
    if chart.figure is None:
        return DrawnChart(chart, SafeString(""))
    label = f"{chart.title}. The same values are in the table below."
    return DrawnChart(chart, mark_safe(drawing(chart.figure, label)))  # noqa: S308 (it escapes every text)


@lru_cache(maxsize=1)
def _styles() -> SafeString:
    """Our own style sheets, so nothing in them comes from outside."""
    folder = settings.BASE_DIR / "static" / "css"
    sheets = [_COMMENT.sub("", (folder / f"{name}.css").read_text(encoding="utf-8")) for name in _SHEETS]
    text = "\n".join(line.strip() for sheet in sheets for line in sheet.splitlines() if line.strip())
    assert "</" not in text, "a style sheet that would end the element it stands in"
    return mark_safe(text)  # noqa: S308 (our own files, checked above)
