"""Where secrets stand in a text: keys of known services, tokens, passwords, private keys. Pure.

Each rule waits for a literal that all its secrets have (`sk-`, `password`), which is looked for first; only where one
stands is a pattern tried, and each pattern has a longest match. So the time grows with the length of a text, whatever
stands in it. JSON within JSON is looked through with its escapes on; no span has a quote or a line end in it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

__all__ = ["ANY_CASE", "CURRENT", "EXACT", "Finder", "Kind", "Span"]

CURRENT = 2
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


Finder = Callable[[bytes, int], "Sequence[Span]"]
"""Looks at one place of the text where the rule's literal stands. What it finds is in order."""

# A word begins here. Of an escaped line feed, tab or letter within JSON the last sign is no part of a word.
_WORD = rb"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4}))"
_HAS_DIGIT = re.compile(rb"[0-9]")
_HAS_LETTER = re.compile(rb"[A-Za-z]")
_UUID = re.compile(rb"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_LONGEST = 4096
"""Bytes of a value that are looked at: what is longer is no password."""


def _pattern(kind: Kind, pattern: bytes) -> Finder:
    """Finds what the pattern matches at the literal; its group `secret` where it has one, else the whole match. A match
    without a digit is a word, such as `sk-` before a long name."""
    compiled = re.compile(pattern)
    group = "secret" if "secret" in compiled.groupindex else 0

    def find(text: bytes, at: int) -> Sequence[Span]:
        match = compiled.match(text, at)
        if match is None or _HAS_DIGIT.search(match[group]) is None:
            return ()
        return (Span(*match.span(group), kind),)

    return find


# --- Values that a name tells ----------------------------------------------------------------------------------------

_STRONG = (
    rb"api[_-]?key|(?:secret|private|access|account|signing|encryption|auth|shared)[_-]?(?:access[_-]?)?key"
    rb"|(?:access|refresh|auth|bearer|session|id|api|bot|oauth|security|secret|personal|deploy)[_-]?token"
    rb"|secret|authorization"
)
_NAME = re.compile(
    rb"(?P<password>passphrase|passwort|password|passcode|passwd|pwd)|(?P<strong>" + _STRONG + rb")|(?P<token>token)",
    re.I,
)
_NAME_END = re.compile(
    rb"(?:passw(?:ord|ort|d)|passphrase|passcode|pwd|key|token|authorization"
    rb"|secret(?:[_-]?access)?(?:[_-]?(?:key|token))?)"
    rb"(?:\\{0,15}[\"'])?\]?(?:\s|\\[nrt]){0,8}(?:[:=]|!=)",
    re.I,
)
_NAME_STARTS = 11
"""Bytes before a literal at which its name may begin, as `encryption_` before `key`."""
# What stands between a name and its value: `": "` in JSON at any depth, `=`, `: `, `=>`, `"] == `; and the quote that
# opens it.
_BETWEEN = re.compile(
    rb"(?:\\{0,15}[\"'])?\]?(?:\s|\\[nrt]){0,8}(?P<sign>=>|[!=]=|[:=])(?:\s|\\[nrt]){0,8}(?P<opening>\\{0,15}\"|')?"
)
_BARE = re.compile(rb"[^\s\"'\\<>&,;(){}\[\]`|]{4,400}")
_CUT_OFF = re.compile(rb"(?P<value>[^\s\"'\\<>&,;(){}\[\]`|]{8,600}?)\.{0,3}(?:\s|\\+[nr]|\Z)")
# Texts within a list or an object: the first one, the sign behind a text, and the next one.
_FIRST_WITHIN = re.compile(rb"[\[{](?:\s|\\[nrt]){0,8}(?P<opening>\\{0,15}\"|')")
_BEHIND = re.compile(rb"(?:\s|\\[nrt]){0,8}([,:\]}])")
_NEXT_WITHIN = re.compile(rb"(?:\s|\\[nrt]){0,8}(?P<opening>\\{0,15}\"|')")
_MOST_WITHIN = 20
_IN_ADDRESS = re.compile(rb"[^\s\"'\\<>&#]{4,400}")
_SCHEME = re.compile(rb"(?:bearer|basic|token|apikey|digest)\s+", re.I)
_PAGES = re.compile(rb"(?:page|next|prev|previous|sync|continuation|pagination|cursor|max|start)[_-]?$", re.I)
_PLACEHOLDER = re.compile(
    rb"(?:string|text|password|passwort|passwd|passphrase|secret|token|null|none|nil|undefined|true|false|yes|no"
    rb"|required|optional|hidden|redacted|masked|removed|changed|unchanged|invalid|incorrect|expired|missing|empty"
    rb"|unknown|reset|enabled|disabled|n/a|your(?:[_ -].*|[a-z]*)|my[_-][a-z_-]*|example[a-z_.-]*[0-9]*|change_?me"
    rb"|[*x.\xe2\x80\xa2\xa6-]+|<.*>|\{.*\}|\[.*\]|\(.*\)|\$\{?[a-z_][a-z0-9_.]*\}?|%.*[%sd])",
    re.I | re.S,
)


def _named(text: bytes, at: int) -> Sequence[Span]:
    """The value behind a name such as `password`, at one of whose literals the text is looked at."""
    name = _name_at(text, at)
    between = None if name is None else _BETWEEN.match(text, name.end())
    if name is None or between is None:
        return ()
    quote, start = between["opening"], between.end()
    if quote is None and text[start : start + 1] in {b"[", b"{"}:
        return _inside(text, start, name)
    scheme = _SCHEME.match(text, start)
    if scheme is not None:
        start = scheme.end()
    sign = between["sign"]
    in_address = sign == b"=" and text[name.start() - 1 : name.start()] in {b"?", b"&"}
    shape = _Shape(quote is not None, sign == b"=", in_address, scheme is not None)
    return _one(text, start, _end_of(text, start, quote, in_address=in_address), name, shape)


class _Shape(NamedTuple):
    """How a value stands there."""

    quoted: bool
    after_equals: bool = False
    in_address: bool = False
    scheme: bool = False
    """Behind `Bearer` or the like."""


def _one(text: bytes, start: int, end: int | None, name: re.Match[bytes], shape: _Shape) -> Sequence[Span]:
    """The value, or where its quote does not end it, what the line has of it."""
    kind = None if end is None else _kind_of(name, text[start:end], shape)
    if kind is None and shape.quoted and (cut := _CUT_OFF.match(text, start)) is not None:
        end = cut.end("value")
        kind = _kind_of(name, text[start:end], _Shape(quoted=False))
    return () if kind is None or end is None else (Span(start, end, kind),)


def _inside(text: bytes, start: int, name: re.Match[bytes]) -> list[Span]:
    """The texts of a list or an object behind the name, of one level. A word alone is none of them: what a field is
    called and how it is described stands behind its name, too."""
    spans: list[Span] = []
    opening = _FIRST_WITHIN.match(text, start)
    while opening is not None and len(spans) < _MOST_WITHIN and opening.end() < start + _LONGEST:
        first = opening.end()
        end = _end_of(text, first, opening["opening"], in_address=False)
        behind = None if end is None else _BEHIND.match(text, end + len(opening["opening"]))
        if end is None or behind is None:
            break
        value = text[first:end]
        if behind[1] != b":" and len(value) >= 6 and _HAS_DIGIT.search(value) and _HAS_LETTER.search(value):
            kind = _kind_of(name, value, _Shape(quoted=True))
            if kind is not None:
                spans.append(Span(first, end, kind))
        if behind[1] in b"]}":
            break
        opening = _NEXT_WITHIN.match(text, behind.end())
    return spans


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


def _kind_of(name: re.Match[bytes], value: bytes, shape: _Shape) -> Kind | None:
    """What the value is; None where it has not the shape of a secret."""
    if not 4 <= len(value) <= _LONGEST or any(space in value for space in b" \t\n") or _PLACEHOLDER.fullmatch(value):
        return None
    mixed = _HAS_DIGIT.search(value) is not None and _HAS_LETTER.search(value) is not None
    if name.lastgroup == "password":
        if value[:1] in b"/~." and name[0].lower() == b"pwd":  # a folder
            return None
        fits = shape.quoted or shape.in_address or (mixed and len(value) >= (6 if shape.after_equals else 8))
        return Kind.PASSWORD if fits else None
    if shape.scheme:
        return Kind.TOKEN if mixed and len(value) >= 8 else None
    called = name[0].lower()
    if called == b"authorization":
        fits = mixed and len(value) >= 20 and _UUID.fullmatch(value) is None
    elif name.lastgroup == "token":
        fits = mixed and len(value) >= 16 and _UUID.fullmatch(value) is None
    else:
        fits = mixed and len(value) >= (8 if shape.quoted or shape.in_address else 16)
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


def _basic(text: bytes, at: int) -> Sequence[Span]:
    """`Basic` with a name and a password in base64; any other word behind it is a word."""
    match = _BASIC.match(text, at)
    if match is None:
        return ()
    try:
        inner = base64.b64decode(match["secret"].replace(b"\\", b""), validate=True)
    except binascii.Error:
        return ()
    return (Span(*match.span("secret"), Kind.PASSWORD),) if b":" in inner and inner.isascii() else ()


def _private_key(text: bytes, at: int) -> Sequence[Span]:
    """Its literal is the word within `-----BEGIN`, as dashes stand in rows in many a text."""
    start = at - len(_DASHES)
    match = _PEM.match(text, start) if start >= 0 else None
    if match is None:
        return ()
    # Without its last line the key runs to the quote behind it, and the backslashes before that are the quote's.
    return (Span(start, start + len(match[0].rstrip(b"\\")), Kind.PRIVATE_KEY),)


def _address(text: bytes, at: int) -> Sequence[Span]:
    """The password in `scheme://user:password@host`."""
    match = _ADDRESS.match(text, at)
    if match is None or re.fullmatch(rb"[*]+|[<{$%\[].*", match["secret"]):
        return ()
    return (Span(*match.span("secret"), Kind.PASSWORD),)


# --- Values that a check reports -------------------------------------------------------------------------------------

_REPORTED = 800
"""Bytes before a value in which its path stands."""
_PATH = re.compile(rb"Path: |path\\{0,15}\"(?:\s|\\[nrt]){0,8}:(?:\s|\\[nrt]){0,8}(?P<opening>\\{0,15}\")")
_PATH_END = re.compile(rb"\s{2}|\n|\\+[nr]|\s(?:Type|Result)\b|\s\xe2\x80\xa6|\s?\Z")
_MOST_PATHS = 4
"""Places before a value that are tried for its path: the word stands in values, too."""
_NAME_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_BEHIND_FIELD = b"\"'\\]) \t\n\r\f\v"
_RESULT = re.compile(
    rb"(?:(?:Result|Golden):|(?:result|golden)\\{0,15}\"(?:\s|\\[nrt]){0,8}:)[ \t]{0,8}(?P<opening>\\{0,15}\"|')?"
)


def _reported(text: bytes, at: int) -> Sequence[Span]:
    """The value that a check tells of a field: behind `Result:` or `Golden:` under `Path: users[2].password`, and in
    its list of differences, `{"path": …, "result": …, "golden": …}`.
    """
    result = _RESULT.match(text, at)
    path = None if result is None else _path_before(text, at)
    name = None if path is None else _whole_name(_last_field(path))
    if result is None or name is None:
        return ()
    quote, start = result["opening"], result.end()
    if quote is None and text[start : start + 1] in {b"[", b"{"}:
        return _inside(text, start, name)
    return _one(text, start, _end_of(text, start, quote, in_address=False), name, _Shape(quoted=True))


def _path_before(text: bytes, at: int) -> bytes | None:
    before, start = max(0, at - _REPORTED), at
    for _ in range(_MOST_PATHS):
        start = max(text.rfind(b"Path: ", before, start), text.rfind(b"path", before, start))
        if start < 0:
            return None
        match = _PATH.match(text, start, at)
        if match is None:
            continue
        if match["opening"] is None:
            found = _PATH_END.search(text, match.end(), at)
            end = None if found is None else found.start()
        else:
            end = _end_of(text, match.end(), match["opening"], in_address=False)
        return None if end is None or end > at else text[match.end() : end]
    return None


def _last_field(path: bytes) -> bytes:
    path = path.rstrip(_BEHIND_FIELD)
    return path[len(path.rstrip(_NAME_BYTES)) :]


def _whole_name(field: bytes) -> re.Match[bytes] | None:
    """The name of a secret that a field's name is, or ends with: `user_password`."""
    found = [match for match in _NAME.finditer(field) if match.end() == len(field)]
    if not found or (found[0].lastgroup == "token" and _PAGES.search(field, 0, found[0].start())):
        return None
    return found[0]


def _followed(words: tuple[bytes, ...], signs: bytes) -> tuple[bytes, ...]:
    """Literals for words that are looked at before these signs only: `total_tokens` is in each row many times."""
    return tuple(word + bytes([sign]) for word in words for sign in signs)


_SAFE = rb"[A-Za-z0-9_-]"
_KEY = Kind.API_KEY
_Rules = tuple[tuple[tuple[bytes, ...], Finder], ...]
"""Literals, and what looks at each place where one stands."""
EXACT: _Rules = (
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
    # On a command line.
    ((b"--passw",), _pattern(Kind.PASSWORD, rb"--passw(?:ord|d)\s{1,4}(?P<secret>[^\s\"'\\<>${}-][^\s\"'\\<>]{3,200})")),  # noqa: E501
)  # fmt: skip
ANY_CASE: _Rules = (
    ((b"bearer",), _pattern(Kind.TOKEN, rb"(?i:bearer)(?:\s|%20|:){1,4}(?P<secret>(?:[A-Za-z0-9._~+/-]|\\/){16,4000}={0,2})")),  # noqa: E501
    ((b"basic",), _basic),
    (_followed((b"result", b"golden"), b":\\\""), _reported),
    ((b"passw", b"passp", b"passc", b"secret", b"authorization"), _named),
    (_followed((b"pwd", b"key", b"token"), b":=!]\\\"' \t\n\r\f\v"), _named),
)  # fmt: skip
