from __future__ import annotations

from django.db import models
from django.urls import reverse

from runs.models.price import PriceList
from runs.models.run import Run


class Leaderboard(models.Model):
    """Chosen runs and published rows in one table, and how they are ranked. Live unless it has a `freeze`."""

    slug = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    runs: models.ManyToManyField[Run, LeaderboardRun] = models.ManyToManyField(
        Run, through="LeaderboardRun", related_name="leaderboards"
    )
    published = models.JSONField(default=list, blank=True)
    """Names of the published rows on it."""
    columns = models.JSONField(default=list, blank=True)
    """Values of `runs.boards.Column` that are shown, in the order of that enumeration."""
    order = models.CharField(max_length=20)
    """A value of `runs.boards.Order`."""
    error_rule = models.CharField(max_length=10)
    """A value of `runs.metrics.ErrorRule`."""
    k = models.PositiveIntegerField(null=True, blank=True)
    """Null: the most repetitions that a row asks for."""
    price_list = models.ForeignKey(PriceList, models.PROTECT, null=True, blank=True, related_name="leaderboards")
    """Null: each run by what it is priced by itself."""
    by_weights = models.BooleanField(default=False)
    """Proprietary models and open weights apart, with the leader and the runner-up of each."""
    owner = models.ForeignKey("auth.User", models.SET_NULL, null=True, blank=True, related_name="leaderboards")
    """Who made it. They and admins may share and delete it."""
    is_example = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["title", "id"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("leaderboard", args=[self.slug])


class LeaderboardRun(models.Model):
    """A run on a live leaderboard. It leaves with the run; a frozen leaderboard keeps its numbers."""

    leaderboard = models.ForeignKey(Leaderboard, models.CASCADE, related_name="entries")
    run = models.ForeignKey(Run, models.CASCADE, related_name="entries")

    class Meta:
        ordering = ["leaderboard_id", "id"]
        constraints = [models.UniqueConstraint(fields=["leaderboard", "run"], name="run_once_per_leaderboard")]

    def __str__(self) -> str:
        return f"run {self.run_id} on leaderboard {self.leaderboard_id}"


class LeaderboardFreeze(models.Model):
    """A leaderboard as it was: what it is computed from and what was computed. Needs no run, list or published row."""

    leaderboard = models.OneToOneField(Leaderboard, models.CASCADE, primary_key=True, related_name="freeze")
    inputs = models.BinaryField()
    """zstd: JSON of `runs.boards.BoardInputs`."""
    result = models.BinaryField()
    """zstd: JSON of `runs.boards.Board`, as it was computed then."""
    digest = models.CharField(max_length=64)
    """SHA-256 of the inputs' JSON."""
    metric_version = models.PositiveIntegerField()
    frozen_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"freeze of leaderboard {self.leaderboard_id}"
