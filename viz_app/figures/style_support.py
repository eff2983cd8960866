"""Style options that change a figure, so that a page offers no control without effect.

    "scale" in uses(figure)         "rotation" in uses(HeatmapFigure)

A test draws every kind of figure with every option changed and compares.
"""

from __future__ import annotations

from viz_app.figures.build.steps import Animation
from viz_app.figures.model.beam_tree import BeamTreeFigure
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.model.figure import Figure, HeatmapFigure
from viz_app.figures.model.flow import FlowFigure
from viz_app.figures.model.lines import LinesFigure

_ALWAYS = frozenset({"preset", "width_mm", "height_mm", "font_pt", "theme", "outlines"})
_AROUND = frozenset({"title", "caption", "legend"})
_COLORS = frozenset({"scale", "value_range", "mapping"})
_BY_KIND: dict[type[Figure], frozenset[str]] = {
    HeatmapFigure: _ALWAYS | _AROUND | _COLORS | {"rotation", "letters"},
    LinesFigure: _ALWAYS | _AROUND | {"value_range", "mapping"},
    BeamTreeFigure: _ALWAYS | _AROUND,
    ConstituencyFigure: _ALWAYS | _AROUND | _COLORS,
    FlowFigure: _ALWAYS | _AROUND,
    CurvesFigure: _ALWAYS | _AROUND,
    MatrixFigure: _ALWAYS | _AROUND | _COLORS,
}


def supported_options(figure: Figure | type[Figure]) -> frozenset[str]:
    """Names of the fields of `Style` that can change a drawing.

    Args:
        figure: A kind of figure, or one figure. One figure may support less than its kind: without a title the option
            `title` has no effect.

    Raises:
        KeyError: The kind does not exist.
    """
    if isinstance(figure, type):
        return _BY_KIND[figure]
    if isinstance(figure, Animation):
        return supported_options(figure.still_frame)
    return _BY_KIND[type(figure)] - _without_effect(figure)


def _without_effect(figure: Figure) -> set[str]:
    """Return options that its kind supports but that change nothing in this figure."""
    idle = {name for name in ("title", "caption") if not getattr(figure, name)}
    if isinstance(figure, HeatmapFigure):
        if len(figure.panels) == 1 or figure.row_titles:
            idle.add("letters")
        if not figure.weights:
            idle.add("scale")
    if isinstance(figure, MatrixFigure) and figure.diverging:
        idle.add("scale")
    if isinstance(figure, CurvesFigure) and not any(series.label for series in figure.series):
        idle.add("legend")
    if isinstance(figure, ConstituencyFigure) and not figure.is_tinted:
        idle |= {"legend", *_COLORS}
    return idle
