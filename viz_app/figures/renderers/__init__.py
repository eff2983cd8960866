"""Every file format of figures, by its name: each file of this folder with `RENDERERS` is one or several.

    RENDERERS["pdf"].render(figure, style, None)

Nothing else names a format that only its own file could know. matplotlib and Plotly wait until something is drawn.
"""

from __future__ import annotations

from viz_app.figures.discovery import registry
from viz_app.figures.renderers.renderer import STILL, Renderer

__all__ = ["RENDERERS", "STILL", "Renderer"]

RENDERERS = registry(__name__, "RENDERERS", Renderer, lambda each: each.format, lambda each: each.order)
