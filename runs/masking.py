"""Secrets in traces made unreadable, and counted. Pure.

All of it works on the bytes of a text, JSON or not, in one way: what is replaced holds no quote and no line end, and
what stands in its place holds none either, so that JSON stays JSON and everything round a secret stays as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from runs.masking_rules import CURRENT, Kind, Span
from runs.masking_search import spans_in
from runs.records import Effect, GradedAttempt

__all__ = [
    "CURRENT", "Kind", "Masked", "Secret", "count_kinds", "mask_bytes", "mask_effect", "mask_graded", "mask_text",
    "mask_value", "said_masked",
]  # fmt: skip


class Secret(NamedTuple):
    """A secret that was found, by its hash: the same one in two places is one secret."""

    kind: Kind
    digest: bytes


class Masked(msgspec.Struct, frozen=True):
    text: bytes
    found: frozenset[Secret] = frozenset()


def mask_bytes(text: bytes) -> Masked:
    """The text with `[masked: API key]` and the like for each secret, and which ones those were. UTF-8, JSON or not."""
    spans = sorted(spans_in(text))
    if not spans:
        return Masked(text)
    pieces: list[bytes] = []
    found = set()
    at = 0
    for span in _merged(spans):
        pieces += (text[at : span.start], f"[masked: {span.kind.value}]".encode())
        # As JSON within JSON a secret has more backslashes, and is the same one.
        plain = text[span.start : span.end].replace(b"\\", b"")
        found.add(Secret(span.kind, hashlib.blake2b(plain, digest_size=8).digest()))
        at = span.end
    return Masked(b"".join([*pieces, text[at:]]), frozenset(found))


def mask_text(text: str) -> str:
    """The same for a text; halves of surrogate pairs stay."""
    masked = mask_bytes(text.encode(errors="surrogatepass"))
    return masked.text.decode(errors="surrogatepass") if masked.found else text


def mask_value(value: Any) -> Any:
    """The same for a JSON value, whose fields' names tell some secrets."""
    try:
        text = msgspec.json.encode(value)
    except UnicodeEncodeError:  # half of a surrogate pair
        text = json.dumps(value).encode()
    masked = mask_bytes(text)
    return json.loads(masked.text) if masked.found else value


def mask_graded(graded: GradedAttempt) -> GradedAttempt:
    """With masked values, also where only the name of an effect's field tells that its value is a secret."""
    checks = [
        msgspec.structs.replace(check, name=mask_text(check.name), message=mask_text(check.message))
        for check in graded.checks
    ]
    return msgspec.structs.replace(graded, effects=[mask_effect(effect) for effect in graded.effects], checks=checks)


def mask_effect(effect: Effect) -> Effect:
    """All its values, as if each stood in a record behind the name of its field."""
    name = effect.field or "value"

    def shown(value: Any) -> Any:
        return mask_value({name: value})[name] if isinstance(value, (str, dict, list)) else value

    return msgspec.structs.replace(
        effect,
        key=mask_text(effect.key),
        after_key=None if effect.after_key is None else mask_text(effect.after_key),
        before=shown(effect.before),
        after=shown(effect.after),
        required=shown(effect.required),
        writes=[msgspec.structs.replace(write, value=shown(write.value)) for write in effect.writes],
    )


def count_kinds(found: Iterable[Secret]) -> dict[str, int]:
    """Kind → how many different secrets, by name."""
    counts = Counter(secret.kind.value for secret in found)
    return dict(sorted(counts.items()))


def said_masked(kinds: dict[str, int]) -> str:
    """`2 API keys, 1 password`; the empty text for none."""
    return ", ".join(f"{count:,} {kind if count == 1 else kind + 's'}" for kind, count in kinds.items())


def _merged(spans: list[Span]) -> Iterator[Span]:
    """Spans that overlap become one: of the kind of the one that begins first, or is longest there."""
    current: Span | None = None
    for span in spans:
        if current is None or span.start >= current.end:
            if current is not None:
                yield current
            current = span
        elif span.end > current.end:
            current = current._replace(end=span.end)
    if current is not None:
        yield current
