"""Lesson "Why self-attention" (Section 4): Table 1 with the visitor's sentence put in, and its layers timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from typing import Any, TypedDict

import numpy as np

from transformer_core.paper.complexity import LAYERS, Layer, layer_cost
from viz_app.figures import CurvesFigure, Series
from viz_app.figures.model.figure import Figure
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.jobs.layer_benchmark import (
    KINDS,
    LENGTHS,
    PASSES,
    REACH,
    WIDTHS,
    Kind,
    Progress,
    crossover_lengths,
    layer_benchmark,
    machine,
)

LIVE_SCENES = NEEDS_PYTHON = frozenset({"timed"})
RESTRICTED_TO = REACH  # positions on either side, where a scene has no slider for it
_LENGTHS = np.arange(1, 2001)
_CROSSING: tuple[Layer, ...] = ("attention", "recurrent", "restricted")
_SAME_AS: dict[Layer, Layer] = {"dilated": "convolution"}  # in operations


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
    # A picture for print is offered once all points are there.
    return StageData(values=values, drawn=f"{view.number} {view.state}" if view.state != "running" else None)


def on_button(context: LessonContext, button: str) -> None:
    """Start a measurement, or stop the current one."""
    if button == "measure":
        gate = context.service.queue
        layer_benchmark().start(_width(context), busy=lambda: gate.working > 0)
    elif button == "stop":
        layer_benchmark().stop()


def prepare(scene: str, context: LessonContext) -> None:
    """Measure and wait, for a figure from the command line."""
    if scene == "timed":
        import torch

        torch.set_num_threads(1)  # as the app does
        layer_benchmark().start(_width(context))
        thread = layer_benchmark().thread
        while thread is not None and thread.is_alive():
            layer_benchmark().watch()
            thread.join(1.0)


def figure(scene: str, context: LessonContext) -> Figure | None:
    """Plot operations, or measured seconds, over the length."""
    return _FIGURES[scene](context) if scene in _FIGURES else None


def _crossover(context: LessonContext) -> Figure:
    d = int(context.state.choice("d", "512", ("128", "512", "1024")))
    r = int(context.state.number("r", RESTRICTED_TO, 1, 2000))
    return _operations(context, _CROSSING, {"d": d, "r": r}, log=False)


def _costs(context: LessonContext) -> Figure:
    """Plot the bars of the scene for all lengths, as curves."""
    d = int(context.state.choice("d", "512", ("64", "128", "512", "1024")))
    k = int(context.state.number("k", 3, 3, 31))
    return _operations(context, LAYERS, {"d": d, "k": k | 1, "r": RESTRICTED_TO}, log=True)


def _operations(
    context: LessonContext, layers: tuple[Layer, ...], numbers: dict[str, int], *, log: bool
) -> CurvesFigure:
    t = context.t
    series = []
    for layer in layers:
        if layer in _SAME_AS:
            continue
        names = [layer, *(other for other, same in _SAME_AS.items() if same == layer and other in layers)]
        series.append(
            Series(
                x=_LENGTHS,
                y=[layer_cost(layer, n=int(n), **numbers).operations for n in _LENGTHS],
                label=", ".join(t(f"lesson_why.layer_{name}") for name in names),
                dashed=layer in ("restricted", "separable"),  # it lies on the recurrent one
            )
        )
    return CurvesFigure(
        series=tuple(series),
        x_title=t("lesson_why.length"),
        y_title=t("lesson_why.operations"),
        x_log=log,
        y_log=log,
        caption=", ".join(f"{name} = {value}" for name, value in numbers.items()),
        language=t.language,
    )


def _timed(context: LessonContext) -> Figure | None:
    """Plot the measured points of the width, also of a stopped measurement; None before."""
    t, width = context.t, _width(context)
    view: Progress = layer_benchmark().view()
    points = view.points.get(width, ())
    series = []
    for kind in KINDS:
        own = [point for point in points if point.kind == kind]
        if own:
            label = t(f"lesson_why.layer_{kind}")
            x, y = [point.n for point in own], [point.seconds for point in own]
            series.append(Series(x=x, y=y, label=label, dashed=kind == "restricted", marked=True))
    if not series:
        return None
    return CurvesFigure(
        series=tuple(series),
        x_title=t("lesson_why.length"),
        y_title=t("lesson_why.seconds"),
        x_log=True,
        y_log=True,
        caption=f"d = {width}, r = {RESTRICTED_TO}. " + t("lesson_why.machine", **_machine()),
        provenance={"machine": _machine(), "passes": PASSES},
        language=t.language,
    )


_FIGURES: Mapping[str, Callable[[LessonContext], Figure | None]] = {
    "costs": _costs,
    "crossover": _crossover,
    "timed": _timed,
}


@cache
def _machine() -> dict[str, Any]:
    return asdict(machine())


def _width(context: LessonContext) -> int:
    return int(context.state.choice("d", str(WIDTHS[0]), tuple(map(str, WIDTHS))))
