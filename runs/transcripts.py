"""An attempt's transcript as searchable text: what is indexed, what a query means, and where its words stand.

Plain Python. Words are found whatever their case and accents; text without spaces between words (Chinese, Japanese,
Korean) is indexed character by character. `runs.search` puts the text into the database's index and asks it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from runs.records import UNSET, AttemptRecord, Step, StepKind

__all__ = [
    "LONGEST_MESSAGE", "LONGEST_RESPONSE", "Excerpt", "Piece", "Query", "excerpts", "marked", "parse_query", "segments",
    "spaced", "transcript_text", "words_of",
]  # fmt: skip

LONGEST_MESSAGE = 20_000
"""Characters of a message or thought that are searched."""
LONGEST_RESPONSE = 4_000
"""Characters of a call's arguments, and of its response, that are searched."""
_LONGEST_TEXT = 200_000
_MOST_TERMS = 20
_AROUND = 90
"""Characters of an excerpt on each side of what was found."""

# Scripts that put no spaces between words.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_CHARACTER = re.compile(f"[{_UNSPACED}]")
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+")
_TERM = re.compile(r'"([^"]*)"|(\S+)')


class Query(msgspec.Struct, frozen=True):
    """Terms that must all occur. A term is one word, or several in this order and side by side."""

    terms: tuple[tuple[str, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.terms)


class Piece(msgspec.Struct, frozen=True):
    text: str
    hit: bool


class Excerpt(msgspec.Struct, frozen=True):
    """A place in a transcript. The step counts from 1."""

    step: int
    who: str
    """`agent`, `user`, `thought`, or the tool's name."""
    pieces: list[Piece]


class _Folding(dict[int, str]):
    """Maps each character to one: lower case, without accent. Keeps the length of a text, so places stay places."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = (unicodedata.normalize("NFD", character)[:1] if code < 0xAC00 else character).lower()
        self[code] = folded if len(folded) == 1 else character
        return self[code]


_FOLDING = _Folding()


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_FOLDING)


def words_of(text: str) -> list[str]:
    """The words of a text, folded; each character of an unspaced script is one."""
    return _WORD.findall(_folded(unicodedata.normalize("NFC", text)))


def parse_query(text: str) -> Query:
    """What somebody typed: words, and "words in this order". Nothing is an operator; the first twenty terms count."""
    terms = (tuple(words_of(match[1] or match[2] or "")) for match in _TERM.finditer(text))
    return Query(tuple([term for term in terms if term][:_MOST_TERMS]))


def spaced(text: str) -> str:
    """The text with spaces round each character of an unspaced script, so that any part of a run of them is found."""
    return text if text.isascii() else _CHARACTER.sub(r" \g<0> ", text)


def transcript_text(record: AttemptRecord) -> str:
    """Everything said, thought, called and answered, one piece a line; beginnings only of what is very long."""
    return "\n".join(text for _, _, text in segments(record))[:_LONGEST_TEXT]


def segments(record: AttemptRecord) -> Iterator[tuple[int, str, str]]:
    """The searchable pieces in order: step, who it is from, text without what no database can store."""
    for step in record.steps:
        for text, limit in _texts(step):
            if text:
                yield step.index, _who(step), _storable(text[:limit])


def _texts(step: Step) -> Iterator[tuple[str, int]]:
    if step.kind is StepKind.CALL:
        arguments = "" if step.arguments is UNSET else " ".join(_leaves(step.arguments))
        yield f"{step.name or ''} {arguments}", LONGEST_RESPONSE
    if step.kind in {StepKind.CALL, StepKind.RESPONSE}:
        yield _plain(step.content or ""), LONGEST_RESPONSE
    else:
        yield step.content or "", LONGEST_MESSAGE


def _who(step: Step) -> str:
    if step.kind is StepKind.THOUGHT:
        return "thought"
    if step.kind is StepKind.MESSAGE:
        return "agent" if step.is_agent else step.role
    return step.name or "tool"


def _plain(text: str, depth: int = 3) -> str:
    """JSON with escapes in it as its words: an escaped line feed would glue its letter to the next word.

    JSON may hold JSON as text: that is looked into too, `depth` times.
    """
    if not depth or "\\" not in text or not text.lstrip().startswith(("{", "[", '"')):
        return text
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text
    return " ".join(_plain(leaf, depth - 1) for leaf in _leaves(value))


def _leaves(value: Any) -> Iterator[str]:
    """Names and values of a JSON value, in order. Written without recursion: nesting may be very deep."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            for name, inner in reversed(item.items()):
                waiting += (inner, str(name))
        elif isinstance(item, list):
            waiting += reversed(item)
        elif item is not None:
            yield item if isinstance(item, str) else msgspec.json.encode(item).decode()


def _storable(text: str) -> str:
    text = text.replace("\0", " ")
    return text if text.isascii() else text.encode(errors="replace").decode()


def marked(text: str, query: Query) -> list[Piece]:
    """The whole text, with the words marked."""
    if not query:
        return [Piece(text, False)] if text else []
    return _pieces(text, _folded(text), _pattern(query.terms), 0, len(text))


def excerpts(record: AttemptRecord, query: Query, *, shown: str = "", most: int = 2) -> list[Excerpt]:
    """Places where the words stand: at most `most`, each term where it stands first, and no term that `shown` has.

    Empty where a phrase runs over the edge of two pieces.
    """
    if not query:
        return []
    before = _folded(shown)
    patterns = ((_pattern([term]), term) for term in query.terms)
    missing = [(pattern, term) for pattern, term in patterns if not pattern.search(before)]
    every = _pattern(query.terms)
    found: list[Excerpt] = []
    for step, who, text in segments(record):
        folded = _folded(text)
        hit = next((match for match in (pattern.search(folded) for pattern, _ in missing) if match), None)
        if hit is None:
            continue
        start, end = _window(text, hit.start(), hit.end())
        found.append(Excerpt(step, who, _pieces(text, folded, every, start, end)))
        missing = [(pattern, term) for pattern, term in missing if not pattern.search(folded, start, end)]
        if not missing or len(found) == most:
            break
    return found


def _pattern(terms: Iterable[Sequence[str]]) -> re.Pattern[str]:
    """Finds terms in folded text, where the index would."""
    return re.compile("|".join(_term(term) for term in terms))


def _term(term: Sequence[str]) -> str:
    parts = []
    for number, word in enumerate(term):
        if number:
            close = _CHARACTER.fullmatch(word) or _CHARACTER.fullmatch(term[number - 1])
            parts.append(r"[\W_]*" if close else r"[\W_]+")
        parts.append(re.escape(word))
    before = "" if _CHARACTER.fullmatch(term[0]) else rf"(?<!(?![{_UNSPACED}])[^\W_])"
    after = "" if _CHARACTER.fullmatch(term[-1]) else rf"(?!(?![{_UNSPACED}])[^\W_])"
    return before + "".join(parts) + after


def _window(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch of text round what was found, cut between words where there are spaces near."""
    first, last = max(0, start - _AROUND), min(len(text), end + _AROUND)
    if first:
        space = text.find(" ", first, start)
        first = space + 1 if space != -1 else first
    if last < len(text):
        space = text.rfind(" ", end, last)
        last = space if space != -1 else last
    return first, last


def _pieces(text: str, folded: str, pattern: re.Pattern[str], start: int, end: int) -> list[Piece]:
    pieces = [Piece("… ", False)] if start else []
    at = start
    for match in pattern.finditer(folded, start, end):
        if match.start() > at:
            pieces.append(Piece(text[at : match.start()], False))
        pieces.append(Piece(text[match.start() : match.end()], True))
        at = match.end()
    if at < end:
        pieces.append(Piece(text[at:end], False))
    return [*pieces, Piece(" …", False)] if end < len(text) else pieces
