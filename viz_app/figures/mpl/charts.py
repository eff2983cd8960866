"""Curves and matrices in print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter

from viz_app.figures import fonts
from viz_app.figures.colours.palette import ink_on
from viz_app.figures.colours.scales import Colors, format_number, numbers_map
from viz_app.figures.layout import PAD, POINTS_PER_MM
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure
from viz_app.figures.model.figure import display_label
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.canvas import Canvas
from viz_app.figures.mpl.frame import DASHES, GAP, LINE, Entry, Frame, page_height, page_width
from viz_app.figures.mpl.heatmaps import color_bar

_CURVES = (100.0, 0.6)  # width in mm and height over width of the plot area when they are free
_MATRIX = 140.0
_BAR_ROOM = 24.0
_NAME = 18  # characters of a row's or column's name
_LINE_WIDTH = 1.2
_BAND = 0.18  # how strong the band around a curve is
_BREAK = 1.0  # width of a line between groups of rows in points
_MARK = 4.0  # diameter of a point in points
_WIDEST = str.maketrans("1234567", "0000000")  # so that no reading is wider than the room that is kept for it


def draw_curves(figure: CurvesFigure, style: Style, format: str, dpi: int) -> Canvas:
    """Draw curves on a page."""
    font = style.font
    width = page_width(style, _CURVES[0] * POINTS_PER_MM)
    frame = Frame(figure, style, width, _key(figure))
    left, right = PAD + font * LINE + 4.5 * font, 2 * PAD
    above = frame.above + (0.0 if figure.cut is None else font * LINE)
    below = 2.6 * font * LINE
    area = (width - left - right) * _CURVES[1]
    height = page_height(style, above + area + below + frame.below)
    if style.height is not None:  # the plot takes what is left
        height = max(style.height * POINTS_PER_MM, above + 3 * font + below + frame.below)
    area = height - above - below - frame.below
    canvas = Canvas(figure, style, format, dpi, width, height)
    frame.draw(canvas)
    axes = canvas.plot_area(left, above, width - left - right, area)
    for series, color in zip(figure.series, figure.colors, strict=True):
        if series.band is not None:
            axes.fill_between(series.xs, *series.band, color=color, alpha=_BAND, linewidth=0.0)
        (line,) = axes.plot(series.xs, series.ys, color=color, linewidth=_LINE_WIDTH)
        if series.dashed:
            line.set_linestyle((0, DASHES))
        if series.marked:
            line.set(marker="o", markersize=_MARK, markeredgewidth=0.0, clip_on=False)
    axes.set_xscale("log" if figure.x_log else "linear")
    axes.set_yscale("log" if figure.y_log else "linear")
    axes.margins(x=0.0)
    axes.grid(True, color=canvas.faint, linewidth=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    _ticks(canvas, axes, font)
    canvas.text(left + (width - left - right) / 2, above + area + below - font * 0.7, figure.x_title, font, canvas.ink)
    canvas.text(PAD + font * LINE / 2, above + area / 2, figure.y_title, font, canvas.ink, rotation=90)
    if figure.cut is not None:
        _draw_cut(canvas, axes, figure, (left, width - right, above - font * LINE / 2), font)
    return canvas


def _key(figure: CurvesFigure) -> list[Entry]:
    """Return the names of the curves, with their readings where there is a cut."""
    readings = figure.formatted_readings()
    room = max(readings, key=len).replace("\u2212", "+").translate(_WIDEST)
    return [
        Entry(series.label, color, _LINE_WIDTH, series.dashed, reading=reading, room=room)
        for series, color, reading in zip(figure.series, figure.colors, readings, strict=True)
        if series.label
    ]


def _draw_cut(canvas: Canvas, axes: Axes, figure: CurvesFigure, room: tuple[float, float, float], font: float) -> None:
    """Draw the line, a dot on each curve, and the text above; `room` is left, right and height of the text."""
    assert figure.cut is not None
    axes.axvline(figure.cut, color=canvas.ink, linewidth=0.8, clip_on=False)
    for color, reading in zip(figure.colors, figure.readings(), strict=True):
        axes.plot([figure.cut], [reading], "o", color=color, markersize=4.6, clip_on=False, zorder=4,
                  markeredgecolor=canvas.background, markeredgewidth=0.5)  # fmt: skip
    left, right, y = room
    text = f"{figure.x_title} = {format_number(figure.cut)}"
    half = fonts.width(text, font) / 2
    place = (axes.transData.transform((figure.cut, 0.0))[0] / canvas.page.dpi) * 72
    canvas.text(min(max(place, left + half), right - half), y, text, font, canvas.ink)


def draw_matrix(figure: MatrixFigure, style: Style, format: str, dpi: int) -> Canvas:
    """Return a matrix on a page."""
    font, (rows, columns) = style.font, figure.matrix.shape
    width = page_width(style, _MATRIX * POINTS_PER_MM)
    frame = Frame(figure, style, width)
    beside, under = (_longest(labels, 0.85 * font) for labels in (figure.row_labels, figure.column_labels))
    left = PAD + font * LINE + max(3.2 * font, beside + 2 * GAP)
    colors = numbers_map(figure.matrix, figure.diverging, style, figure.theme, figure.base)
    numbers = _longest([format_number(value) for value in colors.ticks()], 0.85 * font)
    bar_room = max(_BAR_ROOM + 2.2 * font, 13.0 + numbers + 1.3 * font)
    right = 3 * GAP + bar_room + PAD if style.legend else 2 * PAD
    below = 2.6 * font * LINE + max(0.0, under - font)
    across = width - left - right
    area = min(max(across * rows / columns, 0.3 * across), across)
    if figure.row_labels:
        area = max(area, rows * font)
    if style.height is not None:
        area = max(3 * font, style.height * POINTS_PER_MM - frame.above - below - frame.below)
    canvas = Canvas(figure, style, format, dpi, width, frame.above + area + below + frame.below)
    frame.draw(canvas)
    canvas.cells(colors.rgb(figure.matrix), ~np.isnan(figure.matrix), left, frame.above, across, area)
    axes = canvas.plot_area(left, frame.above, across, area)
    axes.patch.set_visible(False)  # the colours lie below, on the page
    axes.set_xlim(figure.column_start - 0.5, figure.column_start + columns - 0.5)
    axes.set_ylim(figure.row_start + rows - 0.5, figure.row_start - 0.5)
    for row in figure.row_breaks:
        axes.axhline(figure.row_start + row - 0.5, color=canvas.ink, linewidth=_BREAK)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins="auto", integer=True, steps=[1, 2, 5, 10]))
    _ticks(canvas, axes, font)
    _names(canvas, axes, figure, (left, frame.above, across, area), font)
    canvas.text(left + across / 2, frame.above + area + below - font * 0.7, figure.column_title, font, canvas.ink)
    canvas.text(PAD + font * LINE / 2, frame.above + area / 2, figure.row_title, font, canvas.ink, rotation=90)
    _cell_labels(canvas, figure, colors.rgb(figure.matrix), (left, frame.above, across, area), font)
    if style.legend:
        bar = (left + across + 3 * GAP, frame.above + max(0.0, (area - 110) / 2), 7.0, min(area, 110.0))
        color_bar(canvas, colors, figure.scale_title, *bar, font=font)
    return canvas


def _cell_labels(
    canvas: Canvas, figure: MatrixFigure, tints: Colors, place: tuple[float, float, float, float], font: float
) -> None:
    """Write a text into each cell, all as large as the longest can be."""
    left, top, across, area = place
    high, wide = area / len(tints), across / len(tints[0])
    widest = max((_longest(row, 1.0) for row in figure.cell_labels), default=1.0)
    size = min(0.85 * font, 0.7 * high, 0.9 * wide / widest)
    for row, labels in enumerate(figure.cell_labels):
        for column, label in enumerate(labels):
            x, y = left + (column + 0.5) * wide, top + (row + 0.5) * high
            canvas.text(x, y, display_label(label, _NAME), size, ink_on(tints[row, column]))


def _longest(labels: Sequence[str], size: float) -> float:
    """Return the width of the longest name, in points."""
    return max((fonts.width(display_label(label, _NAME), size) for label in labels), default=0.0)


def _names(
    canvas: Canvas, axes: Axes, figure: MatrixFigure, place: tuple[float, float, float, float], font: float
) -> None:
    """Draw names of rows and columns in place of numbers; `place` is left, top, width and height of the cells."""
    left, top, across, area = place
    rows, columns = figure.matrix.shape
    if figure.row_labels:
        axes.yaxis.set_ticks([])
        size = min(0.85 * font, area / rows)
        for row, label in enumerate(figure.row_labels):
            y = top + (row + 0.5) * area / rows
            canvas.text(left - GAP, y, display_label(label, _NAME), size, canvas.ink, ha="right")
    if figure.column_labels:
        axes.xaxis.set_ticks([])
        size = min(0.85 * font, across / columns)
        for column, label in enumerate(figure.column_labels):
            name = display_label(label, _NAME)
            x, long = left + (column + 0.5) * across / columns, fonts.width(name, size)
            canvas.text(x, top + area + GAP + long / 2, name, size, canvas.ink, rotation=90)


def _ticks(canvas: Canvas, axes: Axes, font: float) -> None:
    """Write ticks as plain text: matplotlib's own would be formulas on logarithmic axes."""
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        slack = 1e-9 * (high - low)
        places: list[Any] = [place for place in axis.get_majorticklocs() if low - slack <= place <= high + slack]
        axis.set_major_locator(FixedLocator(places))
        axis.set_minor_formatter(NullFormatter())
        axis.set_ticklabels([format_number(place) for place in places])
    axes.tick_params(
        which="both", labelsize=0.85 * font, color=canvas.muted, labelcolor=canvas.ink, width=0.5, length=2.5, pad=2.5
    )
    axes.tick_params(which="minor", length=1.5, width=0.4)
    axes.set_facecolor(canvas.background)
    for spine in axes.spines.values():
        spine.set_color(canvas.muted)
        spine.set_linewidth(0.5)
