"""Points in named rows in print."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from viz_app.figures import fonts
from viz_app.figures.layout import MAX_NAME, PAD, POINTS_PER_MM, wrap
from viz_app.figures.model.dots import Dots, DotsFigure
from viz_app.figures.model.figure import display_label
from viz_app.figures.model.lines import HEAD_COLORS
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.canvas import Canvas
from viz_app.figures.mpl.frame import DASHES, GAP, LINE, Frame, page_height, page_width

_NATURAL = 160 * POINTS_PER_MM  # width of the page when it is free
_PITCH = 1.7  # from row to row over the font size
_AIR = 0.5  # beside a number over the font size
_BELOW = 2.8  # lines that an axis takes
_BAND = 0.7  # height of a band over the pitch
_SHADE = 0.18
_TICK = 4.0  # width that a tick's number needs over the font size


def draw(figure: DotsFigure, style: Style, format: str, dpi: int) -> Canvas:
    """Draw the rows from the top, their names on the left, each number on the right of its column."""
    font, rows, columns = style.font, len(figure.row_labels), figure.columns
    width = page_width(style, _NATURAL)
    frame = Frame(figure, style, width, notes=figure.notes if style.legend else ())
    labels = max(fonts.width(display_label(label, MAX_NAME), 1.0) for label in figure.row_labels)
    numbers = [max(fonts.width(column.format_value(row), 1.0) for row in range(rows)) + 2 * _AIR for column in columns]
    # Names and numbers take two thirds of a narrow page at most.
    text = min(font, 0.66 * (width - 2 * PAD) / (labels + sum(numbers) + 1))
    left, rooms = PAD + labels * text + 2 * GAP, [number * text for number in numbers]
    across = (width - left - PAD - sum(rooms)) / len(columns)
    titles = [
        wrap(column.title, font, across + room - _AIR * text, fonts.width)
        for column, room in zip(columns, rooms, strict=True)
    ]
    above = frame.above + max(map(len, titles)) * font * LINE + GAP
    below = _BELOW * font * LINE + frame.below
    pitch = _PITCH * font
    if style.height is not None:
        pitch = min(pitch, max(1.0, (style.height * POINTS_PER_MM - above - below) / rows))
    text = min(text, pitch / 1.1)
    canvas = Canvas(figure, style, format, dpi, width, page_height(style, above + rows * pitch + below))
    frame.draw(canvas)
    middles = [above + (row + 0.5) * pitch for row in range(rows)]
    for label, y in zip(figure.row_labels, middles, strict=True):
        canvas.text(left - 2 * GAP, y, display_label(label, MAX_NAME), text, canvas.ink, ha="right")
    colors = HEAD_COLORS[figure.theme][1:]
    for index, (column, room, lines) in enumerate(zip(columns, rooms, titles, strict=True)):
        start = left + index * across + sum(rooms[:index])
        for number_of_line, line in enumerate(lines):
            y = above - GAP - (len(lines) - number_of_line - 0.5) * font * LINE
            canvas.text(start + (across + room) / 2, y, line, font, canvas.ink)
        axes = canvas.plot_area(start, above, across, rows * pitch)
        _column(canvas, axes, column, colors[index % len(colors)], text, across)
        foot = above + rows * pitch + 2.1 * font * LINE
        canvas.text(start + across / 2, foot, column.axis, 0.9 * font, canvas.ink)
        for row, y in enumerate(middles):
            canvas.text(start + across + room - _AIR * text, y, column.format_value(row), text, canvas.ink, ha="right")
    return canvas


def _column(canvas: Canvas, axes: Axes, column: Dots, color: str, font: float, across: float) -> None:
    rows, blue = len(column.places), HEAD_COLORS[canvas.spec.theme][0]
    axes.set_xscale("log" if column.log else "linear")
    axes.set_xlim(*column.ends())
    axes.set_ylim(rows - 0.5, -0.5)
    for row, (low, high) in enumerate(column.bands):
        if not np.isnan(low + high):
            axes.barh(row, high - low, _BAND, low, color=canvas.mixed(blue, _SHADE), zorder=1)
    if column.base is not None:
        axes.axvline(column.base, color=blue, linewidth=0.8, linestyle=(0, DASHES), zorder=2)
    for row, value in enumerate(column.places):
        if np.isnan(value):
            continue
        if column.base is not None:
            axes.plot([column.base, value], [row, row], color=color, linewidth=1.2, zorder=3)
        fill = canvas.background if column.empty[row] else color
        axes.plot([value], [row], "o", markersize=0.55 * font, markerfacecolor=fill, markeredgecolor=color,
                  markeredgewidth=0.8, clip_on=False, zorder=4)  # fmt: skip
    count = max(2, min(4, int(across / (_TICK * font))))
    axes.xaxis.set_major_locator(FixedLocator(list(column.ticks(count))))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels(column.tick_labels(count))
    axes.yaxis.set_major_locator(NullLocator())
    axes.tick_params(labelsize=0.85 * font, color=canvas.muted, labelcolor=canvas.ink, width=0.5, length=2.5, pad=2.5)
    axes.set_facecolor("none")
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(canvas.muted)
        spine.set_linewidth(0.5)
