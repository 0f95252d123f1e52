"""Why a failed attempt failed, as the trace page says it: signature, finer labels, and the evidence for each."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from runs.queries.signature_words import SignatureWords, label_title, signature_words
from runs.records import Effect
from runs.signatures import EVIDENCE_TITLES, VERSIONS, Diagnosis, Evidence

__all__ = ["WhyGroup", "WhyLine", "WhyPanel", "why_panel"]


class WhyLine(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of evidence for a signature or a label."""

    title: str
    words: str = ""
    """Text of the bundle."""
    step: int | None = None
    effect: int | None = None
    place: str = ""
    """The difference in words, where it is one."""


class WhyGroup(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    value: str
    lines: list[WhyLine]


class WhyPanel(msgspec.Struct, frozen=True, kw_only=True):
    """Why the attempt failed."""

    words: SignatureWords
    version: str
    lines: list[WhyLine]
    labels: list[WhyGroup]


def why_panel(diagnosis: Diagnosis | None, effects: Sequence[Effect]) -> WhyPanel | None:
    """None for an attempt that was not diagnosed: it did not fail, or was stored before there were signatures."""
    if diagnosis is None:
        return None
    version = VERSIONS.get(diagnosis.version)
    groups = [
        WhyGroup(
            title=label_title(label.value),
            value=label.value,
            lines=[_line(piece, effects) for piece in diagnosis.evidence if piece.label is label],
        )
        for label in diagnosis.labels
    ]
    return WhyPanel(
        words=signature_words(diagnosis.signature.value),
        version=version.title if version is not None else f"Version {diagnosis.version}",
        lines=[_line(piece, effects) for piece in diagnosis.evidence if piece.label is None],
        labels=groups,
    )


def _line(piece: Evidence, effects: Sequence[Effect]) -> WhyLine:
    place = ""
    if piece.effect is not None and 0 <= piece.effect < len(effects):
        effect = effects[piece.effect]
        place = f"{effect.kind.value} {effect.table} {effect.key} {effect.field or 'row'}"
    return WhyLine(
        title=EVIDENCE_TITLES[piece.kind], words=piece.words, step=piece.step, effect=piece.effect, place=place
    )
