"""CSV, NPZ and JSON: the numbers behind a figure."""

from __future__ import annotations

from collections.abc import Callable

from viz_app.figures import data_renderer
from viz_app.figures.model.figure import Figure
from viz_app.figures.model.style import Style
from viz_app.figures.renderers.renderer import Renderer


def _data(format: str, order: int, mime_type: str, write: Callable[[Figure], bytes]) -> Renderer:
    def render(figure: Figure, style: Style, dpi: int | None) -> bytes:
        return write(figure)

    return Renderer(format=format, order=order, mime_type=mime_type, kinds=(Figure,), render=render, is_data=True)


RENDERERS = (
    _data("csv", 70, "text/csv", data_renderer.to_csv),
    _data("npz", 80, "application/octet-stream", data_renderer.to_npz),
    _data("json", 90, "application/json", data_renderer.to_json),
)
