"""HTML: a figure in one page that needs no network."""

from __future__ import annotations

from viz_app.figures.model.figure import Figure
from viz_app.figures.model.style import Style
from viz_app.figures.renderers.renderer import STILL, Renderer


def _render(figure: Figure, style: Style, dpi: int | None) -> bytes:
    from viz_app.figures.html_page import to_html

    return to_html(figure, style)


RENDERERS = Renderer(format="html", order=50, mime_type="text/html", kinds=STILL, render=_render)
