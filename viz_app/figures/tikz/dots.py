r"""Points in named rows as TikZ: an axis for each column, the names on the left, each number beside its column."""

from __future__ import annotations

import math

from viz_app.figures.layout import MAX_NAME, POINTS_PER_MM
from viz_app.figures.model.dots import Dots, DotsFigure
from viz_app.figures.model.figure import display_label
from viz_app.figures.model.lines import HEAD_COLORS
from viz_app.figures.model.style import Style
from viz_app.figures.tikz.parts import color, heading, tex

_WIDTH = 160.0  # mm, when the style has none
_LETTER = 0.5  # width of a letter over its height, about
_PITCH = 1.7  # from row to row over the font size
_GAP = 4.0  # mm between a number and the next column
_BAND = 0.35  # half the height of a band, in rows
_MIN = 12.0  # mm of an axis at least


def dots(figure: DotsFigure, style: Style) -> list[str]:
    """Return the picture, line by line."""
    letter = _LETTER * style.font / POINTS_PER_MM
    names = letter * max(len(display_label(label, MAX_NAME)) for label in figure.row_labels)
    numbers = [
        letter * max(len(column.format_value(row)) for row in range(len(column.places))) for column in figure.columns
    ]
    gap = max(numbers) + _GAP
    room = (style.width or _WIDTH) - names - (len(numbers) - 1) * gap - numbers[-1] - _GAP
    across = max(_MIN, room / len(numbers))
    down = _PITCH * style.font / POINTS_PER_MM * len(figure.row_labels)
    if style.height:
        down = style.height
    colors = HEAD_COLORS[figure.theme]
    options = [
        f"scale only axis, width={across:.2f}mm, height={down:.2f}mm, clip=false, y dir=reverse",
        f"ymin=-0.5, ymax={len(figure.row_labels) - 0.5}, axis x line*=bottom, axis y line*=left",
        "y axis line style={draw=none}, ytick style={draw=none}, ytick=\\empty, scaled ticks=false",
        f"title style={{text width={across + gap - _GAP / 2:.2f}mm, align=center}}",
        f"group style={{group size={len(numbers)} by 1, horizontal sep={gap:.2f}mm}}",
    ]
    lines = [color(chr(ord("a") + index), colors[index]) for index in range(len(colors))]
    lines += ["\\begin{tikzpicture}", f"\\begin{{groupplot}}[{', '.join(options)}]"]
    for index, column in enumerate(figure.columns):
        lines += [
            f"\\nextgroupplot[{', '.join(_axis(figure, column, first=not index))}]",
            *_points(column, chr(ord("b") + index % (len(colors) - 1))),
        ]
    lines.append("\\end{groupplot}")
    if style.legend and figure.notes:
        notes = " \\\\ ".join(tex(note) for note in figure.notes)
        where = "at (current bounding box.south west)"
        lines.append(
            f"\\node[anchor=north west, text width={style.width or _WIDTH:g}mm, align=left] {where} {{{notes}}};"
        )
    return [*lines, *heading(figure, style), "\\end{tikzpicture}"]


def _axis(figure: DotsFigure, column: Dots, first: bool) -> list[str]:
    low, high = sorted(column.ends())
    options = [
        f"xmode={'log' if column.log else 'linear'}, xmin={low!r}, xmax={high!r}",
        f"xtick={{{','.join(map(repr, column.ticks()))}}}, minor tick style={{draw=none}}",
        f"xticklabels={{{','.join('{' + tex(label) + '}' for label in column.tick_labels())}}}",
        f"xlabel={{{tex(column.axis)}}}, title={{{tex(column.title)}}}",
    ]
    if column.falling:
        options.append("x dir=reverse")
    if first:
        names = ",".join(f"{{\\strut {tex(display_label(label, MAX_NAME))}}}" for label in figure.row_labels)
        options.append(f"ytick={{0,...,{len(figure.row_labels) - 1}}}, yticklabels={{{names}}}")
    return options


def _points(column: Dots, own: str) -> list[str]:
    """Draw bands, the line of the base, a line from there to each point, the point and its number."""
    right, rows = column.ends()[1], len(column.places)
    lines = [
        f"\\fill[headlighta, opacity=0.18] (axis cs:{low!r},{row - _BAND}) rectangle (axis cs:{high!r},{row + _BAND});"
        for row, (low, high) in enumerate(column.bands.tolist())
        if not math.isnan(low + high)
    ]
    if column.base is not None:
        ends = " -- ".join(f"(axis cs:{column.base!r},{row})" for row in (-0.5, rows - 0.5))
        lines.append(f"\\draw[headlighta, dashed] {ends};")
    for row, value in enumerate(column.places.tolist()):
        lines.append(f"\\node[anchor=west] at (axis cs:{right!r},{row}) {{\\strut {tex(column.format_value(row))}}};")
        if math.isnan(value):
            continue
        if column.base is not None:
            lines.append(
                f"\\draw[headlight{own}, semithick] (axis cs:{column.base!r},{row}) -- (axis cs:{value!r},{row});"
            )
        fill = "white" if column.empty[row] else f"headlight{own}"
        lines.append(f"\\filldraw[draw=headlight{own}, fill={fill}] (axis cs:{value!r},{row}) circle[radius=1.6pt];")
    return lines
