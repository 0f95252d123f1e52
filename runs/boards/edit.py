"""Making and changing a leaderboard."""

from __future__ import annotations

import msgspec
from django.db import transaction
from django.utils.text import slugify

from runs.access import Access
from runs.boards.inputs import USUAL_COLUMNS, Column, Order
from runs.errors import RunsError
from runs.metrics import ErrorRule
from runs.models import Leaderboard, LeaderboardFreeze, LeaderboardRun, PriceList, Run
from runs.querysets import visible_runs

__all__ = ["BoardChanges", "BoardError", "create_board", "edit_board"]


_TAKEN = frozenset({"new", "published"})
"""Addresses of other pages."""


class BoardError(RunsError):
    """What is asked for a leaderboard cannot be done; the message says why."""


class BoardChanges(msgspec.Struct, frozen=True, kw_only=True):
    """What a board is, whole: each fact replaces the stored one."""

    title: str
    text: str = ""
    runs: tuple[str, ...] = ()
    """Addresses (slugs)."""
    published: tuple[str, ...] = ()
    columns: tuple[Column, ...] = USUAL_COLUMNS
    order: Order = Order.PASS_AT_1
    error_rule: ErrorRule = ErrorRule.AS_FAILED
    k: int | None = None
    price_list: int | None = None
    by_weights: bool = False


@transaction.atomic
def create_board(changes: BoardChanges, *, is_example: bool = False, access: Access) -> Leaderboard:
    """Its address is made from the title, with a number where that is taken.

    Raises `BoardError` for a run or a price list that is not there.
    """
    base = slugify(changes.title)[:90] or "leaderboard"
    slug, number = base, 2
    while slug in _TAKEN or Leaderboard.objects.filter(slug=slug).exists():
        slug, number = f"{base}-{number}", number + 1
    board = Leaderboard(slug=slug, is_example=is_example, owner_id=access.user)
    _fill(board, changes, access)
    return board


@transaction.atomic
def edit_board(board: Leaderboard, changes: BoardChanges, *, access: Access) -> None:
    """Its address stays, and so do runs on it that the asker does not see.

    Raises `BoardError` for a frozen one, and for a run or a price list that is not there.
    """
    board = Leaderboard.objects.select_for_update(of=("self",)).get(pk=board.pk)
    if LeaderboardFreeze.objects.filter(leaderboard=board).exists():
        raise BoardError("The leaderboard is frozen, so it cannot be changed. Make it live again first.")
    _fill(board, changes, access)


def _fill(board: Leaderboard, changes: BoardChanges, access: Access) -> None:
    if changes.price_list is not None and not PriceList.objects.filter(pk=changes.price_list).exists():
        raise BoardError("The price list is gone. Choose another one.")
    wanted = dict(Run.objects.filter(visible_runs(access), slug__in=changes.runs).values_list("slug", "pk"))
    gone = [slug for slug in changes.runs if slug not in wanted]
    if gone:
        raise BoardError(f"There is no run {gone[0]} on this server. Choose only runs that are there.")
    board.title, board.text = changes.title.strip(), changes.text.strip()
    board.published = list(changes.published)
    board.columns = [column.value for column in changes.columns]
    board.order, board.error_rule = changes.order.value, changes.error_rule.value
    board.k, board.price_list_id, board.by_weights = changes.k, changes.price_list, changes.by_weights
    board.save()
    seen = Run.objects.filter(visible_runs(access)).values("pk")
    LeaderboardRun.objects.filter(leaderboard=board, run__in=seen).exclude(run__in=wanted.values()).delete()
    LeaderboardRun.objects.bulk_create(
        [LeaderboardRun(leaderboard=board, run_id=wanted[slug]) for slug in changes.runs],
        ignore_conflicts=True,
    )
