"""Charts of the lessons as data for the stage, which draws them (stage/js/chart.js and dots.js)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Annotated, Any

from msgspec import Meta

from viz_app.lessons.dots import Dots

ChartSet = Annotated[  # what `chart_set` returns, as the stage declares it
    dict[str, Any], Meta(extra_json_schema={"title": 'import("../../stage/js/chartscene.js").ChartSet'})
]
Control = tuple[str, str, Mapping[str, str]]  # name, label, labels of the values


def curve(
    x: Iterable[float], y: Iterable[float], label: str, *, dashed: bool = False, marked: bool = False
) -> dict[str, Any]:
    """Return a curve; NaN leaves a gap. With `marked` each point has a mark."""
    return {"x": _numbers(x), "y": _numbers(y), "label": label, "dashed": dashed, "marked": marked}


def curves_chart(curves: Sequence[Mapping[str, Any]], x: str, y: str, *, x_log: bool = False) -> dict[str, Any]:
    """Return a chart of curves from `curve`; `x` and `y` are the titles of the axes."""
    return {"kind": "curves", "series": list(curves), "x": {"title": x, "log": x_log}, "y": {"title": y, "log": False}}


def dots_chart(rows: Sequence[str], columns: Iterable[Dots], row_title: str) -> dict[str, Any]:
    """Return a chart of named rows with a point in each column; `row_title` says what the rows are."""
    return {"kind": "dots", "rows": list(rows), "row_title": row_title, "columns": [*map(_column, columns)]}


def chart_set(controls: Iterable[Control], draw: Callable[..., tuple[dict[str, Any] | None, str]]) -> dict[str, Any]:
    """Return the charts of a scene for every value of its controls.

    Args:
        controls: The controls of the scene, each a choice.
        draw: From one value of each control to the chart, or None, and the line below it.
    """
    controls = list(controls)
    charts, lines = {}, {}
    for values in product(*(options for _, _, options in controls)):
        key = " ".join(values)
        charts[key], lines[key] = draw(*values)
    named = [[name, label, dict(options)] for name, label, options in controls]
    return {"controls": named, "charts": charts, "said": lines}


def _column(column: Dots) -> dict[str, Any]:
    banded = bool(column.bands)
    return {
        "title": column.title,
        "axis": column.axis,
        "values": _numbers(column.values),
        "texts": column.texts(),
        "low": _numbers(low for low, _ in column.bands) if banded else None,
        "high": _numbers(high for _, high in column.bands) if banded else None,
        "hollow": list(column.hollow) or [False] * len(column.values),
        "base": column.base,
        "log": column.log,
        "ends": list(column.ends()),
        "ticks": column.ticks(),
    }


def _numbers(values: Iterable[float]) -> list[float | None]:
    """Round to seven digits, as many as float32 has; NaN becomes None."""
    return [float(f"{value:.7g}") if math.isfinite(value) else None for value in values]
