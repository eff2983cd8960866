"""Figures: numbers in, a description out, then screen (`to_plotly`) or a file (`export`).

    figure = VIEWS["head"].figure(maps=maps, kind="cross", layer=3, head=5)     # or one_head(maps, "cross", 3, 5)
    Path(file_name(figure, "pdf")).write_bytes(export(figure, "pdf", Style(preset="acl-column")))

    maps = own_maps(weights, query_tokens, key_tokens)                          # attention of any other model
    figure = layer_heads(maps, "own", layer=0)

Nothing here imports Streamlit. matplotlib and Plotly are loaded when something is first drawn.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from viz_app.figures.build.beam import Search, beam_tree
from viz_app.figures.build.comparison import comparison
from viz_app.figures.build.heads import all_heads, all_kinds, layer_heads, one_head
from viz_app.figures.build.lines import head_lines
from viz_app.figures.build.steps import Animation, decoding, decoding_steps
from viz_app.figures.build.views import VIEWS, Request, View, view_named
from viz_app.figures.model.arrays import OwnMaps, own_maps
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure, Series
from viz_app.figures.model.dots import Dots, DotsFigure
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.model.slicing import UNITS, upto_step
from viz_app.figures.model.spec import DifferencePanel, Figure, HeatmapFigure, HeatmapPanel
from viz_app.figures.model.style import PRESETS, SCALES, Style
from viz_app.figures.model.tree import TreeFigure, TreeNode
from viz_app.figures.style_support import effective_style, supported_options
from viz_app.figures.text.captions import Caption, head_alt, head_caption

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = [
    "FORMATS",
    "MIME_TYPES",
    "PRESETS",
    "SCALES",
    "UNITS",
    "VIEWS",
    "Animation",
    "Caption",
    "CurvesFigure",
    "DifferencePanel",
    "Dots",
    "DotsFigure",
    "Figure",
    "HeatmapFigure",
    "HeatmapPanel",
    "LinesFigure",
    "MatrixFigure",
    "OwnMaps",
    "Request",
    "Search",
    "Series",
    "Style",
    "TreeFigure",
    "TreeNode",
    "View",
    "all_heads",
    "all_kinds",
    "beam_tree",
    "comparison",
    "decoding",
    "decoding_steps",
    "effective_style",
    "export",
    "file_name",
    "formats_of",
    "head_alt",
    "head_caption",
    "head_lines",
    "layer_heads",
    "one_head",
    "own_maps",
    "supported_options",
    "to_plotly",
    "upto_step",
    "view_named",
]

MIME_TYPES = {
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "npz": "application/octet-stream",
    "json": "application/json",
    "tex": "application/x-tex",
    "html": "text/html",
    "gif": "image/gif",
}
FORMATS = tuple(MIME_TYPES)
_DATA = {"csv": "to_csv", "npz": "to_npz", "json": "to_json"}


def formats_of(figure: Figure) -> tuple[str, ...]:
    """The formats that a figure can be exported to: an animation moves, the others, and its still, do not."""
    if isinstance(figure, Animation):
        return ("gif", *_DATA) if figure.still is None else (*formats_of(figure.still), "gif")
    drawn_by_tex = isinstance(figure, HeatmapFigure | CurvesFigure | MatrixFigure | DotsFigure)
    return tuple(name for name in FORMATS if name != "gif" and (name != "tex" or drawn_by_tex))


def export(
    figure: Figure, format: str, style: Style | None = None, *, width_mm: float | None = None, dpi: int | None = None
) -> bytes:
    """A figure as a file.

    Args:
        figure: What to write.
        format: One of `formats_of(figure)`.
        style: How to draw it; data formats ignore it.
        width_mm: Width of a picture in millimetres, before the style's.
        dpi: Dots per inch of a PNG (300) or GIF (150); the other formats ignore it.

    Returns:
        The file's bytes; the same arguments give the same bytes.

    Raises:
        ValueError: The format or an option is not allowed.
    """
    _check(format, formats_of(figure))
    style = style or Style()
    if width_mm is not None:
        style = replace(style, width_mm=width_mm)
    if isinstance(figure, Animation) and figure.still is not None and format != "gif":
        figure = figure.still_frame
    if format in _DATA:
        from viz_app.figures import data_renderer

        data: bytes = getattr(data_renderer, _DATA[format])(figure)
        return data
    if format == "tex":
        from viz_app.figures.tikz import renderer as tikz_renderer

        return tikz_renderer.to_tex(figure, style)
    if format == "html":
        from viz_app.figures.plotly import html as html_renderer

        return html_renderer.to_html(figure, style)
    if isinstance(figure, Animation):
        from viz_app.figures.mpl import gif as gif_renderer

        return gif_renderer.to_gif(figure, style, dpi=gif_renderer.DEFAULT_DPI if dpi is None else dpi)
    from viz_app.figures.mpl import renderer as matplotlib_renderer

    return matplotlib_renderer.render(
        figure, format, style, dpi=matplotlib_renderer.DEFAULT_DPI if dpi is None else dpi
    )


def to_plotly(figure: Figure, style: Style | None = None) -> go.Figure:
    """A figure for the screen; of a style, its colours, range, title and legend."""
    from viz_app.figures.plotly import renderer as plotly_renderer

    return plotly_renderer.to_plotly(figure, style)


def file_name(figure: Figure, format: str) -> str:
    """Name of the exported file, such as headlight_cross_layer4_head6.pdf; layers and heads count from 1.

    Raises:
        ValueError: The format is not one of FORMATS.
    """
    _check(format, FORMATS)
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '_', figure.name) or 'headlight'}.{format}"


def _check(format: str, allowed: tuple[str, ...]) -> None:
    if format not in allowed:
        raise ValueError(f"format is {format!r}, but must be one of {', '.join(allowed)}")
