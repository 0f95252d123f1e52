"""Where secrets stand in a text: keys of known services, tokens, passwords, private keys. Pure.

Each rule waits for a literal that all its secrets have (`sk-`, `password`), which is looked for first; only where one
stands is a pattern tried, and each pattern has a longest match. So the time grows with the length of a text, whatever
stands in it. JSON within JSON is looked through with its escapes on; no span has a quote or a line end in it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import product
from typing import NamedTuple

import numpy as np

__all__ = ["CURRENT", "Kind", "Span", "spans_in"]

CURRENT = 1
"""The version of the rules below. What an attempt's count of secrets was made with is stored beside it."""


class Kind(StrEnum):
    API_KEY = "API key"
    TOKEN = "token"
    PASSWORD = "password"
    PRIVATE_KEY = "private key"


class Span(NamedTuple):
    start: int
    end: int
    kind: Kind


_Finder = Callable[[bytes, int], "Span | None"]
"""Looks at one place of the text where the rule's literal stands."""

# A word begins here. Of an escaped line feed, tab or letter within JSON the last sign is no part of a word.
_WORD = rb"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4}))"
_HAS_DIGIT = re.compile(rb"[0-9]")
_HAS_LETTER = re.compile(rb"[A-Za-z]")
_UUID = re.compile(rb"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_LONGEST = 4096
"""Bytes of a value that are looked at: what is longer is no password."""


def _pattern(kind: Kind, pattern: bytes) -> _Finder:
    """Finds what the pattern matches at the literal; its group `secret` where it has one, else the whole match. A match
    without a digit is a word, such as `sk-` before a long name."""
    compiled = re.compile(pattern)
    group = "secret" if "secret" in compiled.groupindex else 0

    def find(text: bytes, at: int) -> Span | None:
        match = compiled.match(text, at)
        if match is None or _HAS_DIGIT.search(match[group]) is None:
            return None
        return Span(*match.span(group), kind)

    return find


# --- Values that a name tells ----------------------------------------------------------------------------------------

_STRONG = (
    rb"api[_-]?key|(?:secret|private|access|account|signing|encryption|auth|shared)[_-]?(?:access[_-]?)?key"
    rb"|(?:access|refresh|auth|bearer|session|id|api|bot|oauth|security|secret|personal|deploy)[_-]?token"
    rb"|secret|authorization"
)
_NAME = re.compile(
    rb"(?P<password>passphrase|passwort|password|passwd|pwd)|(?P<strong>" + _STRONG + rb")|(?P<token>token)", re.I
)
_NAME_END = re.compile(
    rb"(?:passw(?:ord|ort|d)|passphrase|pwd|key|token|authorization|secret(?:[_-]?access)?(?:[_-]?(?:key|token))?)"
    rb"(?:\\{0,15}[\"'])?(?:\s|\\[nrt]){0,8}[:=]",
    re.I,
)
_NAME_STARTS = 11
"""Bytes before a literal at which its name may begin, as `encryption_` before `key`."""
# What stands between a name and its value: `": "` in JSON at any depth, `=`, `: `, `=>`; and the quote that opens it.
_BETWEEN = re.compile(
    rb"(?:\\{0,15}[\"'])?(?:\s|\\[nrt]){0,8}(?P<sign>=>|[:=])(?:\s|\\[nrt]){0,8}(?P<opening>\\{0,15}\"|')?"
)
_BARE = re.compile(rb"[^\s\"'\\<>&,;(){}\[\]`|]{4,400}")
_IN_ADDRESS = re.compile(rb"[^\s\"'\\<>&#]{4,400}")
_SCHEME = re.compile(rb"(?:bearer|basic|token|apikey|digest)\s+", re.I)
_PAGES = re.compile(rb"(?:page|next|prev|previous|sync|continuation|pagination|cursor|max|start)[_-]?$", re.I)
_PLACEHOLDER = re.compile(
    rb"(?:string|text|password|passwort|passwd|passphrase|secret|token|null|none|nil|undefined|true|false|yes|no"
    rb"|required|optional|hidden|redacted|masked|removed|changed|unchanged|invalid|incorrect|expired|missing|empty"
    rb"|unknown|reset|enabled|disabled|n/a|your.*|my[_-].*|example.*|change_?me|[*x.\xe2\x80\xa2\xa6-]+|[<{$%(\[].*)",
    re.I | re.S,
)


def _named(text: bytes, at: int) -> Span | None:
    """The value behind a name such as `password`, at one of whose literals the text is looked at."""
    name = _name_at(text, at)
    if name is None:
        return None
    between = _BETWEEN.match(text, name.end())
    if between is None:
        return None
    quote, start = between["opening"], between.end()
    scheme = _SCHEME.match(text, start)
    if scheme is not None:
        start = scheme.end()
    in_address = between["sign"] == b"=" and text[name.start() - 1 : name.start()] in {b"?", b"&"}
    end = _end_of(text, start, quote, in_address=in_address)
    if end is None:
        return None
    value = text[start:end]
    kind = _kind_of(
        name,
        value,
        quoted=quote is not None,
        after_equals=between["sign"] == b"=",
        in_address=in_address,
        scheme=scheme is not None,
    )
    return None if kind is None else Span(start, end, kind)


def _name_at(text: bytes, at: int) -> re.Match[bytes] | None:
    """The longest name that has the literal at `at` in it, and no letter behind it."""
    # Most literals are in no name: `total_tokens`, `monkey`. What is behind tells it at once.
    if _NAME_END.match(text, at) is None:
        return None
    for start in range(max(0, at - _NAME_STARTS), at + 1):
        match = _NAME.match(text, start)
        if match is None or match.end() <= at:
            continue
        behind = text[match.end() : match.end() + 1]
        if behind.isalnum() or behind == b"_":
            continue
        if match.lastgroup == "token" and _PAGES.search(text, max(0, start - 14), start):
            return None
        return match
    return None


def _end_of(text: bytes, start: int, quote: bytes | None, *, in_address: bool) -> int | None:
    """Where the value ends; None where it is no text, or longer than any secret."""
    if quote is None:
        match = (_IN_ADDRESS if in_address else _BARE).match(text, start)
        return None if match is None else match.end()
    if quote == b"'":
        end = text.find(b"'", start, start + _LONGEST)
        return None if end < 0 or b'"' in text[start:end] or b"\n" in text[start:end] else end
    # A quote at this depth of JSON within JSON has `depth` backslashes before it, and one within the value twice as
    # many and one more; backslashes of the value itself come before either.
    depth, at = len(quote) - 1, start
    while (at := text.find(b'"', at, start + _LONGEST)) >= 0:
        slashes = at - start - len(text[start:at].rstrip(b"\\"))
        if slashes % (2 * depth + 2) != 2 * depth + 1:
            return at - min(slashes, depth)
        at += 1
    return None


def _kind_of(
    name: re.Match[bytes], value: bytes, *, quoted: bool, after_equals: bool, in_address: bool, scheme: bool
) -> Kind | None:
    """What the value is; None where it has not the shape of a secret."""
    if not 4 <= len(value) <= _LONGEST or any(space in value for space in b" \t\n") or _PLACEHOLDER.fullmatch(value):
        return None
    mixed = _HAS_DIGIT.search(value) is not None and _HAS_LETTER.search(value) is not None
    if name.lastgroup == "password":
        if value[:1] in b"/~." and name[0].lower() == b"pwd":  # a folder
            return None
        fits = quoted or in_address or (mixed and len(value) >= (6 if after_equals else 8))
        return Kind.PASSWORD if fits else None
    if scheme:
        return Kind.TOKEN if mixed and len(value) >= 8 else None
    called = name[0].lower()
    if called == b"authorization":
        fits = mixed and len(value) >= 20 and _UUID.fullmatch(value) is None
    elif name.lastgroup == "token":
        fits = mixed and len(value) >= 16 and _UUID.fullmatch(value) is None
    else:
        fits = mixed and len(value) >= (8 if quoted or in_address else 16)
    if not fits:
        return None
    return Kind.API_KEY if called.endswith(b"key") else Kind.TOKEN


# --- Values that tell themselves -------------------------------------------------------------------------------------

_BASIC = re.compile(rb"basic\s{1,4}(?P<secret>(?:[A-Za-z0-9+/]|\\/){8,1000}={0,2})", re.I)
_DASHES = b"-----"
_PEM = re.compile(
    rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^\"-]++|-(?!----))*+"
    rb"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_ADDRESS = re.compile(
    rb":(?:\\{0,15}/){2}[^\s/?#\"'<>\\@:\[\]]{0,200}:(?P<secret>[^\s/?#\"'<>\\@]{1,300})@(?=[A-Za-z0-9\[])"
)


def _basic(text: bytes, at: int) -> Span | None:
    """`Basic` with a name and a password in base64; any other word behind it is a word."""
    match = _BASIC.match(text, at)
    if match is None:
        return None
    try:
        inner = base64.b64decode(match["secret"].replace(b"\\", b""), validate=True)
    except binascii.Error:
        return None
    return Span(*match.span("secret"), Kind.PASSWORD) if b":" in inner and inner.isascii() else None


def _private_key(text: bytes, at: int) -> Span | None:
    """Its literal is the word within `-----BEGIN`, as dashes stand in rows in many a text."""
    start = at - len(_DASHES)
    match = _PEM.match(text, start) if start >= 0 else None
    if match is None:
        return None
    # Without its last line the key runs to the quote behind it, and the backslashes before that are the quote's.
    return Span(start, start + len(match[0].rstrip(b"\\")), Kind.PRIVATE_KEY)


def _address(text: bytes, at: int) -> Span | None:
    """The password in `scheme://user:password@host`."""
    match = _ADDRESS.match(text, at)
    if match is None or re.fullmatch(rb"[*]+|[<{$%\[].*", match["secret"]):
        return None
    return Span(*match.span("secret"), Kind.PASSWORD)


_SAFE = rb"[A-Za-z0-9_-]"
_KEY = Kind.API_KEY
_Rules = tuple[tuple[tuple[bytes, ...], _Finder], ...]
"""Literals, and what looks at each place where one stands."""
_EXACT: _Rules = (
    # OpenAI, Anthropic, OpenRouter, and who makes keys like theirs.
    ((b"sk-",), _pattern(_KEY, _WORD + rb"sk-(?:(?:ant|proj|svcacct|admin|or-v1|lf)-" + _SAFE + rb"{16,400}|[A-Za-z0-9]{20,200}(?![A-Za-z0-9_-]))")),  # noqa: E501
    # Amazon Web Services.
    ((b"AKIA", b"ASIA"), _pattern(_KEY, _WORD + rb"A(?:KI|SI)A[A-Z0-9]{16}(?![A-Za-z0-9])")),
    # GitHub, GitLab.
    ((b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), _pattern(Kind.TOKEN, _WORD + rb"gh[pousr]_[A-Za-z0-9]{20,255}")),
    ((b"github_pat_",), _pattern(Kind.TOKEN, _WORD + rb"github_pat_[A-Za-z0-9_]{20,255}")),
    ((b"glpat-",), _pattern(Kind.TOKEN, _WORD + rb"glpat-" + _SAFE + rb"{16,255}")),
    # Slack.
    ((b"xox", b"xapp-"), _pattern(Kind.TOKEN, _WORD + rb"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,400}")),
    # Google, Stripe, Hugging Face.
    ((b"AIza",), _pattern(_KEY, _WORD + rb"AIza" + _SAFE + rb"{30,60}")),
    ((b"sk_live_", b"rk_live_", b"sk_test_", b"rk_test_"), _pattern(_KEY, _WORD + rb"[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}")),  # noqa: E501
    ((b"whsec_",), _pattern(_KEY, _WORD + rb"whsec_[A-Za-z0-9+/=]{16,200}")),
    ((b"hf_",), _pattern(Kind.TOKEN, _WORD + rb"hf_[A-Za-z0-9]{20,100}(?![A-Za-z0-9_])")),
    # Our own.
    ((b"tf_",), _pattern(Kind.TOKEN, _WORD + rb"tf_" + _SAFE + rb"{43}(?![A-Za-z0-9_-])")),
    # JSON Web Tokens.
    ((b"eyJ",), _pattern(Kind.TOKEN, _WORD + rb"eyJ" + _SAFE + rb"{8,4000}\.eyJ" + _SAFE + rb"{8,8000}\.(?:" + _SAFE + rb"{0,2000})")),  # noqa: E501
    ((b"BEGIN ",), _private_key),
    ((b"://", b":\\/"), _address),
)  # fmt: skip
_ANY_CASE: _Rules = (
    ((b"bearer",), _pattern(Kind.TOKEN, rb"(?i:bearer)(?:\s|%20|:){1,4}(?P<secret>(?:[A-Za-z0-9._~+/-]|\\/){16,4000}={0,2})")),  # noqa: E501
    ((b"basic",), _basic),
    ((b"passw", b"passp", b"pwd", b"key", b"secret", b"token", b"authorization"), _named),
)  # fmt: skip


# --- Where to look ---------------------------------------------------------------------------------------------------

_START = 3
"""Bytes of a literal that are looked for first, in any case. No literal has fewer."""
_BY_START: dict[bytes, list[tuple[bytes, bytes, _Finder]]] = {}
for _rules, _folds in ((_EXACT, False), (_ANY_CASE, True)):
    for _literals, _find in _rules:
        for _literal in _literals:
            _BY_START.setdefault(_literal[:_START].lower(), []).append((_literal, b"" if _folds else _literal, _find))


class _Table(NamedTuple):
    """What tells where a literal may begin, by the bytes there, in any case."""

    pairs: np.ndarray
    """The first two bytes as a little-endian number → whether a literal begins with them."""
    lower: np.ndarray
    """Byte → its small letter."""
    starts: np.ndarray
    """The first three bytes of literals as big-endian numbers, in order."""
    fourths: np.ndarray
    """Number of the start, byte → whether a literal goes on with it, or has ended."""


def _table() -> _Table:
    starts = sorted(_BY_START)
    pairs = np.zeros(1 << 16, dtype=bool)
    fourths = np.zeros((len(starts), 256), dtype=bool)
    for number, start in enumerate(starts):
        for first, second in product(*({byte, *bytes([byte]).upper()} for byte in start[:2])):
            pairs[first | second << 8] = True
        for literal, _, _ in _BY_START[start]:
            fourth = literal[_START : _START + 1]
            fourths[number, [*fourth.lower(), *fourth.upper()] if fourth else slice(None)] = True
    lower = np.frombuffer(bytes(range(256)).lower(), dtype=np.uint8).astype(np.int32)
    return _Table(pairs, lower, np.array([int.from_bytes(start, "big") for start in starts]), fourths)


_TABLE = _table()


def _places(text: bytes) -> list[int]:
    """Where a literal may begin, in order. A few passes in C for all literals together."""
    letters = np.frombuffer(text, dtype=np.uint8)
    places: list[int] = []
    for first in (0, 1):
        pairs = np.frombuffer(text, dtype="<u2", count=max(0, len(text) - first - 1) // 2, offset=min(first, len(text)))
        at = 2 * np.flatnonzero(_TABLE.pairs.take(pairs, mode="clip")) + first
        one, two, three = (_TABLE.lower.take(letters.take(at + place)) for place in range(_START))
        starts = one << 16 | two << 8 | three
        number = np.searchsorted(_TABLE.starts, starts)
        known = _TABLE.starts.take(number, mode="clip") == starts
        at, number = at[known], number[known]
        # At the very end there is no fourth byte: the last one stands for it, and only may let a place pass.
        places += at[_TABLE.fourths[number, letters.take(at + _START, mode="clip")]].tolist()
    return sorted(places)


def spans_in(text: bytes) -> Iterator[Span]:
    behind: dict[_Finder, int] = {}
    for at in _places(text):
        for literal, exact, find in _BY_START.get(text[at : at + 3].lower(), ()):
            # What one rule has found it does not look into again.
            if at < behind.get(find, 0):
                continue
            there = text[at : at + len(literal)]
            if there != exact if exact else there.lower() != literal:
                continue
            span = find(text, at)
            if span is not None:
                behind[find] = span.end
                yield span
