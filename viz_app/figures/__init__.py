"""Figures: numbers in, a description out (`spec`, `builders`), then screen (`to_plotly`) or a file (`export`).

    figure = one_head(maps, "cross", layer=3, head=5)
    Path(file_name(figure, "pdf")).write_bytes(export(figure, "pdf"))

Nothing here imports Streamlit. matplotlib and Plotly are loaded when something is first drawn.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from viz_app.figures.builders import all_heads, layer_heads, one_head, upto_step
from viz_app.figures.captions import Caption, head_alt, head_caption
from viz_app.figures.spec import HeatmapFigure, HeatmapPanel

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = [
    "FORMATS",
    "MIME_TYPES",
    "Caption",
    "HeatmapFigure",
    "HeatmapPanel",
    "all_heads",
    "export",
    "file_name",
    "head_alt",
    "head_caption",
    "layer_heads",
    "one_head",
    "to_plotly",
    "upto_step",
]

MIME_TYPES = {
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "npz": "application/octet-stream",
    "json": "application/json",
}
FORMATS = tuple(MIME_TYPES)
_DATA = {"csv": "to_csv", "npz": "to_npz", "json": "to_json"}


def export(figure: HeatmapFigure, format: str, *, width_mm: float | None = None, dpi: int = 300) -> bytes:
    """A figure as a file.

    Args:
        figure: What to write.
        format: One of FORMATS.
        width_mm: Width of a picture in millimetres; None lets the number of tokens decide. Data formats ignore it.
        dpi: Dots per inch of a PNG; the other formats ignore it.

    Returns:
        The file's bytes; the same arguments give the same bytes.

    Raises:
        ValueError: The format or an option is not allowed.
    """
    _check(format)
    if format in _DATA:
        from viz_app.figures import data_renderer

        data: bytes = getattr(data_renderer, _DATA[format])(figure)
        return data
    from viz_app.figures.matplotlib_renderer import render

    return render(figure, format, width_mm=width_mm, dpi=dpi)


def to_plotly(figure: HeatmapFigure) -> go.Figure:
    """A figure for the screen."""
    from viz_app.figures import plotly_renderer

    return plotly_renderer.to_plotly(figure)


def file_name(figure: HeatmapFigure, format: str) -> str:
    """Name of the exported file, such as headlight_cross_layer4_head6.pdf; layers and heads count from 1.

    Raises:
        ValueError: The format is not one of FORMATS.
    """
    _check(format)
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '_', figure.name) or 'headlight'}.{format}"


def _check(format: str) -> None:
    if format not in FORMATS:
        raise ValueError(f"format is {format!r}, but must be one of {', '.join(FORMATS)}")
