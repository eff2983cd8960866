"""Lesson "Why self-attention" (Section 4): Table 1 with the visitor's sentence put in."""

from __future__ import annotations

from typing import TypedDict

from viz_app.lessons.context import LessonContext, StageData

RESTRICTED_TO = 32  # positions on either side, where a scene has no slider for it


class Values(TypedDict):
    """Numbers for the browser; `r`: positions on either side that restricted attention keeps."""

    tokens: list[str]
    r: int


def data(context: LessonContext) -> StageData:
    """Return the tokens; the browser works out the table."""
    values: Values = {"tokens": list(context.tokens), "r": RESTRICTED_TO}
    return StageData(values=values)
