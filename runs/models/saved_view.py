from __future__ import annotations

from django.db import models


class SavedView(models.Model):
    """A named set of filters of the page of failures."""

    name = models.CharField(max_length=100, unique=True)
    query = models.TextField(blank=True)
    """The address's query, in the order of the facets, without the page."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
