"""Numbers of the Lab: only the open bench computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from viz_app.components.explorer.selection import Selection
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab.bench import benches
from viz_app.lessons.lab.limits import MAX_TOKENS, TooMuchWork
from viz_app.lessons.lab.recipe import Recipe

Result = TypeVar("Result")


def data(context: LessonContext) -> StageData:
    """Compute the open bench; of what is too long, too much work, or was stopped, return only that."""
    values = {"count": len(context.tokens), "most": MAX_TOKENS, "times": 0, "late": False, "bench": None}
    for bench in benches().values():
        values |= bench.choices(context)
    if not _is_computed(context):
        return StageData(values={**values, "late": context.late})
    name = context.state.scene if context.state.scene in benches() else next(iter(benches()))
    try:
        stage = benches()[name].data(context)
    except TooMuchWork as error:
        return StageData(values={**values, "times": error.times})
    return StageData(values={**values, "bench": name, name: stage.values}, arrays=stage.arrays, answers=stage.answers)


def selection(scene: str, context: LessonContext) -> Selection | None:
    """Name the head that a bench shows, for the page Translate."""
    place = _unless_refused(benches()[scene].head, context)
    return place and Selection(kind=place[0], layer=place[1], head=place[2])


def recipe(scene: str, context: LessonContext) -> Recipe | None:
    """Give the command and the Python code that compute the numbers of a bench without the app."""
    return _unless_refused(benches()[scene].recipe, context)


def _unless_refused(ask: Callable[[LessonContext], Result | None], context: LessonContext) -> Result | None:
    try:
        return ask(context) if _is_computed(context) else None
    except TooMuchWork:
        return None


def _is_computed(context: LessonContext) -> bool:
    return not context.stopped and len(context.tokens) <= MAX_TOKENS
