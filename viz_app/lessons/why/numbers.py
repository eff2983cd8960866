"""Lesson "Why self-attention" (Section 4): Table 1 with the visitor's sentence put in, and its layers timed."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Any, TypedDict

from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.jobs.layer_benchmark import (
    LENGTHS,
    REACH,
    WIDTHS,
    Kind,
    crossover_lengths,
    layer_benchmark,
    machine,
)

LIVE_SCENES = NEEDS_PYTHON = frozenset({"timed"})
RESTRICTED_TO = REACH  # positions on either side, where a scene has no slider for it


class Timed(TypedDict):
    """Widths and lengths that are measured."""

    widths: tuple[int, ...]
    lengths: tuple[int, ...]


class Values(TypedDict):
    """Numbers for the browser; `r`: positions on either side that restricted attention keeps."""

    tokens: list[str]
    r: int
    timed: Timed


class Measurement(TypedDict):
    """Measurement of layers so far: by width the points (layer, n, seconds) and where two layers are equally fast."""

    state: str
    width: int
    total: int
    points: dict[str, list[tuple[Kind, int, float]]]
    crossings: dict[str, tuple[int, int] | None]
    machine: dict[str, str | int] | None


def data(context: LessonContext) -> StageData:
    """Return the tokens and what is measured; the browser works out the table."""
    values: Values = {
        "tokens": list(context.tokens),
        "r": RESTRICTED_TO,
        "timed": {"widths": WIDTHS, "lengths": LENGTHS},
    }
    return StageData(values=values)


def live_data(context: LessonContext) -> StageData:
    """Return the measurement so far, for every open scene."""
    view = layer_benchmark().watch()
    points = {str(width): [(p.kind, p.n, p.seconds) for p in found] for width, found in view.points.items()}
    values: Measurement = {
        "state": view.state,
        "width": view.width,
        "total": layer_benchmark().total,
        "points": points,
        "crossings": {str(width): crossover_lengths(found) for width, found in view.points.items()},
        "machine": _machine() if view.number else None,
    }
    return StageData(values=values)


def on_button(context: LessonContext, button: str) -> None:
    """Start a measurement, or stop the current one."""
    if button == "measure":
        gate = context.service.queue
        layer_benchmark().start(_width(context), busy=lambda: gate.working > 0)
    elif button == "stop":
        layer_benchmark().stop()


@cache
def _machine() -> dict[str, Any]:
    return asdict(machine())


def _width(context: LessonContext) -> int:
    return int(context.state.choice("d", str(WIDTHS[0]), tuple(map(str, WIDTHS))))
