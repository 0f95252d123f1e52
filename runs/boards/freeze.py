"""Freezing a leaderboard: what it is computed from and what was computed, kept apart from all that may change."""

from __future__ import annotations

import hashlib
from datetime import datetime

import msgspec
import zstandard
from django.db import transaction

from runs.access import THE_TEAM, Access
from runs.boards.board import Board, Change, changes_between, make_board
from runs.boards.gather import board_inputs, board_runs
from runs.boards.inputs import BoardInputs, BoardView
from runs.boards.shown import as_shown
from runs.kept import Kept
from runs.metrics import METRIC_VERSION
from runs.models import Leaderboard, LeaderboardFreeze, LeaderboardRun
from runs.querysets import visible_through

__all__ = [
    "Frozen", "Recomputed", "freeze_board", "frozen_board", "frozen_inputs", "linked_board", "recompute",
    "unfreeze_board",
]  # fmt: skip

_boards: Kept[Board] = Kept(64)
_LARGEST = 64 << 20
"""Bytes that a freeze may unpack to: 100 runs of 2,000 tasks have about 15 million."""


class Frozen(msgspec.Struct, frozen=True, kw_only=True):
    frozen_at: datetime
    metric_version: int
    digest: str
    """SHA-256 of the inputs."""

    @property
    def newest_version(self) -> int:
        return METRIC_VERSION

    @property
    def is_older(self) -> bool:
        """Whether its figures were made by other rules than those of today."""
        return self.metric_version != METRIC_VERSION


class Recomputed(msgspec.Struct, frozen=True, kw_only=True):
    """What a frozen board would say today."""

    from_inputs: list[Change]
    """From the frozen counts and prices, by the rules of today: empty unless a rule changed."""
    from_runs: list[Change]
    """From the runs and price lists as they are today."""
    runs_gone: list[str]
    """Runs (addresses) that are no longer stored."""


@transaction.atomic
def freeze_board(board: Leaderboard) -> LeaderboardFreeze:
    """Keeps the board as the team sees it now. Freezing a frozen one changes nothing."""
    Leaderboard.objects.select_for_update(of=("self",)).get(pk=board.pk)
    kept = LeaderboardFreeze.objects.filter(leaderboard=board).first()
    if kept is not None:
        return kept
    # Whoever reads it later sees all of it, so private runs, the freezer's own too, do not come in.
    inputs = board_inputs(board, board_runs(board, access=THE_TEAM))
    encoded = msgspec.json.encode(inputs)
    result = make_board(inputs)
    return LeaderboardFreeze.objects.create(
        leaderboard=board,
        inputs=_pack(encoded),
        result=_pack(msgspec.json.encode(result)),
        digest=hashlib.sha256(encoded).hexdigest(),
        metric_version=result.metric_version,
    )


def unfreeze_board(board: Leaderboard) -> None:
    """Makes it live again, from the runs that are still stored."""
    LeaderboardFreeze.objects.filter(leaderboard=board).delete()


def frozen_inputs(kept: LeaderboardFreeze) -> BoardInputs:
    return msgspec.json.decode(_unpack(kept.inputs), type=BoardInputs)


def frozen_board(kept: LeaderboardFreeze, view: BoardView | None = None) -> Board:
    """As it was computed then, as far as its columns show it; another view of it is computed from what was kept."""

    looked = view or BoardView()

    def make() -> Board:
        if looked == BoardView():
            return as_shown(_result(kept))
        return as_shown(make_board(frozen_inputs(kept), looked))

    return _boards.get_or_make((kept.pk, kept.digest, kept.frozen_at, looked), make)


def linked_board(kept: LeaderboardFreeze, view: BoardView | None = None, *, access: Access) -> Board:
    """The frozen board with no address of a run that is no longer stored, or not seen any more. One query."""
    made = frozen_board(kept, view)
    # An entry leaves with its run, so that another run under the same address is not taken for it.
    stored = LeaderboardRun.objects.filter(visible_through("run__", access), leaderboard=kept.pk).values_list(
        "run__slug", flat=True
    )
    gone = frozenset(row.slug for row in made.rows if row.slug) - frozenset(stored)
    if not gone:
        return made
    key = (kept.pk, kept.digest, kept.frozen_at, view or BoardView(), gone)
    return _boards.get_or_make(key, lambda: _without_addresses(made, gone))


def _without_addresses(board: Board, gone: frozenset[str]) -> Board:
    replace = msgspec.structs.replace
    sections = [
        replace(part, rows=tuple(replace(row, slug="") if row.slug in gone else row for row in part.rows))
        for part in board.sections
    ]
    return replace(board, sections=tuple(sections))


def _result(kept: LeaderboardFreeze) -> Board:
    return msgspec.json.decode(_unpack(kept.result), type=Board)


def recompute(board: Leaderboard, kept: LeaderboardFreeze, *, access: Access) -> Recomputed:
    """Compares the frozen board with one by the rules of today, and with the runs of today, hidden columns too."""
    inputs, then = frozen_inputs(kept), _result(kept)
    runs = board_runs(board, access=access)
    stored = {run.slug for run in runs}
    return Recomputed(
        from_inputs=changes_between(then, make_board(inputs)),
        from_runs=changes_between(then, make_board(board_inputs(board, runs))),
        runs_gone=[run.slug for run in inputs.runs if run.slug not in stored],
    )


def _pack(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=9).compress(data)


def _unpack(data: bytes | memoryview) -> bytes:
    return zstandard.ZstdDecompressor().decompress(bytes(data), max_output_size=_LARGEST)
