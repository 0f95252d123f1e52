from __future__ import annotations

from django.db import models

from runs.models.benchmark import Task
from runs.models.run import Run


class TaskTally(models.Model):
    """What a run's attempts at one task add up to, kept as attempts land, so that lists never scan attempts."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="tallies")
    task = models.ForeignKey(Task, models.PROTECT, related_name="tallies")
    recorded = models.PositiveIntegerField(default=0)
    passed = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    verdicts = models.TextField(blank=True)
    """One letter a repetition, from 0: p, f, e, or `.` for not recorded."""
    differences = models.PositiveIntegerField(default=0)
    """Graded differences over all attempts."""
    with_states = models.PositiveIntegerField(default=0)
    """Attempts whose states were recorded."""
    tool_calls = models.PositiveBigIntegerField(default=0)
    with_usage = models.PositiveIntegerField(default=0)
    """Attempts whose tokens are known; the sums below are over these."""
    input_tokens = models.PositiveBigIntegerField(default=0)
    cached_tokens = models.PositiveBigIntegerField(default=0)
    cache_write_tokens = models.PositiveBigIntegerField(default=0)
    usage_beside = models.PositiveIntegerField(default=0)
    """Attempts whose cached tokens are counted beside input tokens."""
    output_tokens = models.PositiveBigIntegerField(default=0)
    duration = models.FloatField(default=0)
    """Seconds over all attempts."""

    class Meta:
        ordering = ["task__uid"]
        constraints = [models.UniqueConstraint(fields=["run", "task"], name="one_tally_per_task")]

    def __str__(self) -> str:
        return f"{self.task_id} in run {self.run_id}: {self.passed} of {self.recorded}"
