"""A leaderboard as a file: CSV, JSON, or one HTML page for those who cannot publish a server."""

from __future__ import annotations

import re
from functools import lru_cache

from django.conf import settings
from django.http import Http404, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from runs.boards.export import as_csv, as_json
from runs.queries.leaderboards import BoardPage

__all__ = ["board_file", "file_answer"]

_SHEETS = ("tokens", "base", "components", "pages", "boards")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def file_answer(page: BoardPage, kind: str) -> HttpResponse:
    """The page to take away, as `csv`, `json` or `html`. Raises Http404 for another kind."""
    frozen_at = page.frozen.frozen_at.isoformat() if page.frozen else None
    content: str | bytes
    match kind:
        case "csv":
            content, content_type = as_csv(page.board), "text/csv; charset=utf-8"
        case "json":
            content = as_json(page.board, title=page.title, text=page.text, frozen_at=frozen_at)
            content_type = "application/json"
        case "html":
            content, content_type = board_file(page), "text/html; charset=utf-8"
        case _:
            raise Http404
    answer = HttpResponse(content, content_type=content_type)
    answer["Content-Disposition"] = f'attachment; filename="{page.slug}.{kind}"'
    return answer


def board_file(page: BoardPage) -> str:
    """Holds what the page shows and its style sheets; no script, and nothing that is loaded from elsewhere."""
    context = {"page": page, "links": False, "styles": _styles(), "made_at": timezone.now(), "in_file": True}
    return render_to_string("leaderboards/file.html", context)


@lru_cache(maxsize=1)
def _styles() -> SafeString:
    """Our own style sheets, so nothing in them comes from outside."""
    folder = settings.BASE_DIR / "static" / "css"
    sheets = [_COMMENT.sub("", (folder / f"{name}.css").read_text(encoding="utf-8")) for name in _SHEETS]
    text = "\n".join(line.strip() for sheet in sheets for line in sheet.splitlines() if line.strip())
    assert "</" not in text, "a style sheet that would end the element it stands in"
    return mark_safe(text)  # noqa: S308 (our own files, checked above)
