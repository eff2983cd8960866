"""Points in named rows on screen, on numeric axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz_app.figures.colours.palette import MUTED
from viz_app.figures.model.dots import Dots, DotsFigure
from viz_app.figures.model.figure import display_label
from viz_app.figures.model.lines import HEAD_COLORS
from viz_app.figures.model.style import Style
from viz_app.figures.plotly.parts import base_layout, escaped

_ROW = 24  # pixels
_BETWEEN = 0.14  # room for numbers beside a column, of the width
_BAND = 0.36  # half the height of a band, in rows


def dots(figure: DotsFigure, style: Style) -> go.Figure:
    """All columns side by side; the names of the rows stand on the left."""
    rows, count = len(figure.row_labels), len(figure.columns)
    layout = {**base_layout(figure), "height": rows * _ROW + 190, "showlegend": False}
    layout["yaxis"] = {
        "type": "linear",
        "range": [rows - 0.5, -0.5],
        "tickmode": "array",
        "tickvals": list(range(rows)),
        "ticktext": [escaped(display_label(label)) for label in figure.row_labels],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
    }
    data: list[dict[str, Any]] = []
    each = (1.0 - count * _BETWEEN) / count
    for index, column in enumerate(figure.columns):
        place = "" if index == 0 else str(index + 1)
        start = index * (each + _BETWEEN)
        layout[f"xaxis{place}"] = _axis(column, (start, start + each))
        layout["shapes"] += _bands(figure, column, f"x{place}")
        data += _points(figure, index, f"x{place}")
        layout["annotations"] += _words(figure, column, start + each)
        layout["annotations"].append(_note(column.title, start + each / 2, 1.0, "center", "bottom"))
    if style.legend and figure.notes:
        note = "<br>".join(escaped(line) for line in figure.notes)
        layout["annotations"].append(
            {**_note("", 0.0, 0.0, "left", "top"), "text": note, "yshift": -70, "font": {"color": MUTED[figure.theme]}}
        )
        layout["margin"] |= {"b": 76 + 20 * len(figure.notes)}
    return go.Figure({"data": data, "layout": layout})


def _axis(column: Dots, domain: tuple[float, float]) -> dict[str, Any]:
    ends = [float(np.log10(end)) for end in column.ends()] if column.log else list(column.ends())
    return {
        "type": "log" if column.log else "linear",
        "range": ends,
        "domain": domain,
        "anchor": "y",
        "tickmode": "array",
        "tickvals": list(column.ticks()),
        "ticktext": list(column.tick_labels()),
        "title": {"text": escaped(column.axis)},
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
    }


def _bands(figure: DotsFigure, column: Dots, axis: str) -> list[dict[str, Any]]:
    blue = HEAD_COLORS[figure.theme][0]
    shapes: list[dict[str, Any]] = [
        {
            **{"type": "rect", "xref": axis, "yref": "y", "x0": low, "x1": high, "y0": row - _BAND, "y1": row + _BAND},
            **{"fillcolor": blue, "opacity": 0.18, "line": {"width": 0}, "layer": "below"},
        }
        for row, (low, high) in enumerate(column.bands.tolist())
        if not np.isnan(low + high)
    ]
    if column.base is not None:
        ends = {"x0": column.base, "x1": column.base, "y0": -0.5, "y1": len(column.places) - 0.5}
        shapes.append(
            {"type": "line", "xref": axis, "yref": "y", **ends, "line": {"color": blue, "width": 1.5, "dash": "dash"}}
        )
    return shapes


def _points(figure: DotsFigure, index: int, axis: str) -> list[dict[str, Any]]:
    """The lines from the base, then the points."""
    colors = HEAD_COLORS[figure.theme][1:]
    column, color = figure.columns[index], colors[index % len(colors)]
    there = [(row, value) for row, value in enumerate(column.places.tolist()) if not np.isnan(value)]
    points = {
        "type": "scatter",
        "mode": "markers",
        "xaxis": axis,
        "x": [value for _, value in there],
        "y": [row for row, _ in there],
        "marker": {
            "color": color,
            "symbol": ["circle-open" if column.empty[row] else "circle" for row, _ in there],
            "size": 10,
            "line": {"width": 2, "color": color},
        },
        "hovertext": [
            f"{escaped(display_label(figure.row_labels[row]))}: {column.format_value(row)}" for row, _ in there
        ],
        "hoverinfo": "text",
        "cliponaxis": False,
    }
    if column.base is None:
        return [points]
    line = {
        "type": "scatter",
        "mode": "lines",
        "xaxis": axis,
        "x": [x for _, value in there for x in (column.base, value, None)],
        "y": [y for row, _ in there for y in (row, row, None)],
        "line": {"color": color, "width": 2},
        "hoverinfo": "skip",
    }
    return [line, points]


def _words(figure: DotsFigure, column: Dots, right: float) -> list[dict[str, Any]]:
    """The numbers beside a column."""
    return [
        {**_note(column.format_value(row), right + _BETWEEN * 0.5, row, "right", "middle"), "yref": "y"}
        for row in range(len(figure.row_labels))
    ]


def _note(text: str, x: float, y: float, xanchor: str, yanchor: str) -> dict[str, Any]:
    place = {"x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": xanchor, "yanchor": yanchor}
    return {"text": escaped(text), "showarrow": False, "align": "left", **place}
