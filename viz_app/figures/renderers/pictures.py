"""PDF, SVG and PNG, which matplotlib draws."""

from __future__ import annotations

from functools import partial

from viz_app.figures.model.figure import Figure
from viz_app.figures.model.style import Style
from viz_app.figures.renderers.renderer import STILL, Renderer


def _render(format: str, figure: Figure, style: Style, dpi: int | None) -> bytes:
    from viz_app.figures.mpl import renderer

    return renderer.render(figure, format, style, dpi=renderer.DEFAULT_DPI if dpi is None else dpi)


RENDERERS = (
    Renderer(format="pdf", order=10, mime_type="application/pdf", kinds=STILL, render=partial(_render, "pdf")),
    Renderer(format="svg", order=20, mime_type="image/svg+xml", kinds=STILL, render=partial(_render, "svg")),
    Renderer(format="png", order=30, mime_type="image/png", kinds=STILL, render=partial(_render, "png"), has_dpi=True),
)
