"""The database's file, rows that refer to nothing, and transcripts that nobody can find."""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import apps
from django.db.models import Exists, ForeignKey, Model, OuterRef

from runs import search
from runs.databases import damage
from runs.models import (
    AttemptEffect,
    AttemptLabel,
    AttemptPart,
    AttemptRubric,
    PayloadPart,
    PendingTranscript,
    TaskTally,
    ToolUse,
    Trace,
)
from runs.verifying.findings import Finding

__all__ = ["check_database", "check_index", "check_references"]

_WITHOUT_OWNER = {
    AttemptEffect, AttemptLabel, AttemptPart, AttemptRubric, PayloadPart, PendingTranscript, TaskTally, ToolUse, Trace,
}  # fmt: skip
"""Rows that mean nothing without the row they belong to, and are made again with it."""


def check_database(repair: bool) -> Iterator[Finding]:
    """The database's own check of its file."""
    for text in damage():
        yield Finding(text=f"The database's file is damaged: {text}. Restore a backup.")


def check_references(repair: bool) -> Iterator[Finding]:
    """No row refers to a row that is not there."""
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.concrete_fields:
            if isinstance(field, ForeignKey) and not isinstance(field.remote_field.model, str):
                yield from _check_field(model, field, repair)


def _check_field(model: type[Model], field: ForeignKey[object], repair: bool) -> Iterator[Finding]:
    target = field.remote_field.model
    there = target._base_manager.filter(**{field.target_field.attname: OuterRef(field.attname)})
    lost = model._base_manager.filter(~Exists(there), **{f"{field.attname}__isnull": False})
    count = lost.count()
    if not count:
        return
    repairable = field.null or model in _WITHOUT_OWNER
    if repair and field.null:
        lost.update(**{field.attname: None})
    elif repair and repairable:
        lost.delete()
    rows = "1 row refers" if count == 1 else f"{count:,} rows refer"
    names = f"{model._meta.db_table}.{field.attname}: {rows} to a row of {target._meta.db_table} that is not there"
    yield Finding(
        text=f"{names}." if repairable else f"{names}. Restore a backup.",
        repairable=repairable,
        repaired=repair and repairable,
    )


def check_index(repair: bool) -> Iterator[Finding]:
    """Each transcript is in the index, or waits for it."""
    ids = search.unindexed()
    if ids and repair:
        search.queue(ids)
    if ids:
        yield Finding(
            text=(
                "1 transcript is not in the index, so its words are not found."
                if len(ids) == 1
                else f"{len(ids):,} transcripts are not in the index, so their words are not found."
            )
            + (" Workers, or `manage.py reindex`, take them up." if repair else ""),
            repairable=True,
            repaired=repair,
        )
