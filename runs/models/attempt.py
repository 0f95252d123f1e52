from __future__ import annotations

from django.db import models
from django.urls import reverse

from runs.models.benchmark import Task
from runs.models.payload import Payload
from runs.models.provenance import Provenance
from runs.models.run import Run
from runs.models.upload import Upload


class Attempt(models.Model):
    """One try at a task: what pages filter and sort by. Steps and evidence are in its `Trace`."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="attempts")
    task = models.ForeignKey(Task, models.PROTECT, related_name="attempts")
    repetition = models.PositiveIntegerField()
    current = models.BooleanField(default=True)
    """False: an error that a later row replaced; kept as history, counted nowhere."""
    tried = models.PositiveIntegerField(null=True)
    """Which try at its repetition it was, from 1, where the row says that."""
    provenance = models.ForeignKey(Provenance, models.SET_NULL, null=True, related_name="attempts")
    """What the row said of where it came from; null where it said nothing."""
    verdict = models.CharField(max_length=10)
    reason = models.CharField(max_length=12, blank=True)
    finish_reason = models.CharField(max_length=60, blank=True)
    state_source = models.CharField(max_length=10)
    differences = models.PositiveIntegerField(default=0)
    """Graded differences from the required state."""
    steps = models.PositiveIntegerField(default=0)
    tool_calls = models.PositiveIntegerField(default=0)
    tool_errors = models.PositiveIntegerField(default=0)
    write_calls = models.PositiveIntegerField(default=0)
    model_calls = models.PositiveIntegerField(null=True)
    input_tokens = models.BigIntegerField(null=True)
    cached_tokens = models.BigIntegerField(null=True)
    cache_write_tokens = models.BigIntegerField(null=True)
    usage_beside = models.BooleanField(default=False)
    """Cached tokens are counted beside input tokens, not inside them."""
    output_tokens = models.BigIntegerField(null=True)
    reasoning_tokens = models.BigIntegerField(null=True)
    duration = models.FloatField(null=True)
    """Seconds."""
    assistant_turns = models.PositiveIntegerField(default=0)
    """Texts of the agent, thoughts included; with the next three as `tb agg` counts them."""
    user_turns = models.PositiveIntegerField(default=0)
    tool_turns = models.PositiveIntegerField(default=0)
    """Tool responses."""
    characters = models.PositiveBigIntegerField(default=0)
    """Characters of all texts, instructions included; tool calls and responses are none."""
    signature = models.CharField(max_length=30, blank=True)
    """Why a failed attempt failed; empty for all others."""
    signature_version = models.PositiveSmallIntegerField(null=True)
    """The version of the rule that gave the signature."""
    ended_cleanly = models.BooleanField(null=True)
    """The four signs of the claim; null for what is no failed attempt."""
    called_write = models.BooleanField(null=True)
    last_response_ok = models.BooleanField(null=True)
    claimed_success = models.BooleanField(null=True)
    error_class = models.CharField(max_length=30, blank=True)
    """What broke, where the verdict is `error`."""
    retryable = models.BooleanField(null=True)
    """Whether running an `error` again may help."""
    disagrees = models.BooleanField(default=False)
    """The recorded hashes and the differences found here contradict each other."""
    masked = models.PositiveIntegerField(null=True)
    """Different secrets in the row, which are masked wherever it is shown, or were before it was stored. Null for rows
    that were stored before they were counted."""
    digest = models.CharField(max_length=64)
    """SHA-256 of the row's canonical content: two rows with one digest are the same row."""
    upload = models.ForeignKey(Upload, models.SET_NULL, null=True, related_name="attempts")
    """The upload that stored it."""
    line = models.PositiveIntegerField(default=0)
    """Its line there, from 1."""
    seen_in = models.ForeignKey(Upload, models.SET_NULL, null=True, related_name="+")
    """The last upload that held this row, so that a row repeated in one file counts once."""

    class Meta:
        ordering = ["task__uid", "repetition", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "task", "repetition"], condition=models.Q(current=True), name="one_current_attempt"
            )
        ]
        indexes = [
            # A run's failures, and the attempts of one task across runs.
            models.Index(fields=["run", "verdict"], name="attempt_by_verdict"),
            # The errors of all runs: few among very many attempts.
            models.Index(
                fields=["error_class", "retryable"],
                condition=models.Q(verdict="error", current=True),
                name="attempt_errors",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task} repetition {self.repetition}"

    def get_absolute_url(self) -> str:
        return reverse("attempt", args=[self.pk])


class Trace(models.Model):
    """The compressed payload of one attempt, apart from the columns so that lists never read it."""

    attempt = models.OneToOneField(Attempt, models.CASCADE, primary_key=True, related_name="trace")
    reader = models.CharField(max_length=40)
    """Name of the reader that understands `source`."""
    source = models.BinaryField()
    """zstd: the row as it came, without the parts that are stored by content."""
    dictionary = models.ForeignKey(Payload, models.PROTECT, null=True, related_name="compressed")
    """What `source` is compressed against: a row of the same task. None: nothing."""
    evidence = models.BinaryField()
    """zstd: JSON of `payloads.Evidence`: the graded attempt, and where each part belongs."""

    def __str__(self) -> str:
        return f"trace of attempt {self.attempt_id}"


class AttemptPart(models.Model):
    """An attempt's use of a stored part (a state, the tools). Where it belongs in the row is in the trace."""

    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="parts")
    payload = models.ForeignKey(Payload, models.PROTECT, related_name="uses")

    def __str__(self) -> str:
        return f"attempt {self.attempt_id} uses payload {self.payload_id}"


class AttemptEffect(models.Model):
    """A graded difference, for filters and counts. The whole effect is in the trace."""

    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="effects")
    kind = models.CharField(max_length=10)
    table = models.CharField(max_length=200)
    key = models.CharField(max_length=200)
    field = models.CharField(max_length=200, blank=True)
    """Empty: the whole record."""
    after = models.CharField(max_length=100, blank=True)
    """The value as JSON, cut at 100 characters; empty when there is none."""
    required = models.CharField(max_length=100, blank=True)

    class Meta:
        indexes = [models.Index(fields=["table", "field", "kind"], name="effect_by_field")]

    def __str__(self) -> str:
        return f"{self.kind} {self.table} {self.key} {self.field}"


class AttemptLabel(models.Model):
    """A finer label under an attempt's signature."""

    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="labels")
    label = models.CharField(max_length=40)

    class Meta:
        indexes = [models.Index(fields=["label"], name="attempt_by_label")]

    def __str__(self) -> str:
        return self.label


class AttemptRubric(models.Model):
    """A rubric question that an attempt failed."""

    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="rubrics")
    question = models.CharField(max_length=300)

    class Meta:
        indexes = [models.Index(fields=["question"], name="attempt_by_rubric")]

    def __str__(self) -> str:
        return self.question


class ToolUse(models.Model):
    """How often an attempt called a tool, and how often it erred."""

    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="tools")
    name = models.CharField(max_length=200)
    calls = models.PositiveIntegerField()
    errors = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["name"], name="tool_by_name")]

    def __str__(self) -> str:
        return f"{self.name}: {self.calls} calls, {self.errors} errors"
