"""Formats: numbers, times and texts as the pages write them. No query, no decision.

Text from a bundle is hostile. `visible` keeps it text and shows what would otherwise act or hide: control characters,
and the marks that turn the direction of writing. Each filter returns plain text, which the template escapes; `value`
builds its few elements with `format_html`, which escapes what it is given.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec
from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from runs.queries.failure_words import Difference
from runs.queries.tasks import FirstEffect
from runs.queries.values import Shown, ValueKind, json_pretty, stored_value

register = template.Library()

# C0 without tab and line feed, DEL, C1; direction marks, embeddings, overrides and isolates; separators that do not
# show; surrogates. Joiners stay: emoji and several scripts need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)

_WBR = format_html("<wbr{}>", "")
_WORDS = {
    ValueKind.NULL: "null",
    ValueKind.EMPTY_TEXT: "empty text",
    ValueKind.EMPTY_LIST: "[ ]",
    ValueKind.EMPTY_OBJECT: "{ }",
    ValueKind.NO_ROW: "no such row",
    ValueKind.NO_FIELD: "no such field",
    ValueKind.UNRECORDED: "not recorded",
    ValueKind.UNKNOWN: "written, value not shown",
}


_Difference = TypeVar("_Difference", Difference, FirstEffect)


def _mark(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


@register.filter
def visible(text: object) -> str:
    """Text of a bundle with its invisible characters written out: ESC as ␛, a right-to-left override as ⟨U+202E⟩."""
    return _HIDDEN.sub(_mark, str(text).replace("\r\n", "\n"))


@register.filter
def written(difference: _Difference) -> _Difference:
    """A difference with its values as people write them, in place of the JSON that is stored."""
    values = {"after": stored_value(difference.after), "required": stored_value(difference.required)}
    return msgspec.structs.replace(difference, **values)


@register.filter
def marked(text: object, words: str) -> SafeString:
    """Text of a bundle as `visible` shows it, with each occurrence of the words, in upper or lower case, as a mark."""
    whole = str(text)
    if not words:
        return format_html("{}", visible(whole))
    pieces = re.split(f"({re.escape(words)})", whole, flags=re.IGNORECASE)
    shown = [format_html("<mark>{}</mark>", visible(one)) if at % 2 else visible(one) for at, one in enumerate(pieces)]
    return format_html_join("", "{}", ((one,) for one in shown))


@register.filter("bytes")
def bytes_(count: int | None) -> str:
    """`370 B`, `12.7 kB`, `5.0 MB` (decimal units); a dash for None."""
    if count is None:
        return "–"
    if count < 1000:
        return f"{count} B"
    size = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        size /= 1000
        if size < 999.95 or unit == "TB":
            break
    return f"{size:.1f} {unit}"


@register.filter
def count(number: int | None) -> str:
    """A whole number with commas: `182,520`; a dash for None."""
    return "–" if number is None else f"{number:,}"


@register.filter
def tokens(number: int | None) -> str:
    """`950`, `178.7k`, `1.24M`; a dash for None."""
    if number is None:
        return "–"
    if number < 1000:
        return str(number)
    if number < 999_950:
        return f"{number / 1000:.1f}k"
    return f"{number / 1_000_000:.2f}M"


@register.filter
def seconds(value: float | None) -> str:
    """A duration given in seconds: `45 ms`, `6.0 s`, `3 min 20 s`, `2 h 5 min`; a dash for None."""
    if value is None:
        return "–"
    if value < 0.0995:
        return f"{value * 1000:.0f} ms"
    if value < 59.95:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@register.filter
def percent(share: float | None) -> str:
    """A share between 0 and 1 as `93.5%`; a dash for None. A share that is not whole is never rounded to 0% or 100%."""
    if share is None:
        return "–"
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 <= share < 1:
        return ">99.9%"
    return f"{share:.1%}"


@register.filter
def json_text(value: Any) -> str:
    """A decoded JSON value as indented JSON."""
    return visible(json_pretty(value))


@register.filter
def plural(number: int, words: str) -> str:
    """`{{ n|plural:"row,rows" }}`: the number with the word that fits it."""
    one, many = words.split(",")
    return f"{number:,} {one if number == 1 else many}"


@register.filter
def code_spans(text: str) -> SafeString:
    """What stands between backticks as code. Everything is escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return format_html("{}", text)
    shown = (format_html("<code>{}</code>" if number % 2 else "{}", part) for number, part in enumerate(parts))
    return format_html_join("", "{}", ((part,) for part in shown))


_SIGNS = {"correct": "=", "wrong": "≠", "missing": "−", "extra": "+", "ungraded": "·", "reported": "≠"}


@register.filter
def sign(kind: str) -> str:
    """The sign of an effect's kind: it stands before the word, and is never alone."""
    return _SIGNS.get(kind, "")


@register.filter
def breakable(name: str) -> SafeString:
    """A name of a field or table that may break behind each underscore."""
    parts = visible(name).split("_")
    return format_html_join(format_html("_{}", _WBR), "{}", ((part,) for part in parts))


@register.filter
def value(shown: Shown) -> SafeString:
    """A value as it stands in a cell. What is no value is set apart by its class, never by quotes or brackets alone."""
    word = _WORDS.get(shown.kind)
    if word is not None:
        return format_html('<span class="gone">{}</span>', word)
    if shown.kind is ValueKind.LIST:
        items = format_html_join(
            "", "<li{}><bdi>{}</bdi></li>", ((_surplus(item.differs), visible(item.text)) for item in shown.items)
        )
        return format_html('<ul class="set">{}</ul>', items)
    name = "long" if shown.is_long else "val"
    return format_html('<span class="{}" dir="auto">{}</span>', name, visible(shown.text))


def _surplus(differs: bool) -> SafeString:
    return format_html(' class="{}"', "surplus") if differs else format_html("{}", "")
