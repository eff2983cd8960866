"""Which options of a style a figure heeds, so that a page offers no control that changes nothing.

    "scale" in uses(figure)         "rotation" in uses(HeatmapFigure)

A test draws every kind of figure with every option changed and compares.
"""

from __future__ import annotations

from typing import Any

from viz_app.figures.build.steps import Animation
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure
from viz_app.figures.model.dots import DotsFigure
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.model.spec import Figure, HeatmapFigure
from viz_app.figures.model.style import Style
from viz_app.figures.model.tree import TreeFigure

_ALWAYS = frozenset({"preset", "width_mm", "height_mm", "font_pt", "theme"})
_AROUND = frozenset({"title", "caption", "legend"})
_COLOURS = frozenset({"scale", "value_range", "mapping"})
_BY_KIND: dict[type[Figure], frozenset[str]] = {
    HeatmapFigure: _ALWAYS | _AROUND | _COLOURS | {"rotation", "letters"},
    LinesFigure: _ALWAYS | _AROUND | {"value_range", "mapping"},
    TreeFigure: _ALWAYS | _AROUND,
    CurvesFigure: _ALWAYS | _AROUND,
    MatrixFigure: _ALWAYS | _AROUND | _COLOURS,
    DotsFigure: _ALWAYS | _AROUND,
}


def uses(figure: Figure | type[Figure]) -> frozenset[str]:
    """Names of the fields of `Style` that can change a drawing.

    Args:
        figure: A kind of figure; or one figure, of which may be known to change nothing what its kind heeds: the title
            of a figure without one, the colours of weights where there are only differences.

    Raises:
        KeyError: The kind does not exist.
    """
    if isinstance(figure, type):
        return _BY_KIND[figure]
    if isinstance(figure, Animation):
        return uses(figure.standing)
    return _BY_KIND[type(figure)] - _idle(figure)


def heeded(style: Style, figure: Figure) -> Style:
    """The style with the defaults of what makes no difference to this figure, so that its command does not tell it."""
    used = uses(figure)
    return Style.of({name: value for name, value in style.as_dict().items() if name in used})


def _idle(figure: Figure) -> set[str]:
    """What its kind heeds, but not this figure."""
    idle = {name for name in ("title", "caption") if not getattr(figure, name)}
    if isinstance(figure, HeatmapFigure):
        if len(figure.panels) == 1 or figure.row_titles:
            idle.add("letters")
        if not figure.weights:
            idle.add("scale")
    if isinstance(figure, MatrixFigure) and figure.two_ends:
        idle.add("scale")
    if isinstance(figure, CurvesFigure) and not any(series.label for series in figure.series):
        idle.add("legend")
    if isinstance(figure, DotsFigure) and not figure.notes:
        idle.add("legend")
    return idle


def numbers_of(figure: Figure) -> tuple[float, float] | None:
    """The ends of the colours of a matrix as they are unless told: of weights, which lie between 0 and 1, None."""
    if not isinstance(figure, MatrixFigure):
        return None
    from viz_app.figures.colours.scales import numbers_map

    plain: Any = numbers_map(figure.matrix, figure.two_ends, Style(), figure.theme)
    return plain.low, plain.high
