"""The plot that models are placed on, and its size at the least width, by which names are placed."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

import msgspec

from inspector.charts.theme import drawn, legend, nice_step

__all__ = ["LEAST_WIDTH", "Plane", "plane_figure", "plane_of", "round_range"]

LEAST_WIDTH = 560
"""Pixels. On a narrower screen the box scrolls, so that the text keeps its size."""
_HEIGHT = 460
_MARGIN = {"l": 56, "r": 22, "t": 16, "b": 96, "pad": 0}


class Plane(msgspec.Struct, frozen=True, kw_only=True):
    """The plot in pixels at its least width, with the range of its axes (of the logarithm on a log axis)."""

    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        return (
            (x - self.x[0]) / (self.x[1] - self.x[0]) * self.width,
            (self.y[1] - y) / (self.y[1] - self.y[0]) * self.height,
        )


def plane_of(x: tuple[float, float], y: tuple[float, float]) -> Plane:
    return Plane(
        width=LEAST_WIDTH - _MARGIN["l"] - _MARGIN["r"], height=_HEIGHT - _MARGIN["t"] - _MARGIN["b"], x=x, y=y
    )


def round_range(low: float, high: float) -> tuple[float, float]:
    """Round ends of a percent axis with room for names."""
    step = nice_step(max(high - low, 10.0), 4)
    return max(0.0, floor((low - step / 3) / step) * step), min(100.0, ceil((high + step / 3) / step) * step)


def plane_figure(
    traces: list[dict[str, Any]], x: dict[str, Any], y: dict[str, Any], annotations: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    return drawn(
        traces,
        height=_HEIGHT,
        margin=_MARGIN,
        layout={
            "xaxis": x,
            "yaxis": y,
            "annotations": annotations,
            "showlegend": True,
            "legend": legend(),
            **more,
        },
    )
