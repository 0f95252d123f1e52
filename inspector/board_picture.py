"""The image of a leaderboard's link preview: 1,200 × 630 pixels, drawn on the server. It tells what the page tells."""

from __future__ import annotations

import io
import unicodedata
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from inspector.charts.theme import plural
from runs.boards import Board, Row, ordered_by, tasks_of
from runs.metrics import Method
from runs.queries.leaderboards import BoardPage

__all__ = ["board_line", "board_picture"]

_SIZE = (1200, 630)
_LEFT, _RIGHT = 72, 1128
_ROWS = 7
_TOP, _STEP = 222, 48
_LINE = (640, 1010)
"""Where the intervals lie."""
_DASH = 4
_PAPER, _INK, _INK_2, _GRID, _ACCENT, _FAIL = "#ffffff", "#1a1e1c", "#5f6763", "#e3e5df", "#3346c3", "#b3380f"


def board_picture(page: BoardPage) -> bytes:
    """A PNG with the title and the first rows with their intervals."""
    image = Image.new("RGB", _SIZE, _PAPER)
    draw = ImageDraw.Draw(image)
    _brand(draw)
    _text(draw, (_LEFT, 96), _fitting(page.title, 52, _RIGHT - _LEFT), 52, _INK)
    board = page.board
    _text(draw, (_LEFT, 164), board_line(board), 26, _INK_2)
    for number, row in enumerate(board.rows[:_ROWS]):
        _row(draw, page, row, _TOP + number * _STEP)
    more = len(board.rows) - _ROWS
    says = [f"and {more} more"] if more > 0 else []
    if board.published:
        says.append("published rows were not measured here")
    _text(draw, (_LEFT, 576), "; ".join(says), 22, _INK_2)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def board_line(board: Board) -> str:
    """What stands under the picture's title."""
    counts = f"{plural(board.k, 'repetition')}, {plural(len(board.rows), 'model')}"
    return f"{tasks_of(board)}, {counts}, by {ordered_by(board)}"


def _brand(draw: ImageDraw.ImageDraw) -> None:
    for at in range(20):
        x, y = _LEFT + at % 5 * 13, 36 + at // 5 * 11
        if at == 8:
            draw.ellipse((x, y, x + 8, y + 8), outline=_FAIL, width=2)
        else:
            draw.ellipse((x, y, x + 8, y + 8), fill=_ACCENT)
    _text(draw, (_LEFT + 80, 38), "twentyfold", 32, _INK)


def _row(draw: ImageDraw.ImageDraw, page: BoardPage, row: Row, y: int) -> None:
    figure = row.ranked_by(page.board.order)
    colour = _INK if row.is_published else _ACCENT
    _text(draw, (_LEFT, y), "–" if row.position is None else str(row.position), 30, _INK_2)
    _text(draw, (_LEFT + 64, y), _fitting(row.name, 30, 480), 30, colour)
    low, high = _LINE
    middle = y + 20
    draw.line((low, middle, high, middle), fill=_GRID, width=2)
    if figure.value is None:
        _text(draw, (high + 24, y), "–", 30, _INK_2)
        return
    if figure.interval is not None:
        ends = [_along(page, share) for share in (figure.interval.low, figure.interval.high)]
        if figure.interval.method is Method.WIDEST:
            for at in range(round(ends[0]), round(ends[1]), _DASH * 2):
                draw.line((at, middle, min(at + _DASH, ends[1]), middle), fill=colour, width=3)
        else:
            draw.line((ends[0], middle, ends[1], middle), fill=colour, width=4)
    x = _along(page, figure.value)
    draw.ellipse((x - 7, middle - 7, x + 7, middle + 7), fill=colour)
    _text(draw, (high + 24, y), f"{figure.value:.1%}", 30, _INK)


def _along(page: BoardPage, share: float) -> float:
    low, high = _LINE
    return low + (high - low) * min(1.0, share / page.axis)


def _text(draw: ImageDraw.ImageDraw, at: tuple[float, float], text: str, size: int, colour: str) -> None:
    draw.text(at, text, font=_font(size), fill=colour)


def _fitting(text: str, size: int, width: float) -> str:
    """On one line and no wider than that. What the font cannot draw, or what would not be seen, is a box."""
    plain = "".join("\N{WHITE SQUARE}" if unicodedata.category(each)[0] == "C" else each for each in text)
    plain = " ".join(plain.split())
    if _font(size).getlength(plain) <= width:
        return plain
    while plain and _font(size).getlength(f"{plain}…") > width:
        plain = plain[:-1]
    return f"{plain.rstrip()}…"


@lru_cache(maxsize=8)
def _font(size: int) -> ImageFont.FreeTypeFont:
    """The one that comes with the library, so that the picture is the same on every machine."""
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont), "Pillow is built with FreeType"
    return font
