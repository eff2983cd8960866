"""Heatmaps on screen: one `go.Heatmap` for each panel, on numeric axes. Curves are in `curves.py`.

Plotly merges equal labels on category axes, reads "1" and dates by their type, and takes labels as a subset of HTML;
so axes count positions, and every text goes through `escaped`. The colour scale is set explicitly, since the page's
theme would recolour a default one on screen only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from viz_app.figures.colours.palette import INK, MASK_HATCH, MUTED, kind_color
from viz_app.figures.colours.scales import ColorMap
from viz_app.figures.layout import MAX_LABEL
from viz_app.figures.model.figure import HeatmapFigure, HeatmapPanel, display_label, word_starts
from viz_app.figures.model.style import Style
from viz_app.figures.plotly.parts import base_layout, color_bar, escaped, plotly_scale

_CELL = 26  # pixels of a row at most
_BOUNDARY = 5  # length of a word boundary mark, pixels


def heatmaps(figure: HeatmapFigure) -> go.Figure:
    """Draw one head, or the heads of a layer.

    Hover shows both labels and the exact weight; masked cells are hatched and say so. Weights are not changed: `z`
    holds the panel's float32 values, NaN where a cell is masked.
    """
    height = figure.rows * _panel_height(figure)
    layout = {**base_layout(figure), "height": height + 150}
    scale, _ = figure.color_maps(Style())
    data: list[dict[str, Any]] = []
    labelled = _labelled(figure)
    for i, (panel, (x_domain, y_domain)) in enumerate(zip(figure.panels, _domains(figure), strict=True)):
        place = "" if i == 0 else str(i + 1)
        first, last = i % figure.columns == 0, i + figure.columns >= len(figure.panels)
        data.append(_heatmap(figure, panel, place, scale))
        layout[f"yaxis{place}"] = _axis(
            figure, panel.query_labels, y_domain, f"x{place}", labelled and first, rows=True
        )
        layout[f"xaxis{place}"] = _axis(figure, panel.key_labels, x_domain, f"y{place}", labelled and last)
        layout["shapes"] += _hatch(figure, panel, place)
        if labelled and last:
            layout["shapes"] += _boundaries(figure, panel.key_words, f"x{place}", y_domain[0])
        if labelled and first:
            layout["shapes"] += _boundaries(figure, panel.query_words, f"y{place}", x_domain[0], rows=True)
        if panel.title:
            layout["annotations"].append(_annotation(figure, panel.title, sum(x_domain) / 2, y_domain[1]))
    bar = {
        **color_bar(scale, figure.scale_title),
        "x": 1.02,
        "len": 260 / max(260, figure.rows * _panel_height(figure)),
    }
    data[0] |= {"showscale": True, "colorbar": bar}
    if labelled:  # in the middle: below the middle one of the lowest panels, beside the middle one of the first column
        lowest = len(figure.panels) - figure.columns + figure.columns // 2
        beside = (figure.rows // 2) * figure.columns
        layout[f"xaxis{lowest + 1 if lowest else ''}"]["title"] = _axis_title(figure, figure.key_title)
        layout[f"yaxis{beside + 1 if beside else ''}"]["title"] = _axis_title(figure, figure.query_title)
    return go.Figure({"data": data, "layout": layout})


def _heatmap(figure: HeatmapFigure, panel: HeatmapPanel, axis: str, scale: ColorMap) -> dict[str, Any]:
    rows, columns = panel.weights.shape
    return {
        "type": "heatmap",
        "z": np.where(panel.allowed, panel.weights, np.float32(np.nan)),
        "x": np.arange(columns),
        "y": np.arange(rows),
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        **plotly_scale(scale),
        "showscale": False,
        "customdata": _hover(figure, panel),
        "hovertemplate": (
            f"{escaped(figure.query_title)}: %{{customdata[0]}}<br>{escaped(figure.key_title)}: %{{customdata[1]}}"
            f"<br>{escaped(figure.scale_title)}: %{{customdata[2]}}<extra>{escaped(panel.title)}</extra>"
        ),
        "hoverongaps": True,
        "zsmooth": False,
        "name": escaped(panel.title),
    }


def _hover(figure: HeatmapFigure, panel: HeatmapPanel) -> list[list[list[str]]]:
    """Return row label, column label and exact weight of each cell. A row's second label follows its first."""
    notes = panel.query_notes or ("",) * len(panel.query_labels)
    rows = [
        escaped(display_label(label))
        + (f" ({escaped(figure.note_title)}: {escaped(display_label(note))})" if note else "")
        for label, note in zip(panel.query_labels, notes, strict=True)
    ]
    keys = [escaped(display_label(label)) for label in panel.key_labels]
    masked = escaped(figure.masked_cell)
    return [
        [[row, key, str(weight) if free else masked] for key, weight, free in zip(keys, weights, allowed, strict=True)]
        for row, weights, allowed in zip(rows, panel.weights, panel.allowed, strict=True)
    ]


