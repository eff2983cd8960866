"""Figures as PNG, SVG and PDF, byte for byte the same each time, without a browser.

matplotlib keeps settings and fonts in global state, so one lock lets one figure through at a time.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import matplotlib

from viz_app.figures import fonts
from viz_app.figures.model.beam_tree import BeamTreeFigure
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.model.figure import Figure, HeatmapFigure
from viz_app.figures.model.flow import FlowFigure
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.model.style import Style
from viz_app.figures.mpl import charts, constituency, flow, heatmaps, lines, trees
from viz_app.figures.mpl.canvas import Canvas

FORMATS = ("png", "svg", "pdf")
DEFAULT_DPI = 300
_DRAW: dict[type[Figure], Callable[[Any, Style, str, int], Canvas]] = {
    HeatmapFigure: heatmaps.draw,
    LinesFigure: lines.draw,
    BeamTreeFigure: trees.draw,
    ConstituencyFigure: constituency.draw,
    FlowFigure: flow.draw,
    CurvesFigure: charts.draw_curves,
    MatrixFigure: charts.draw_matrix,
}
_lock = threading.Lock()
_SETTINGS: dict[str, Any] = {
    "svg.hashsalt": "headlight",  # ids that do not change from run to run
    "pdf.fonttype": 42,  # TrueType, as publishers ask
    "text.parse_math": False,
    "text.usetex": False,
    "hatch.linewidth": 0.5,
    "path.simplify": False,
}


def render(figure: Figure, format: str, style: Style | None = None, *, dpi: int = DEFAULT_DPI) -> bytes:
    """Draw a figure.

    Args:
        figure: What to draw.
        format: "png", "svg" or "pdf".
        style: How to draw it. Without a width, the number of tokens decides (A4 text width at most, unless one panel
            needs more).
        dpi: Dots per inch of a PNG, 36 to 1200.

    Returns:
        The file's bytes; the same arguments give the same bytes.

    Raises:
        ValueError: An argument is not allowed.
    """
    if format not in FORMATS:
        raise ValueError(f"format is {format!r}, but must be one of {', '.join(FORMATS)}")
    if not 36 <= dpi <= 1200:
        raise ValueError(f"dpi is {dpi}, but must be between 36 and 1200")
    style = style or Style()
    with drawing_settings(outlines=style.outlines):
        return draw(figure, style, format, dpi).save()


def draw(figure: Figure, style: Style, format: str, dpi: int) -> Canvas:
    """Return the figure on a page, to be saved; call it within `drawing_settings`."""
    if style.theme is not None:
        figure = replace(figure, theme=style.theme)
    return _DRAW[type(figure)](figure, style, format, dpi)


@contextmanager
def drawing_settings(*, outlines: bool = False) -> Iterator[None]:
    """Yield the lock, and matplotlib's settings as these figures need them; `outlines` as of `Style`."""
    settings: Any = {**_SETTINGS, "font.family": fonts.families(), "svg.fonttype": "path" if outlines else "none"}
    with _lock, matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")  # `save` tells it, once
        yield
