from __future__ import annotations

from django.db import models


class Benchmark(models.Model):
    """A named set of tasks. Its tasks are those that the stored runs brought along."""

    name = models.CharField(max_length=200, unique=True)
    tool_overrides = models.JSONField(default=dict, blank=True)
    """Set by hand: name of a tool → whether it changes state. Wins over every other source."""

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Task(models.Model):
    """One workflow of a benchmark, known by its uid (`file.py:test_name`)."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="tasks")
    uid = models.CharField(max_length=1000)
    domain = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["uid"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "uid"], name="task_once_per_benchmark")]

    def __str__(self) -> str:
        return self.uid

    @property
    def name(self) -> str:
        """The part of the uid behind the file name, which is what people call the task."""
        return self.uid.rpartition(":")[2]
