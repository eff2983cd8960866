"""Figures: numbers in, a description out, then a file (`export`). Some are on the screen as Plotly charts.

    figure = VIEWS["head"].figure(maps=maps, head="cross.4.6")
    Path(file_name(figure, "pdf")).write_bytes(export(figure, "pdf", Style(preset="acl-column")))

    maps = own_maps(weights, query_tokens, key_tokens)                          # attention of any other model
    figure = VIEWS["layer"].figure(maps=maps, layer="own.1")
    figure = heatmap(effects, row_labels, column_labels, signed=True)           # any numbers

Nothing here imports Streamlit. matplotlib and Plotly are loaded when something is first drawn.
"""

from __future__ import annotations

import re
from dataclasses import replace

from viz_app.figures.build.beam import beam_tree as beam_tree
from viz_app.figures.build.flow import Flows as Flows
from viz_app.figures.build.flow import animated as animated
from viz_app.figures.build.heads import layer_heads as layer_heads
from viz_app.figures.build.heads import one_head as one_head
from viz_app.figures.build.lines import head_lines as head_lines
from viz_app.figures.build.matrix import heatmap as heatmap
from viz_app.figures.build.parse import ParserOutput as ParserOutput
from viz_app.figures.build.request import Request as Request
from viz_app.figures.build.request import Search as Search
from viz_app.figures.build.steps import Animation as Animation
from viz_app.figures.model.arrays import own_maps as own_maps
from viz_app.figures.model.beam_tree import BeamTreeFigure as BeamTreeFigure
from viz_app.figures.model.charts import CurvesFigure as CurvesFigure
from viz_app.figures.model.charts import MatrixFigure as MatrixFigure
from viz_app.figures.model.charts import Series as Series
from viz_app.figures.model.constituency import ConstituencyFigure as ConstituencyFigure
from viz_app.figures.model.constituency import Constituent as Constituent
from viz_app.figures.model.figure import DifferencePanel as DifferencePanel
from viz_app.figures.model.figure import Figure as Figure
from viz_app.figures.model.figure import HeatmapFigure as HeatmapFigure
from viz_app.figures.model.figure import HeatmapPanel as HeatmapPanel
from viz_app.figures.model.flow import FlowFigure as FlowFigure
from viz_app.figures.model.lines import LinesFigure as LinesFigure
from viz_app.figures.model.slicing import upto_step as upto_step
from viz_app.figures.model.style import PRESETS as PRESETS
from viz_app.figures.model.style import SCALES as SCALES
from viz_app.figures.model.style import Style as Style
from viz_app.figures.options import FigureOptions as FigureOptions
from viz_app.figures.renderers import RENDERERS as RENDERERS
from viz_app.figures.style_support import supported_options as supported_options
from viz_app.figures.views import VIEWS as VIEWS
from viz_app.figures.views import View as View
from viz_app.figures.views import view_named as view_named

FORMATS = tuple(RENDERERS)
MIME_TYPES = {format: renderer.mime_type for format, renderer in RENDERERS.items()}


def formats_of(figure: Figure | View) -> tuple[str, ...]:
    """Return the formats that a figure, or each figure of a view, can be exported to, those for print first."""
    kind = type(figure) if isinstance(figure, Figure) else Animation if figure.moves else figure.kind
    return tuple(format for format, renderer in RENDERERS.items() if issubclass(kind, renderer.kinds))


def export(
    figure: Figure, format: str, style: Style | None = None, *, width_mm: float | None = None, dpi: int | None = None
) -> bytes:
    """Return a figure as a file.

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
    return RENDERERS[format].render(figure, style, dpi)


def file_name(figure: Figure, format: str) -> str:
    """Name of the exported file, such as headlight_cross.4.6.pdf.

    Raises:
        ValueError: The format is not one of FORMATS.
    """
    _check(format, FORMATS)
    return f"{file_stem(figure)}.{format}"


def file_stem(figure: Figure) -> str:
    """Name of the exported file without its ending; a dot stands between letters or digits only."""
    unsafe = r"(?:(?<![A-Za-z0-9])\.|\.(?![A-Za-z0-9])|[^A-Za-z0-9_.-])+"
    return re.sub(unsafe, "_", figure.name) or "headlight"


def _check(format: str, allowed: tuple[str, ...]) -> None:
    if format not in allowed:
        raise ValueError(f"format is {format!r}, but must be one of {', '.join(allowed)}")