def _axis(
    figure: HeatmapFigure,
    labels: Iterable[str],
    domain: list[float],
    anchor: str,
    labelled: bool,
    *,
    rows: bool = False,
) -> dict[str, Any]:
    ticks = [escaped(display_label(label, MAX_LABEL)) for label in labels]
    end = len(ticks) - 0.5
    accent = kind_color(figure.kind, figure.theme) if figure.kind else MUTED[figure.theme]
    return {
        "type": "linear",
        "range": [end, -0.5] if rows else [-0.5, end],  # rows from the top
        "domain": domain,
        "anchor": anchor,
        "tickmode": "array",
        "tickvals": list(range(len(ticks))),
        "ticktext": ticks,
        "showticklabels": labelled,
        "tickangle": 0 if rows else _key_angle(figure),
        "tickfont": {"size": _label_size(figure)},
        "ticklabelstandoff": _BOUNDARY,
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
        "showline": True,
        "mirror": True,
        "linecolor": accent,
        "linewidth": 1.5,
        "automargin": True,
    }


def _key_angle(figure: HeatmapFigure) -> int:
    return -45 if figure.columns * figure.largest[1] <= 28 else -90


def _axis_title(figure: HeatmapFigure, text: str) -> dict[str, Any]:
    color = kind_color(figure.kind, figure.theme, text=True) if figure.kind else MUTED[figure.theme]
    return {"text": escaped(text), "font": {"color": color}}


def _labelled(figure: HeatmapFigure) -> bool:
    """Return whether there is room for token labels; the page's width is not known here, so by their number."""
    return len(figure.panels) == 1 or (figure.rows <= 2 and figure.columns * figure.largest[1] <= 96)


def _panel_height(figure: HeatmapFigure) -> int:
    """Pixels of one row of panels."""
    rows = figure.largest[0]
    if len(figure.panels) == 1:
        return min(max(rows * _CELL, 260), 900)
    if figure.rows == 1:
        return min(max(rows * 20, 240), 400)
    return min(max(rows * 15, 130), 330) if figure.rows == 2 else 110


def _label_size(figure: HeatmapFigure) -> float:
    """Return the font size of token labels in pixels, at which labels of rows do not touch."""
    return max(6.0, min(14.0, 0.85 * _panel_height(figure) / figure.largest[0]))


def _domains(figure: HeatmapFigure) -> list[tuple[list[float], list[float]]]:
    """Share of the width and of the height that each panel takes, row 0 at the top."""
    columns, rows = figure.columns, figure.rows
    gap_x = 0.12 / columns
    gap_y = (30 if figure.rows <= 2 else 12) / (rows * _panel_height(figure))
    width = (1 - gap_x * (columns - 1)) / columns
    height = (1 - gap_y * (rows - 1)) / rows
    domains = []
    for i in range(len(figure.panels)):
        left = (i % columns) * (width + gap_x)
        bottom = 1 - (i // columns) * (height + gap_y) - height
        domains.append(([left, min(1.0, left + width)], [max(0.0, bottom), min(1.0, bottom + height)]))
    return domains


def _hatch(figure: HeatmapFigure, panel: HeatmapPanel, number: str) -> list[dict[str, Any]]:
    """Return one path with a diagonal stroke through every masked cell; strokes of neighbouring cells are one line."""
    if panel.allowed.all():
        return []
    path = "".join(f"M{x0},{y0}L{x1},{y1}" for x0, y0, x1, y1 in _diagonals(~panel.allowed))
    line = {"color": MASK_HATCH[figure.theme], "width": 1}
    return [{"type": "path", "path": path, "xref": f"x{number}", "yref": f"y{number}", "line": line, "layer": "above"}]


def _diagonals(masked: npt.NDArray[np.bool_]) -> list[tuple[float, float, float, float]]:
    """Strokes from the lower left to the upper right corners, one for each run of masked cells on a diagonal."""
    rows, columns = masked.shape
    strokes = []
    for total in range(rows + columns - 1):
        run = 0
        for column in range(max(0, total - rows + 1), min(columns, total + 1) + 1):
            row = total - column
            if column < columns and row >= 0 and masked[row, column]:
                run += 1
            elif run:
                first = column - run
                strokes.append((first - 0.5, total - first + 0.5, column - 0.5, row + 0.5))
                run = 0
    return strokes


def _boundaries(
    figure: HeatmapFigure, words: Sequence[int] | None, axis: str, edge: float, *, rows: bool = False
) -> list[dict[str, Any]]:
    """Thin marks between words, outside the panel; `edge` is the panel's left or lower edge on the paper."""
    along, across = ("y", "x") if rows else ("x", "y")
    marks = []
    for start in word_starts(words):
        marks.append(
            {
                "type": "line",
                "line": {"color": MUTED[figure.theme], "width": 1},
                f"{along}ref": axis,
                f"{along}0": start - 0.5,
                f"{along}1": start - 0.5,
                f"{across}ref": "paper",  # a mark that refers to both axes would be clipped to the panel
                f"{across}sizemode": "pixel",
                f"{across}anchor": edge,
                f"{across}0": 0,
                f"{across}1": -_BOUNDARY,
            }
        )
    return marks


def _annotation(figure: HeatmapFigure, text: str, x: float, y: float) -> dict[str, Any]:
    font = {"size": 12, "color": INK[figure.theme]}
    where = {"x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom"}
    return {**where, "text": escaped(text), "showarrow": False, "font": font}
