"""What the tools about leaderboards and metrics answer, and how it reads."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from inspector.mcp_server.budget import Answer, Part
from inspector.mcp_server.quoting import QUOTED, money, percent, quote

__all__ = ["BoardAnswer", "BoardLine", "BoardRow", "MetricAnswer", "MetricLine"]


class BoardLine(Part):
    slug: str
    title: str
    runs: int
    published: int = Field(description="Rows of published results, which were not measured here.")
    frozen: bool


class BoardRow(Part):
    rank: int | None
    best: int | None = Field(description="The best rank that the model could have, by the intervals.")
    worst: int | None
    name: str
    run: str = Field(description="Slug; empty for a published row.")
    origin: str = Field(description="measured here, or published.")
    k: int
    tasks: int
    attempts: int
    pass_at_1: float | None
    interval: tuple[float, float] | None = Field(description="95%, of what the board ranks by.")
    solved: float | None
    all_k: float | None
    cost_per_success: str | None
    currency: str

    def told(self) -> str:
        rank = "–" if self.rank is None else str(self.rank)
        if self.best is not None and self.best != self.worst:
            rank += f" (could be {self.best} to {self.worst})"
        run = f", run {self.run}" if self.run else f", {self.origin}"
        cost = "" if self.cost_per_success is None else f", {money(self.cost_per_success, self.currency)} a success"
        return (
            f"{rank}. {quote(self.name)}{run}: pass@1 {percent(self.pass_at_1)}, solved {percent(self.solved)}, "
            f"all {self.k} {percent(self.all_k)}{cost}"
        )


class BoardAnswer(Answer):
    WHOLE: ClassVar[str] = "The leaderboard's page shows whole texts."
    LISTS: ClassVar[dict[str, str]] = {
        "method": "The leaderboard's page has all of it.",
        "boards": "The page of leaderboards lists all.",
        "rows": "leaderboard(slug, offset={next}) goes on.",
    }
    boards: list[BoardLine] = Field(description="All leaderboards, where none was asked for.")
    slug: str = ""
    title: str = ""
    ranked_by: str = ""
    frozen: bool = False
    total: int = Field(default=0, description="Rows in all.")
    offset: int = 0
    rows: list[BoardRow] = []
    next_offset: int | None = None
    method: list[str] = Field(default=[], description="How figures and ranks are made.")

    def left_out(self, name: str, count: int) -> BoardAnswer:
        if name != "rows":
            return super().left_out(name, count)
        return self.model_copy(update={"rows": self.rows[:count], "next_offset": self.offset + count})

    def lines(self) -> list[str]:
        if not self.slug:
            boards = [
                f"{board.slug}: {quote(board.title)}, {board.runs} runs, {board.published} published rows"
                + (", frozen" if board.frozen else "")
                for board in self.boards
            ]
            return [f"{len(boards)} leaderboards", *boards, QUOTED]
        more = "" if self.next_offset is None else f"; more with offset={self.next_offset}"
        return [
            f"{self.slug}: {quote(self.title)}, by {self.ranked_by}, {self.total} rows{more}",
            *(row.told() for row in self.rows),
            *self.method,
            QUOTED,
        ]


class MetricLine(Part):
    name: str
    title: str
    formula: str
    meaning: str
    traps: str = Field(description="What it is often mistaken for.")


class MetricAnswer(Answer):
    LISTS: ClassVar[dict[str, str]] = {"metrics": "metric_definition(name) gives one."}
    metrics: list[MetricLine]

    def lines(self) -> list[str]:
        return [f"{m.name} ({m.title}) = {m.formula}. {m.meaning} {m.traps}".rstrip() for m in self.metrics]
