"""GIF, for what moves."""

from __future__ import annotations

from typing import cast

from viz_app.figures.build.steps import Animation
from viz_app.figures.model.figure import Figure
from viz_app.figures.model.pixels import GIF_DPI
from viz_app.figures.model.style import Style
from viz_app.figures.renderers.renderer import Renderer


def _render(figure: Figure, style: Style, dpi: int | None) -> bytes:
    from viz_app.figures.mpl import gif

    return gif.to_gif(cast(Animation, figure), style, dpi=GIF_DPI if dpi is None else dpi)


RENDERERS = Renderer(
    format="gif", order=60, mime_type="image/gif", kinds=(Animation,), render=_render, has_dpi=True, moves=True
)
