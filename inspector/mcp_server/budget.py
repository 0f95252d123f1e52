"""No answer may flood its reader: this measures each one as it is sent, shortens it until it fits, and says so."""

from __future__ import annotations

from typing import Any, ClassVar, Self, TypeVar

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field

from inspector.mcp_server.quoting import plain

__all__ = ["LIMIT", "Answer", "Listed", "Part", "answer", "fitted", "size_of"]

LIMIT = 15_500
"""Bytes of an answer as JSON: structured content, text and what is around them. What is promised is 16,000."""
_WIDTHS = (2000, 400, 160, 60, 24)
"""Characters that a text keeps; the next smaller one is taken where leaving out entries does not do."""
_WIDE = 400
"""Entries are left out before texts become shorter than this."""

Model = TypeVar("Model", bound=BaseModel)


class Part(BaseModel):
    """A piece of an answer."""

    model_config = ConfigDict(frozen=True)


class Answer(Part):
    """What a tool answers. `text` says the same for reading."""

    WHOLE: ClassVar[str] = ""
    """Which call gives a text that was cut here."""
    LISTS: ClassVar[dict[str, str]] = {}
    """Lists whose ends may be left out, the least needed first → which call gives the rest."""
    KEPT: ClassVar[frozenset[str]] = frozenset({"cut", "next", "slug", "run", "base", "candidate", "legend"})
    """Fields whose text is never cut, in this answer and its pieces: what calls are made with, and our own words."""

    cut: list[str] = Field(default=[], description="What was shortened or left out here, and which call gives it.")
    next: list[str] = Field(default=[], description="Calls that make sense now.")

    def lines(self) -> list[str]:
        raise NotImplementedError

    def text(self) -> str:
        lines = self.lines()
        if self.cut:
            lines += ["Left out or shortened here:", *(f"- {note}" for note in self.cut)]
        if self.next:
            lines += ["Next:", *(f"- {call}" for call in self.next)]
        return "\n".join(lines)

    def left_out(self, name: str, count: int) -> Self:
        """The same with only the first `count` entries of a list."""
        return self.model_copy(update={name: getattr(self, name)[:count]})

    def fits(self) -> bool:
        return _fits(self, LIMIT)

    def noting(self, *notes: str) -> Self:
        return self.model_copy(update={"cut": [*self.cut, *notes]}) if notes else self


class Listed(Answer):
    """An answer with a window of a longer list, its last in LISTS."""

    total: int = Field(description="Entries in all that fit the question.")
    offset: int = Field(description="Entries before the first one here.")
    shown: int = Field(description="Entries here.")
    next_offset: int | None = Field(description="The offset that gives the next entries; null at the end.")

    def left_out(self, name: str, count: int) -> Self:
        if name != list(self.LISTS)[-1]:
            return super().left_out(name, count)
        return self.model_copy(
            update={name: getattr(self, name)[:count], "shown": count, "next_offset": self.offset + count}
        )

    def window(self, noun: str) -> str:
        """`runs 1 to 20 of 431; the next with offset=20`."""
        if not self.shown:
            return f"no {noun} here, {self.total:,} in all"
        more = (
            ""
            if self.next_offset is None
            else f"; {self.total - self.next_offset:,} more with offset={self.next_offset}"
        )
        return f"{noun} {self.offset + 1:,} to {self.offset + self.shown:,} of {self.total:,}{more}"


def answer(made: Answer) -> CallToolResult:
    """The answer as it is sent: structured content and text, within the limit."""
    return _result(fitted(made))


def size_of(result: CallToolResult) -> int:
    """Bytes as JSON."""
    return len(result.model_dump_json(by_alias=True, exclude_none=True).encode(errors="backslashreplace"))


def fitted(made: Answer, limit: int = LIMIT) -> Answer:
    """The answer, shortened until it fits: long texts first, then ends of lists, then all texts."""
    if _fits(made, limit):
        return made
    for width in _WIDTHS:
        shown, was_cut = _clipped(made, width)
        if was_cut:
            shown = shown.noting(f"Texts longer than {width:,} characters. {made.WHOLE}".strip())
        if _fits(shown, limit):
            return shown
        if width > _WIDE:
            continue
        for name, how in made.LISTS.items():
            shown = _with_fewer(shown, name, how, limit)
            if _fits(shown, limit):
                return shown
    raise AssertionError(f"{type(made).__name__} does not fit {limit:,} bytes however it is shortened.")


def _with_fewer(made: Answer, name: str, how: str, limit: int) -> Answer:
    """With as many entries of a list as fit, at least one of those that are the point of the answer."""
    entries = getattr(made, name)
    least = 1 if name == list(made.LISTS)[-1] else 0
    if len(entries) <= least:
        return made

    def keeping(count: int) -> Answer:
        gone = f"{len(entries) - count:,} of {len(entries):,} {name.replace('_', ' ')}"
        return made.left_out(name, count).noting(f"{gone}. {how.format(next=_next(made, count))}")

    low, high = least, len(entries) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _fits(keeping(middle), limit) else (low, middle - 1)
    return keeping(low)


def _next(made: Answer, count: int) -> int:
    return getattr(made, "offset", 0) + count


def _fits(made: Answer, limit: int) -> bool:
    return _least(made) <= limit and size_of(_result(made)) <= limit


def _least(value: Any) -> int:
    """Bytes that the structured content takes at least: what is far too long need not be written to know it."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(_least(item) + 1 for item in value)
    if isinstance(value, BaseModel):
        return sum(_least(getattr(value, name)) + len(name) for name in type(value).model_fields)
    return 1


def _result(made: Answer) -> CallToolResult:
    text = plain_lines(made.text())
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=_sendable(made.model_dump(mode="python"))
    )


def plain_lines(text: str) -> str:
    return "\n".join(plain(line) for line in text.split("\n"))


def _sendable(value: Any) -> Any:
    """Halves of surrogate pairs, which a trace may hold and UTF-8 cannot, become their escapes."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, list):
        return [_sendable(item) for item in value]
    if isinstance(value, dict):
        return {_sendable(key): _sendable(item) for key, item in value.items()}
    return value


def _clipped(made: Model, width: int) -> tuple[Model, bool]:
    """The same with each text of a bundle at most `width` characters long, and whether one was longer."""
    found = False

    def clip(value: Any) -> Any:
        nonlocal found
        if isinstance(value, str) and len(value) > width:
            found = True
            return f"{value[:width]}… (+{len(value) - width:,} characters)"
        if isinstance(value, list):
            return [clip(item) for item in value]
        if isinstance(value, BaseModel):
            return value.model_copy(
                update={
                    name: clip(getattr(value, name)) for name in type(value).model_fields if name not in Answer.KEPT
                }
            )
        return value

    clipped: Model = clip(made)
    return clipped, found
