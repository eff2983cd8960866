r"""Figures as TikZ: a document that compiles by itself, and a picture to take out of it.

Numbers stand in the file as text, so a figure can still be changed in the paper. Tokens are escaped for TeX. Needs
pgfplots (1.16 or newer); Korean and other scripts beyond Latin need LuaLaTeX or XeLaTeX and a font that has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from transformer_core import __version__
from viz_app.figures.colours.scales import ColorMap, numbers_map
from viz_app.figures.layout import MAX_LABEL, POINTS_PER_MM
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.model.figure import DifferencePanel, Figure, HeatmapFigure, HeatmapPanel, display_label
from viz_app.figures.model.flow import FlowFigure
from viz_app.figures.model.style import Style
from viz_app.figures.record import provenance_json
from viz_app.figures.tikz.constituency import constituency
from viz_app.figures.tikz.flow import flow
from viz_app.figures.tikz.parts import color, heading, tex

_WIDTH = 160.0  # mm, when the style has none
_CELL = 5.0  # mm at most
_LEGEND_LINE = 10.0  # mm of the line before an entry, and the space around it
_HEAD = r"""% Headlight {version}: {title}
% Compile with lualatex or xelatex; pdflatex does for text in Latin letters.
% For Korean, Chinese or Japanese, load a font that has them, for example \setmainfont{{Noto Sans CJK KR}}.
% {provenance}
\IfFileExists{{standalone.cls}}{{\documentclass[border=2pt]{{standalone}}}}{{\documentclass{{article}}\pagestyle{{empty}}}}
\usepackage{{iftex}}
\iftutex\usepackage{{fontspec}}\else\usepackage[T1]{{fontenc}}\fi
\usepackage{{textcomp,amssymb,pgfplots}}
\usepgfplotslibrary{{groupplots}}
\pgfplotsset{{compat=1.16}}
"""


def to_tex(figure: Figure, style: Style) -> bytes:
    """Return the document, UTF-8. Raises ValueError for a figure that this format does not have."""
    if style.theme is not None:
        figure = replace(figure, theme=style.theme)
    if isinstance(figure, HeatmapFigure):
        picture = _heatmaps(figure, style)
    elif isinstance(figure, CurvesFigure):
        picture = _curves(figure, style)
    elif isinstance(figure, MatrixFigure):
        picture = _matrix(figure, style)
    elif isinstance(figure, ConstituencyFigure):
        picture = constituency(figure, style)
    elif isinstance(figure, FlowFigure):
        picture = flow(figure, style)
    else:
        raise ValueError(f"format is 'tex', but must be another one: TikZ has no {type(figure).__name__}")
    record = provenance_json(figure, style)  # one line as it is: its spaces are those of the sentence
    head = _HEAD.format(version=__version__, title=_comment(figure.title), provenance=record)
    size = f"\\fontsize{{{style.font:g}}}{{{1.2 * style.font:g}}}\\selectfont"
    parts = [head, "\\begin{document}", size, *picture, "\\end{document}", ""]
    return "\n".join(parts).encode("utf-8", errors="replace")


def _comment(text: str) -> str:
    """Return one line, so that nothing of it leaves the comment."""
    return " ".join(text.split())


def _colormap(name: str, scale: ColorMap) -> str:
    """Colours at even values of the scale; a root mapping is in them."""
    values = np.linspace(scale.low, scale.high, 65 if scale.mapping == "linear" else 257)
    entries = " ".join(f"rgb255=({r},{g},{b})" for r, g, b in scale.rgb(values).tolist())
    return f"colormap={{{name}}}{{{entries}}}, point meta min={scale.low:g}, point meta max={scale.high:g}"


def _ticks(axis: str, labels: Sequence[str], start: int = 0) -> str:
    names = ",".join(f"{{\\strut {tex(display_label(label, MAX_LABEL))}}}" for label in labels)
    return f"{axis}tick={{{start},...,{start + len(labels) - 1}}}, {axis}ticklabels={{{names}}}"


def _cells(values: Iterable[Sequence[object]], masked: np.ndarray | None, first: tuple[int, int] = (0, 0)) -> list[str]:
    """Return a table of column, row, value; a masked cell has no number."""
    rows = []
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            formatted = "nan" if masked is not None and masked[row, column] else str(value)  # NaN is "nan" too
            rows.append(f"{column + first[1]} {row + first[0]} {formatted}")
    return rows


def _strokes(values: np.ndarray, first: tuple[int, int] = (0, 0)) -> list[str]:
    """Return a stroke through each cell without a number, as zero of a diverging scale is blank too."""
    return [
        f"\\draw[gray, very thin] (axis cs:{x + first[1] - 0.5},{y + first[0] + 0.5}) -- "
        f"(axis cs:{x + first[1] + 0.5},{y + first[0] - 0.5});"
        for y, x in np.argwhere(np.isnan(values)).tolist()
    ]


def _plot(columns: int, cells: list[str]) -> list[str]:
    return [
        f"\\addplot[matrix plot*, mesh/cols={columns}, point meta=explicit, unbounded coords=jump] "
        "table[x index=0, y index=1, meta index=2] {",
        *cells,
        "};",
    ]


@dataclass(frozen=True)
class _Grid:
    """Arrangement of panels: side of a cell (mm), whether they have labels, and whether they share them."""

    side: float
    labelled: bool
    shared: bool

    @classmethod
    def of(cls, figure: HeatmapFigure, style: Style) -> _Grid:
        keys, shared = figure.largest[1], figure.shares_labels
        labelled = len(figure.panels) == 1 or (figure.columns * keys <= 96 and figure.rows <= 2)
        room = (0.72 if shared else 0.6) if labelled else 0.85
        side = min(_CELL, room * (style.width or _WIDTH) / (figure.columns * keys))
        return cls(side, labelled, shared)

    def gaps(self, figure: HeatmapFigure) -> tuple[float, float]:
        """Return the gaps between columns and rows of panels, in points; small without own labels."""
        if self.shared or not self.labelled:
            return (8.0 if self.labelled else 4.0), (16.0 if self.labelled else 4.0)
        queries = max(len(display_label(label, MAX_LABEL)) for panel in figure.panels for label in panel.query_labels)
        keys = max(len(display_label(label, MAX_LABEL)) for panel in figure.panels for label in panel.key_labels)
        return 0.6 * self.font(12.0) * queries + 10, 0.6 * self.font(12.0) * keys + 26

    def font(self, largest: float) -> float:
        """Size of labels in points."""
        return min(largest, 0.9 * self.side * POINTS_PER_MM)


def _heatmaps(figure: HeatmapFigure, style: Style) -> list[str]:
    weights, differences = figure.color_maps(style)
    grid = _Grid.of(figure, style)
    across, down = grid.gaps(figure)
    size = grid.font(style.font)
    options = [
        "scale only axis, enlargelimits=false, axis on top, y dir=reverse, tick style={draw=none}",
        f"tick label style={{font=\\fontsize{{{size:.2f}}}{{{1.2 * size:.2f}}}\\selectfont}}",
        f"group style={{group size={figure.columns} by {figure.rows}, "
        f"horizontal sep={across:.1f}pt, vertical sep={down:.1f}pt}}",
    ]
    lines = ["\\begin{tikzpicture}", f"\\begin{{groupplot}}[{', '.join(options)}]"]
    for i, panel in enumerate(figure.panels):
        diverging = isinstance(panel, DifferencePanel)
        name, scale = ("difference", differences) if diverging else ("attention", weights)
        panel_options = [_size(panel, grid.side), _colormap(name, scale), *_panel_words(figure, style, panel, i, grid)]
        if diverging and figure.weights and style.legend:
            panel_options.append("xshift=18mm")  # for the colour bar of the weights, which stands before it
        last = not any(isinstance(other, DifferencePanel) == diverging for other in figure.panels[i + 1 :])
        if style.legend and last:
            title = figure.difference_title if diverging else figure.scale_title
            panel_options.append(f"colorbar, colorbar style={{ylabel={{{tex(title)}}}, width=3mm, y dir=normal}}")
        cells = _cells([list(row) for row in panel.weights], panel.masked)
        lines += [f"\\nextgroupplot[{', '.join(panel_options)}]", *_plot(len(panel.key_labels), cells)]
        lines += _strokes(panel.weights)
    return [*lines, "\\end{groupplot}", *heading(figure, style), "\\end{tikzpicture}"]


def _size(panel: HeatmapPanel, side: float) -> str:
    rows, columns = panel.weights.shape
    limits = f"xmin=-0.5, xmax={columns - 0.5}, ymin=-0.5, ymax={rows - 0.5}"
    return f"width={columns * side:.3f}mm, height={rows * side:.3f}mm, {limits}"


def _panel_words(figure: HeatmapFigure, style: Style, panel: HeatmapPanel, index: int, grid: _Grid) -> list[str]:
    title = figure.panel_titles(letters=style.letters)[index]
    first, last = index % figure.columns == 0, index + figure.columns >= len(figure.panels)
    words = []
    if title:
        words.append(f"title={{{tex(title)}}}, title style={{yshift=-1.2ex}}")
    if not grid.labelled:
        row = figure.row_titles[index // figure.columns] if figure.row_titles and first else ""
        return [*words, "xtick=\\empty, ytick=\\empty", *([f"ylabel={{{tex(row)}}}"] if row else [])]
    angle = 90 if style.rotation == "auto" else style.rotation
    words.append(f"x tick label style={{rotate={angle}, anchor={'north' if angle == 0 else 'east'}}}")
    separate = not grid.shared
    words.append(_ticks("x", panel.key_labels) if last or separate else "xtick=\\empty")
    words.append(_ticks("y", panel.query_labels) if first or separate else "ytick=\\empty")
    if first:
        words.append(f"ylabel={{{tex(figure.query_title)}}}")
    if last:
        words.append(f"xlabel={{{tex(figure.key_title)}}}")
    return words


def _curves(figure: CurvesFigure, style: Style) -> list[str]:
    width = style.width or 100.0
    height = style.height or 0.6 * width
    modes = [f"{axis}mode={'log' if log else 'linear'}" for axis, log in (("x", figure.x_log), ("y", figure.y_log))]
    legend = figure.legend()
    options = [
        f"width={width:g}mm, height={height:g}mm",
        *modes,
        f"xlabel={{{tex(figure.x_title)}}}, ylabel={{{tex(figure.y_title)}}}",
        "grid=major, unbounded coords=jump",
        "legend style={draw=none, at={(0.5,-0.25)}, anchor=north, legend cell align=left, "
        f"legend columns={_legend_columns(legend, width, style)}}}",
    ]
    if style.title and figure.title:
        options.append(f"title={{{tex(figure.title)}}}")
    lines = ["\\begin{tikzpicture}"]
    for i, rgb in enumerate(figure.colors):
        lines.append(color(chr(ord("a") + i % 26), rgb))
    lines.append(f"\\begin{{axis}}[{', '.join(options)}]")
    if figure.cut is not None:
        ends = (f"({{axis cs:{figure.cut!r},0}}|-{{rel axis cs:0,{end}}})" for end in (0, 1))
        lines.append(f"\\draw[semithick] {' -- '.join(ends)};")
    for i, (series, label) in enumerate(zip(figure.series, legend, strict=True)):
        dash = ", dashed" * series.dashed + ", mark=*, mark size=1.2pt, mark options=solid" * series.marked
        if series.band is not None:
            low, high = ([*zip(series.xs, end, strict=True)] for end in series.band)
            area = [f"{float(x)!r} {float(y)!r}" for x, y in (*low, *high[::-1])]
            fill = f"draw=none, fill=headlight{chr(ord('a') + i % 26)}, fill opacity=0.18, forget plot"
            lines += [f"\\addplot[{fill}] table {{", *area, "};"]
        points = [f"{float(x)!r} {float(y)!r}" for x, y in zip(series.xs, series.ys, strict=True)]
        lines += [f"\\addplot[headlight{chr(ord('a') + i % 26)}, thick{dash}] table {{", *points, "};"]
        if series.label and style.legend:
            lines.append(f"\\addlegendentry{{{tex(label)}}}")
    for i, value in enumerate(figure.readings()):
        if value == value:  # a curve that does not reach the cut has no dot
            name = f"headlight{chr(ord('a') + i % 26)}"
            lines.append(f"\\fill[{name}] (axis cs:{figure.cut!r},{value!r}) circle[radius=1.2pt];")
    return [*lines, "\\end{axis}", "\\end{tikzpicture}"]


def _legend_columns(entries: Sequence[str], width: float, style: Style) -> int:
    """Count the entries that fit side by side under the axes, in mm; a letter is about half as wide as high."""
    font = style.font
    widest = max(len(entry) for entry in entries) * 0.5 * font / POINTS_PER_MM + _LEGEND_LINE
    return max(1, min(len(entries), int(width // widest)))


def _matrix(figure: MatrixFigure, style: Style) -> list[str]:
    rows, columns = figure.matrix.shape
    width = style.width or 140.0
    height = style.height or min(max(width * rows / columns, 0.3 * width), width)
    x, y = figure.column_start, figure.row_start
    options = [
        f"width={width:g}mm, height={height:g}mm, enlargelimits=false, axis on top, y dir=reverse",
        f"xmin={x - 0.5}, xmax={x + columns - 0.5}, ymin={y - 0.5}, ymax={y + rows - 0.5}",
        f"xlabel={{{tex(figure.column_title)}}}, ylabel={{{tex(figure.row_title)}}}",
        _colormap("values", numbers_map(figure.matrix, figure.diverging, style, figure.theme, figure.base)),
    ]
    if style.legend:
        options.append(f"colorbar, colorbar style={{ylabel={{{tex(figure.scale_title)}}}, width=3mm, y dir=normal}}")
    if style.title and figure.title:
        options.append(f"title={{{tex(figure.title)}}}")
    for axis, labels, start in (("x", figure.column_labels, x), ("y", figure.row_labels, y)):
        if labels:
            options.append(_ticks(axis, labels, start))
    if figure.column_labels:
        options.append("x tick label style={rotate=90}")
    cells = _cells([list(row) for row in figure.matrix], None, (y, x))
    breaks = [
        f"\\draw (axis cs:{x - 0.5},{y + row - 0.5}) -- (axis cs:{x + columns - 0.5},{y + row - 0.5});"
        for row in figure.row_breaks
    ]
    return ["\\begin{tikzpicture}", f"\\begin{{axis}}[{', '.join(options)}]", *_plot(columns, cells),
            *_strokes(figure.matrix, (y, x)), *breaks, "\\end{axis}", "\\end{tikzpicture}"]  # fmt: skip
