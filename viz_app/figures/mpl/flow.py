"""The flow in print, folded or unfolded."""

from __future__ import annotations

from viz_app.figures.model.flow import FlowFigure
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.canvas import Canvas
from viz_app.figures.mpl.folded_flow import FoldedFlow
from viz_app.figures.mpl.unfolded_flow import UnfoldedFlow


def draw(figure: FlowFigure, style: Style, format: str, dpi: int) -> Canvas:
    """Draw the figure on a page."""
    drawing = plan(figure, style)
    canvas = Canvas(figure, style, format, dpi, drawing.width, drawing.height)
    drawing.draw(canvas)
    return canvas


def plan(figure: FlowFigure, style: Style) -> FoldedFlow | UnfoldedFlow:
    """Return the drawing, to be drawn on any surface of its size; call it within `drawing_settings`."""
    return FoldedFlow(figure, style) if figure.graph is None else UnfoldedFlow(figure, style)
