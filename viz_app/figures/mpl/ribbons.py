"""Ribbons of the flow: bands along Bezier curves, and what their drawings share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viz_app.figures import fonts
from viz_app.figures.layout import MAX_LABEL
from viz_app.figures.model.figure import display_label
from viz_app.figures.surface import Surface

Points = list[tuple[float, float]]
EDGE = 0.5  # of a hollow ribbon
_HOLLOW = 1.5  # width of the thinnest hollow one


def draw_ribbon(surface: Surface, points: Points, color: str, width: float, *, hollow: bool, reached: float) -> None:
    """Draw the part of a ribbon that it has reached, 0 to 1."""
    if reached <= 0:
        return
    part = beginning(points, reached)
    surface.curve(part, color, max(width, _HOLLOW) if hollow else width)
    if hollow:
        surface.curve(part, surface.background, max(width, _HOLLOW) - 2 * EDGE)


def beginning(points: Points, share: float) -> Points:
    """Return the first part of one or more Bezier curves, each with the same share of the time (de Casteljau)."""
    if share >= 1:
        return points
    whole, part = divmod(share * (len(points) - 1) / 3, 1)
    start = 3 * int(whole)
    line, ends = np.array(points[start : start + 4]), []
    while len(line):
        ends.append(line[0])
        line = line[:-1] + part * np.diff(line, axis=0)
    return [*points[:start], *((float(x), float(y)) for x, y in ends)]


def shown(label: str) -> str:
    """Return a label as it is drawn."""
    return display_label(label, MAX_LABEL)


def widest(labels: Sequence[str], size: float) -> float:
    """Return the width of the widest label."""
    return max((fonts.width(shown(label), size) for label in labels), default=0.0)


def clamp(value: float, low: float, high: float) -> float:
    """Return the nearest number within bounds."""
    return max(low, min(high, value))
