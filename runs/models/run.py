from __future__ import annotations

from django.db import models
from django.urls import reverse

from runs.models.benchmark import Benchmark


class Visibility(models.TextChoices):
    TEAM = "team", "everybody with an account"
    PRIVATE = "private", "its owner and admins"


class Weights(models.TextChoices):
    UNKNOWN = "", "not said"
    PROPRIETARY = "proprietary", "proprietary"
    OPEN = "open", "open weights"


class Run(models.Model):
    """One model on one benchmark with one configuration."""

    slug = models.SlugField(max_length=200, unique=True)
    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="runs")
    model = models.CharField(max_length=200)
    model_inferred = models.BooleanField(default=False)
    """The name was taken from the file's name, since no metadata came along."""
    benchmark_inferred = models.BooleanField(default=False)
    """The benchmark's name was taken from the file's name, since nobody said it."""
    provider = models.CharField(max_length=200, blank=True)
    weights = models.CharField(max_length=20, blank=True, choices=Weights.choices)
    repetitions = models.PositiveIntegerField(default=0)
    """k: how many attempts a task is expected to have."""
    repetitions_inferred = models.BooleanField(default=True)
    """k is the highest repetition recorded + 1, since nobody said it."""
    lineage = models.CharField(max_length=64, blank=True, db_index=True)
    """A digest that all files of one run share, where rows say where they came from: shards find their run by it."""
    note = models.TextField(blank=True)
    settings = models.JSONField(default=dict, blank=True)
    """The allow-listed parameters of the run's metadata."""
    started_at = models.DateTimeField(null=True, blank=True)
    duration = models.FloatField(null=True, blank=True)
    """Seconds from start to end of the whole run, by its metadata."""
    owner = models.ForeignKey("auth.User", models.SET_NULL, null=True, blank=True, related_name="runs")
    """Who brought it; null: a command, a server without login, or an account that is gone."""
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.TEAM)
    """Who sees it, and everything that belongs to it (`runs.querysets.visible_runs`)."""
    expires_at = models.DateTimeField(null=True, blank=True)
    """When it is deleted, with all that only it holds. Null: by the server's rule, if it has one."""
    is_demo = models.BooleanField(default=False)
    tallied = models.PositiveBigIntegerField(default=0)
    """Grows whenever its tallies are recounted: what was computed from them is good as long as this stays."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.model} on {self.benchmark}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.slug])
