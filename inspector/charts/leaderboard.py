"""The charts of a leaderboard. Each takes the board's rows, its k, and the pass@1 under which models are left out."""

from __future__ import annotations

from inspector.charts.bars import survival
from inspector.charts.breadth import breadth_consistency
from inspector.charts.heat import domain_heat
from inspector.charts.priced import cost_dependable, cost_success

__all__ = ["breadth_consistency", "cost_dependable", "cost_success", "domain_heat", "survival"]
