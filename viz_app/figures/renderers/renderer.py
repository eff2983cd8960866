"""Renderer of one file format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from viz_app.figures.model.beam_tree import BeamTreeFigure
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.model.dots import DotsFigure
from viz_app.figures.model.figure import Figure, HeatmapFigure
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.model.style import Style

# All that do not move.
STILL = (HeatmapFigure, LinesFigure, BeamTreeFigure, ConstituencyFigure, CurvesFigure, MatrixFigure, DotsFigure)


@dataclass(frozen=True, kw_only=True)
class Renderer:
    """Writes figures in one format.

    Args:
        format: The ending of its files.
        order: Its place in menus, small numbers first.
        mime_type: Of its files.
        kinds: The kinds of figure that it writes.
        render: From a figure, a style and a resolution (None for its own) to the bytes of the file; the same arguments
            give the same bytes. It imports what it draws with itself, since that takes a second.
        label: What a button calls it; the format in capitals unless given.
        is_data: Whether it writes numbers, for which the style makes no difference.
        has_dpi: Whether its files have a resolution.
        moves: Whether it writes animations.
    """

    format: str
    order: int
    mime_type: str
    kinds: tuple[type[Figure], ...]
    render: Callable[[Figure, Style, int | None], bytes]
    label: str = ""
    is_data: bool = False
    has_dpi: bool = False
    moves: bool = False

    @property
    def name(self) -> str:
        """Name on a button."""
        return self.label or self.format.upper()
