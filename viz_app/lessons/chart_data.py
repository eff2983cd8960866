"""Figures for print as data for the stage, which draws them on screen (stage/js/chart.js and dots.js)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from viz_app.figures import CurvesFigure, DotsFigure
from viz_app.figures.model.charts import Series
from viz_app.figures.model.dots import Dots
from viz_app.figures.model.figure import Figure

Control = tuple[str, str, Mapping[str, str]]  # name, label, labels of the values


def chart_data(figure: Figure) -> dict[str, Any]:
    """Return curves or rows of points as plain values; NaN becomes None.

    Raises:
        TypeError: The figure is of another kind.
    """
    if isinstance(figure, CurvesFigure):
        return {
            "kind": "curves",
            "series": [_series(each) for each in figure.series],
            "x": {"title": figure.x_title, "log": figure.x_log},
            "y": {"title": figure.y_title, "log": figure.y_log},
            "cut": figure.cut,
        }
    if isinstance(figure, DotsFigure):
        columns = [_column(each, len(figure.row_labels)) for each in figure.columns]
        return {"kind": "dots", "rows": list(figure.row_labels), "row_title": figure.row_title, "columns": columns}
    raise TypeError(f"a {type(figure).__name__} cannot be sent as a chart")


def chart_set(controls: Iterable[Control], draw: Callable[..., tuple[dict[str, Any] | None, str]]) -> dict[str, Any]:
    """Return the charts of a scene for every value of its controls.

    Args:
        controls: The controls of the scene, each a choice.
        draw: From one value of each control to the chart, or None, and the line below it.
    """
    controls = list(controls)
    charts, said = {}, {}
    for values in product(*(options for _, _, options in controls)):
        key = " ".join(values)
        charts[key], said[key] = draw(*values)
    named = [[name, label, dict(options)] for name, label, options in controls]
    return {"controls": named, "charts": charts, "said": said}


def _series(series: Series) -> dict[str, Any]:
    return {
        "x": _numbers(series.xs),
        "y": _numbers(series.ys),
        "label": series.label,
        "dashed": series.dashed,
        "marked": series.marked,
    }


def _column(column: Dots, rows: int) -> dict[str, Any]:
    low, high = column.bands.T
    banded = bool(np.isfinite(low).any())
    return {
        "title": column.title,
        "axis": column.axis,
        "values": _numbers(column.places),
        "texts": [column.format_value(row) for row in range(rows)],
        "low": _numbers(low) if banded else None,
        "high": _numbers(high) if banded else None,
        "hollow": list(column.empty),
        "base": column.base,
        "log": column.log,
        "ends": list(column.ends()),
        "ticks": list(zip(column.ticks(), column.tick_labels(), strict=True)),
    }


def _numbers(values: Iterable[float]) -> list[float | None]:
    """Round to seven digits, as many as float32 has."""
    return [float(f"{value:.7g}") if math.isfinite(value) else None for value in values]
