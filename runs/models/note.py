from __future__ import annotations

from django.db import models

from runs.models.attempt import Attempt


class Note(models.Model):
    """What a person wrote on an attempt or on one of its steps: a comment, a label, or both."""

    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="notes")
    step = models.PositiveIntegerField(null=True, blank=True)
    """From 1; null: the attempt as a whole."""
    label = models.CharField(max_length=60, blank=True)
    """A word to filter by; empty when there is none."""
    text = models.TextField(blank=True)
    author = models.CharField(max_length=100, blank=True)
    """As the person gave it; nobody checks it."""
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["attempt_id", "created_at", "id"]
        indexes = [models.Index(fields=["label"], name="note_by_label")]
        constraints = [
            models.CheckConstraint(condition=~models.Q(label="", text=""), name="note_says_something"),
        ]

    def __str__(self) -> str:
        return self.label or self.text[:60]
