"""Fields, constraints and indexes. No workflow: `runs.store` and `runs.ingest` write, `runs.queries` read."""

from runs.models.attempt import (
    Attempt,
    AttemptEffect,
    AttemptLabel,
    AttemptPart,
    AttemptRubric,
    ToolUse,
    Trace,
)
from runs.models.benchmark import Benchmark, Task
from runs.models.failure_facts import FailureFacts
from runs.models.leaderboard import Leaderboard, LeaderboardFreeze, LeaderboardRun
from runs.models.note import Note
from runs.models.payload import Payload, PayloadPart
from runs.models.price import PriceList, RunPricing
from runs.models.provenance import Provenance
from runs.models.run import Run, Visibility
from runs.models.saved_view import SavedView
from runs.models.tally import TaskTally
from runs.models.transcript import PendingTranscript
from runs.models.upload import Chunk, ChunkState, Upload, UploadProblem, UploadState

__all__ = [
    "Attempt",
    "AttemptEffect",
    "AttemptLabel",
    "AttemptPart",
    "AttemptRubric",
    "Benchmark",
    "Chunk",
    "ChunkState",
    "FailureFacts",
    "Leaderboard",
    "LeaderboardFreeze",
    "LeaderboardRun",
    "Note",
    "Payload",
    "PayloadPart",
    "PendingTranscript",
    "PriceList",
    "Provenance",
    "Run",
    "RunPricing",
    "SavedView",
    "Task",
    "TaskTally",
    "ToolUse",
    "Trace",
    "Upload",
    "UploadProblem",
    "UploadState",
    "Visibility",
]
