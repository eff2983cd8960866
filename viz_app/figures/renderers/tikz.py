"""TikZ, for papers written with TeX."""

from __future__ import annotations

from viz_app.figures.model.charts import CurvesFigure, MatrixFigure
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.model.dots import DotsFigure
from viz_app.figures.model.figure import Figure, HeatmapFigure
from viz_app.figures.model.style import Style
from viz_app.figures.renderers.renderer import Renderer


def _render(figure: Figure, style: Style, dpi: int | None) -> bytes:
    from viz_app.figures.tikz import renderer

    return renderer.to_tex(figure, style)


RENDERERS = Renderer(
    format="tex",
    order=40,
    mime_type="application/x-tex",
    kinds=(HeatmapFigure, CurvesFigure, MatrixFigure, DotsFigure, ConstituencyFigure),
    render=_render,
    label="TikZ",
)
