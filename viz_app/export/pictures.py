"""Small pictures of figures for an index: a pixel for each weight, or the figure itself in small."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from viz_app.figures import Animation, Figure, HeatmapFigure, LinesFigure, Style, export
from viz_app.figures.colours.scales import differences_map, weights_map
from viz_app.figures.model.figure import DifferencePanel

PREVIEW_DPI = 96


def thumbnail(figure: Figure, style: Style) -> bytes:
    """Draw the first map of a figure as PNG, a pixel for each weight; the browser enlarges it without smoothing."""
    if isinstance(figure, Animation):
        figure = figure.still_frame
    if not isinstance(figure, HeatmapFigure | LinesFigure):
        return preview(figure, style)
    panel, theme = figure.panels[-1 if isinstance(figure, HeatmapFigure) else 0], style.theme or figure.theme
    make = differences_map if isinstance(panel, DifferencePanel) else weights_map
    return _png(Image.fromarray(make([panel.weights], style, theme).rgb(panel.weights)))


def preview(figure: Figure, style: Style) -> bytes:
    """Draw a figure as PNG for a screen; of an animation, its still."""
    if isinstance(figure, Animation):
        figure = figure.still_frame
    return export(figure, "png", style, dpi=PREVIEW_DPI)


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=False)
    return buffer.getvalue()


def size(png: bytes) -> tuple[int, int]:
    """Return width and height in pixels."""
    width, height = np.frombuffer(png[16:24], dtype=">u4")
    return int(width), int(height)
