"""The Lab: one module for each bench. What the open bench asks of the model, and nothing else, is computed."""

from __future__ import annotations

from typing import Any

from viz_app.components.explorer import Selection
from viz_app.figures.model.figure import Figure
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import depth, parts, redirect, stairs, swap, switch_off, trace, why
from viz_app.lessons.lab.limits import MAX_TOKENS, TooMuchWork
from viz_app.lessons.lab.recipe import Recipe

_BENCHES: dict[str, Any] = {
    "off": switch_off,
    "parts": parts,
    "stairs": stairs,
    "redirect": redirect,
    "trace": trace,
    "depth": depth,
    "early": depth.Early,
    "swap": swap,
    "why": why,
}


def data(context: LessonContext) -> StageData:
    """The numbers of the open bench; of what is too long, too much work, or was stopped, only that."""
    count = len(context.tokens)
    values = {"count": count, "most": MAX_TOKENS, "times": 0, "late": False, "pairs": list(swap.pair_names(context))}
    if not _computes(context):
        return StageData(values={**values, "bench": None, "late": context.late})
    name = _open(context)
    try:
        found: StageData = _BENCHES[name].data(context)
    except TooMuchWork as error:
        return StageData(values={**values, "bench": None, "times": error.times})
    return StageData(values={**values, "bench": name, name: found.values}, arrays=found.arrays, answers=found.answers)


def figure(scene: str, context: LessonContext) -> Figure | None:
    """The picture of a bench for print."""
    if not _computes(context):
        return None
    try:
        drawn: Figure | None = _BENCHES[scene].figure(context)
    except TooMuchWork:
        return None
    return drawn


def selection(scene: str, context: LessonContext) -> Selection | None:
    """The head that a bench shows, for the page Translate."""
    choose = getattr(_BENCHES[scene], "selection", None)
    try:
        shown: Selection | None = choose(context) if choose and _computes(context) else None
    except TooMuchWork:
        return None
    return shown


def recipe(scene: str, context: LessonContext) -> Recipe | None:
    """How to make the numbers of a bench again without the app."""
    if not _computes(context):
        return None
    try:
        made: Recipe | None = _BENCHES[scene].recipe(context)
    except TooMuchWork:
        return None
    return made


def _computes(context: LessonContext) -> bool:
    return not context.stopped and len(context.tokens) <= MAX_TOKENS


def _open(context: LessonContext) -> str:
    return context.state.scene if context.state.scene in _BENCHES else next(iter(_BENCHES))
