"""Curves on screen. Every text is escaped."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz_app.figures.colours.palette import INK, MASK_HATCH
from viz_app.figures.model.charts import CurvesFigure
from viz_app.figures.plotly.parts import base_layout, escaped

_BAND = 0.18  # opacity of the band around a curve


def curves(figure: CurvesFigure) -> go.Figure:
    """Draw the curves, with their bands and the line at which they are read."""
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": np.concatenate([series.xs, series.xs[::-1]]),
            "y": np.concatenate([series.band[0], series.band[1][::-1]]),
            "fill": "toself",
            "fillcolor": color,
            "opacity": _BAND,
            "line": {"color": color, "width": 0},
            "showlegend": False,
            "hoverinfo": "skip",
        }
        for series, color in zip(figure.series, figure.colors, strict=True)
        if series.band is not None
    ]
    data += [
        {
            "type": "scatter",
            "mode": "lines+markers" if series.marked else "lines",
            "x": series.xs,
            "y": series.ys,
            "name": escaped(name),
            "line": {"color": color, "width": 2, "dash": "dash" if series.dashed else "solid"},
        }
        for series, color, name in zip(figure.series, figure.colors, figure.legend(), strict=True)
    ]
    if figure.cut is not None:
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [figure.cut] * len(figure.series),
                "y": figure.readings(),
                "marker": {"color": figure.colors, "size": 8},
                "cliponaxis": False,
                "showlegend": False,
                "hoverinfo": "x+y",
            }
        )
    layout = {
        **base_layout(figure),
        "height": 420,
        "showlegend": any(series.label for series in figure.series),
        "xaxis": _axis(figure, figure.x_title, log=figure.x_log),
        "yaxis": _axis(figure, figure.y_title, log=figure.y_log),
        "legend": {"orientation": "h", "y": -0.2},
        "shapes": _cut(figure),
    }
    return go.Figure({"data": data, "layout": layout})


def _cut(figure: CurvesFigure) -> list[dict[str, Any]]:
    """Return the line at which the curves are read."""
    if figure.cut is None:
        return []
    line = {"color": INK[figure.theme], "width": 1.5}
    return [{"type": "line", "x0": figure.cut, "x1": figure.cut, "y0": 0, "y1": 1, "yref": "paper", "line": line}]


def _axis(figure: CurvesFigure, title: str, *, log: bool) -> dict[str, Any]:
    """Return an axis of numbers; a logarithmic one counts in powers of ten."""
    return {
        "title": {"text": escaped(title)},
        "gridcolor": MASK_HATCH[figure.theme],
        "zeroline": False,
        "automargin": True,
        "showgrid": True,
        **({"type": "log", "dtick": 1, "exponentformat": "power"} if log else {"type": "linear"}),
    }
