from __future__ import annotations

from django.db import models

from runs.models.run import Run, Visibility


class UploadState(models.TextChoices):
    ASKING = "asking", "waiting for the model's name"
    WAITING = "waiting", "waiting for a worker"
    READING = "reading", "reading"
    DONE = "done", "done"
    STOPPED = "stopped", "stopped"
    FAILED = "failed", "not readable"


class Upload(models.Model):
    """One result file that came in, what was said about it, and what became of each of its lines."""

    file_name = models.CharField(max_length=500)
    archive = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="members")
    """The archive that it came in; its name is then its path there."""
    sha256 = models.CharField(max_length=64, db_index=True)
    size = models.PositiveBigIntegerField()
    path = models.CharField(max_length=500, blank=True)
    """The kept file, relative to the folder of uploads; empty once it is no longer needed."""
    state = models.CharField(max_length=10, choices=UploadState.choices, default=UploadState.WAITING)
    reader = models.CharField(max_length=40, blank=True)
    run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="uploads")
    run_name = models.CharField(max_length=500, blank=True)
    """`model on benchmark` at the time, for the history after the run was deleted."""
    benchmark = models.CharField(max_length=200, blank=True)
    model = models.CharField(max_length=200, blank=True)
    model_inferred = models.BooleanField(default=False)
    repetitions = models.PositiveIntegerField(null=True, blank=True)
    owner = models.ForeignKey("auth.User", models.SET_NULL, null=True, blank=True, related_name="uploads")
    """Who sent it. A run that it makes is theirs."""
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.TEAM)
    """Of a run that it makes, and of itself while it has none. With a run, the run's own holds."""
    mask = models.BooleanField(default=False)
    """Secrets are masked before rows are stored; the file itself goes as soon as it is read."""
    masked = models.PositiveIntegerField(default=0)
    """Rows that had secrets which were masked before they were stored."""
    is_demo = models.BooleanField(default=False)
    benchmark_inferred = models.BooleanField(default=False)
    header = models.JSONField(default=dict, blank=True)
    """`BundleHeader` of the companion, allow-listed."""
    companion_error = models.TextField(blank=True)
    """Why the companion that came along was not read, in a sentence."""
    error = models.TextField(blank=True)
    """Why the file as a whole was not read, in a sentence."""
    bytes_split = models.PositiveBigIntegerField(default=0)
    """How far the file has been cut into chunks, in compressed bytes."""
    split_done = models.BooleanField(default=False)
    followed_path = models.CharField(max_length=1000, blank=True, db_index=True)
    """The file that is followed while it is being written; empty for all others."""
    followed = models.JSONField(null=True, blank=True)
    """How far it was read: `runs.bundles.tailing.Place`."""
    expected = models.PositiveIntegerField(null=True, blank=True)
    """Attempts that the followed file should have in the end, where somebody said it."""
    grew_at = models.DateTimeField(null=True, blank=True)
    """When the followed file last had new rows."""
    lease_until = models.DateTimeField(null=True, blank=True)
    """Only while a command reads the file itself, without workers: once over, that command has died."""
    read = models.PositiveIntegerField(default=0)
    stored = models.PositiveIntegerField(default=0)
    same = models.PositiveIntegerField(default=0)
    replaced = models.PositiveIntegerField(default=0)
    passed = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    conflicts = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    moved_at = models.DateTimeField(null=True, blank=True)
    """When reading last went on: it was begun, or tried again, or a part was stored."""
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.file_name


class ChunkState(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Chunk(models.Model):
    """A part of an upload that one worker stores in one transaction. The database, not the message, says what is to do.

    Number 0 is the cutting itself: it has no rows, and makes the others.
    """

    upload = models.ForeignKey(Upload, models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    path = models.CharField(max_length=500, blank=True)
    """The chunk's file of rows, relative to the folder of uploads; empty where it is an extent of the upload's."""
    extent = models.JSONField(null=True, blank=True)
    """`first_line`, `start` and `end` of the chunk in the upload's file."""
    state = models.CharField(max_length=10, choices=ChunkState.choices, default=ChunkState.WAITING)
    claim = models.CharField(max_length=36, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["upload_id", "number"]
        constraints = [models.UniqueConstraint(fields=["upload", "number"], name="chunk_once_per_upload")]

    def __str__(self) -> str:
        return f"chunk {self.number} of {self.upload_id}"


class UploadProblem(models.Model):
    """A line that was not stored, or that something is to be said about."""

    upload = models.ForeignKey(Upload, models.CASCADE, related_name="problems")
    line = models.PositiveIntegerField()
    kind = models.CharField(max_length=10)
    reason = models.TextField()
    uid = models.CharField(max_length=1000, blank=True)
    repetition = models.PositiveIntegerField(null=True, blank=True)
    kept = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["upload_id", "line", "id"]

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"
