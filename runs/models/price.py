from __future__ import annotations

from django.db import models
from django.urls import reverse

from runs.models.run import Run


class PriceList(models.Model):
    """One version of a named price list. A version is never changed: an edit makes the next one, so that a run priced
    by this one keeps its cost."""

    slug = models.SlugField(max_length=100)
    """The same for all versions."""
    name = models.CharField(max_length=200)
    version = models.PositiveIntegerField(default=1)
    prices = models.JSONField(default=list)
    """`runs.costs.Price` as JSON; amounts are decimal texts per million tokens."""
    note = models.TextField(blank=True)
    """What was changed, or where the list comes from."""
    is_example = models.BooleanField(default=False)
    """Ships with the demo; its prices are invented."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug", "-version"]
        constraints = [models.UniqueConstraint(fields=["slug", "version"], name="one_row_per_price_list_version")]

    def __str__(self) -> str:
        return f"{self.name}, version {self.version}"

    def get_absolute_url(self) -> str:
        return reverse("price_list_version", args=[self.slug, self.version])


class RunPricing(models.Model):
    """What a run's cost is taken from: a version of a price list, or a total that somebody stated. Without one the run
    is not priced."""

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="pricing")
    price_list = models.ForeignKey(PriceList, models.PROTECT, null=True, blank=True, related_name="priced")
    model = models.CharField(max_length=200, blank=True)
    """The entry to price by; empty: the one of the run's own model."""
    provider = models.CharField(max_length=200, blank=True)
    stated_total = models.DecimalField(max_digits=20, decimal_places=6, null=True, blank=True)
    """Of all recorded attempts. Goes before the price list."""
    stated_currency = models.CharField(max_length=3, blank=True)
    stated_source = models.CharField(max_length=500, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(price_list__isnull=True) | models.Q(stated_total__isnull=True),
                name="priced_by_a_list_or_stated",
            )
        ]

    def __str__(self) -> str:
        return f"pricing of run {self.run_id}"
