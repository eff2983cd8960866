"""The numbers behind a figure: CSV for spreadsheets, NPZ for numpy, JSON for everything else.

Numbers are exact: each decimal text reads back as the same float. Labels are the tokenizer's own, with its mark for
a word boundary. A head is named as on screen, such as `cross.6.8`; panels and positions of CSV and JSON count from 1.
"""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

from transformer_core.storage.csv_table import csv_bytes, escape_formula
from viz_app.figures import constituency_data as tree_data
from viz_app.figures import flow_data
from viz_app.figures.build.steps import Animation
from viz_app.figures.model.beam_tree import BeamTreeFigure
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure, Series
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.model.figure import DifferencePanel, Figure, HeatmapFigure, HeatmapPanel, NumbersPanel
from viz_app.figures.model.flow import FlowFigure
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.options import OWN
from viz_app.figures.record import provenance_record

Rows = list[tuple[Any, ...]]
CSV_COLUMNS = ("panel", "head", "query", "query_label", "key", "key_label", "weight", "masked")
JSON_FORMAT = 1


TREE_COLUMNS = ("node", "parent", "step", "token", "log_probability", "token_log_probability", "status", "best")
CURVE_COLUMNS = ("series", "label", "x", "y")
_BAND = ("low", "high")  # of curves of which any has a band
MATRIX_COLUMNS = ("row", "column", "value")
_NAMES = ("row_label", "column_label")  # of a matrix whose rows or columns have names


def to_csv(figure: Figure) -> bytes:
    """Return one line for each cell, candidate or point, quoted as RFC 4180 says, with a header.

    The file is UTF-8 and starts with a byte order mark, without which Excel misreads Korean (read it in Python with
    encoding "utf-8-sig"; pandas does by itself). A label that a spreadsheet could run as a formula, because it starts
    with = + - @ (of normal or full width), a tab or a line break, gets an apostrophe in front, and so does a label
    that starts with an apostrophe. The same holds behind a semicolon, tab or line break in it: take one apostrophe
    away at each of these places and every label is back. `masked` is 0 or 1; head is empty for arrays that have none.
    Nodes of a tree count from 1, and 0 is the start.
    """
    return csv_bytes(*_table(figure))


def to_npz(figure: Figure) -> bytes:
    """Return a numpy archive that needs no pickle; the same figure gives the same bytes.

    Arrays of attention, for P panels of Q queries and K keys that share their shape: `weights` (P, Q, K) float32,
    `masked` (P, Q, K) bool, `query_labels` (P, Q) and `key_labels` (P, K) text, `heads` (P,) text such as `cross.6.8`,
    empty for none. Panels of different shapes get one array each instead: `weights_0`, ... Trees have an array for each
    property of their nodes, curves `x_0` and `y_0`, ..., a matrix `values`. All have JSON text: first
    `provenance`, the record that every format holds, and `description`, the words of the figure.
    """
    words = _description(figure)
    texts = {"provenance": words.pop("provenance"), "description": words}
    arrays = {
        **{n: np.array(json.dumps(v, ensure_ascii=False, sort_keys=True, default=str)) for n, v in texts.items()},
        **_all_arrays(figure),
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def to_json(figure: Figure) -> bytes:
    """Return the whole figure as one JSON object in UTF-8: words, panels with labels and weights, provenance."""
    content = {"format": JSON_FORMAT, **_description(figure), **_content(figure)}
    text = json.dumps(content, ensure_ascii=False, indent=1, default=str)
    return text.encode("utf-8", errors="replace")


def panels_of(figure: Figure) -> tuple[HeatmapPanel, ...]:
    """Return the panels with attention of a figure; none when it has other things."""
    if isinstance(figure, HeatmapFigure | LinesFigure):
        return tuple(figure.panels)
    if isinstance(figure, Animation):
        return tuple(panel for frame in figure.frames for panel in panels_of(frame))
    return ()


def _table(figure: Figure) -> tuple[tuple[str, ...], Rows]:
    if isinstance(figure, BeamTreeFigure):
        return TREE_COLUMNS, [
            (
                *(i + 1, node.parent + 1, node.step, escape_formula(node.label)),
                *(node.log_probability, node.token_log_probability, node.status, int(node.best)),
            )
            for i, node in enumerate(figure.nodes)
        ]
    if isinstance(figure, ConstituencyFigure):
        return tree_data.COLUMNS, tree_data.table(figure, escape_formula)
    if isinstance(figure, FlowFigure):
        return flow_data.COLUMNS, flow_data.table(figure, escape_formula)
    if isinstance(figure, CurvesFigure):
        banded = any(series.band is not None for series in figure.series)
        return CURVE_COLUMNS + _BAND * banded, [
            (i, escape_formula(series.label), float(x), float(y), *(_band(series, at) if banded else ()))
            for i, series in enumerate(figure.series, start=1)
            for at, (x, y) in enumerate(zip(series.xs, series.ys, strict=True))
        ]
    if isinstance(figure, MatrixFigure):
        rows, columns = np.indices(figure.matrix.shape)
        places = zip((rows + figure.row_start).flat, (columns + figure.column_start).flat, strict=True)
        cells = zip(places, np.ndindex(figure.matrix.shape), figure.matrix.flat, strict=True)
        named = [(*place, *_names(figure, *at), _written(value)) for place, at, value in cells]
        return (*MATRIX_COLUMNS[:-1], *_NAMES[: len(named[0]) - 3], MATRIX_COLUMNS[-1]), named
    return CSV_COLUMNS, [
        row
        for number, panel in enumerate(panels_of(figure), start=1)
        for row in _cells(number, _head(figure, panel), panel)
    ]


def _cells(number: int, head: str, panel: HeatmapPanel) -> Rows:
    """Return a row of CSV for each cell of a panel."""
    queries = [escape_formula(label) for label in panel.query_labels]
    keys = [escape_formula(label) for label in panel.key_labels]
    masked = np.zeros(panel.weights.shape, dtype=bool) if panel.masked is None else panel.masked
    return [
        (number, head, row + 1, query, column + 1, key, _written(panel.weights[row, column]), int(masked[row, column]))
        for row, query in enumerate(queries)
        for column, key in enumerate(keys)
    ]


def _head(figure: Figure, panel: HeatmapPanel) -> str:
    """Return the name of the head in a panel; empty for other numbers."""
    if panel.layer is None or panel.head is None:
        return ""
    return f"{panel.kind or figure.kind or OWN}.{panel.layer + 1}.{panel.head + 1}"


def _written(value: Any) -> str:
    """Write a number exactly; nothing where it is missing."""
    return "" if np.isnan(value) else str(value)


def _band(series: Series, at: int) -> tuple[float | str, ...]:
    """Return both ends of the band around a point; nothing for a curve without."""
    return ("", "") if series.band is None else tuple(map(float, series.band[:, at]))


def _all_arrays(figure: Figure) -> dict[str, Any]:
    if isinstance(figure, BeamTreeFigure):
        nodes = figure.nodes
        return {
            "parents": np.array([node.parent for node in nodes], dtype=np.int64),
            "steps": np.array([node.step for node in nodes], dtype=np.int64),
            "tokens": np.array([node.label for node in nodes], dtype=np.str_),
            "log_probabilities": np.array([node.log_probability for node in nodes]),
            "token_log_probabilities": np.array([node.token_log_probability for node in nodes]),
            "statuses": np.array([node.status for node in nodes], dtype=np.str_),
            "best": np.array([node.best for node in nodes], dtype=bool),
        }
    if isinstance(figure, ConstituencyFigure):
        return tree_data.arrays(figure)
    if isinstance(figure, FlowFigure):
        return flow_data.arrays(figure)
    if isinstance(figure, CurvesFigure):
        pairs = [
            (f"{name}_{i}", values) for i, s in enumerate(figure.series) for name, values in (("x", s.xs), ("y", s.ys))
        ]
        pairs += [(f"band_{i}", s.band) for i, s in enumerate(figure.series) if s.band is not None]  # (2, values)
        return {**dict(pairs), "labels": np.array([series.label for series in figure.series], dtype=np.str_)}
    if isinstance(figure, MatrixFigure):
        names = {"row_labels": figure.row_labels, "column_labels": figure.column_labels}
        return {"values": figure.matrix} | {name: np.array(each, dtype=np.str_) for name, each in names.items() if each}
    panels = panels_of(figure)
    arrays: dict[str, Any] = {"heads": np.array([_head(figure, panel) for panel in panels], dtype=np.str_)}
    single = [_arrays(panel) for panel in panels]
    if len({panel.weights.shape for panel in panels}) == 1:
        return arrays | {name: np.stack([each[name] for each in single]) for name in single[0]}
    return arrays | {f"{name}_{i}": array for i, each in enumerate(single) for name, array in each.items()}


def _content(figure: Figure) -> dict[str, Any]:
    if isinstance(figure, BeamTreeFigure):
        return {
            "nodes": [
                dict(zip(TREE_COLUMNS, row, strict=True)) | {"token": node.label}
                for row, node in zip(_table(figure)[1], figure.nodes, strict=True)
            ]
        }
    if isinstance(figure, ConstituencyFigure):
        return tree_data.content(figure)
    if isinstance(figure, FlowFigure):
        return flow_data.content(figure)
    if isinstance(figure, CurvesFigure):
        return {
            "series": [
                {
                    "label": s.label,
                    "dashed": s.dashed,
                    "marked": s.marked,
                    "x": s.xs.tolist(),
                    "y": [None if np.isnan(y) else float(y) for y in s.ys],
                    **({} if s.band is None else dict(zip(_BAND, s.band.tolist(), strict=True))),
                }
                for s in figure.series
            ],
            "x_log": figure.x_log,
            "y_log": figure.y_log,
            **({} if figure.cut is None else {"cut": figure.cut, "readings": list(figure.readings())}),
        }
    if isinstance(figure, MatrixFigure):
        start = {"row_start": figure.row_start, "column_start": figure.column_start}
        names = {"row_labels": list(figure.row_labels), "column_labels": list(figure.column_labels)}
        return {
            **start,
            **{name: labels for name, labels in names.items() if labels},
            "values": [_to_json_numbers(row) for row in figure.matrix],
        }
    return {"panels": [_panel(_head(figure, panel), panel) for panel in panels_of(figure)]}


def _to_json_numbers(values: np.ndarray[Any, np.dtype[np.floating[Any]]]) -> list[float | None]:
    """Numbers for JSON, which has no NaN, with as many digits as their type needs."""
    return [None if np.isnan(value) else float(str(value)) for value in values]


def _panel(head: str, panel: HeatmapPanel) -> dict[str, Any]:
    signed = "difference" if isinstance(panel, DifferencePanel) else "weight"
    return {
        "title": panel.title,
        "head": head or None,
        "values": "number" if isinstance(panel, NumbersPanel) else signed,
        "query_labels": list(panel.query_labels),
        "key_labels": list(panel.key_labels),
        "weights": [_to_json_numbers(row) for row in panel.weights],
        "masked": None if panel.masked is None else panel.masked.tolist(),
    }


def _arrays(panel: HeatmapPanel) -> dict[str, Any]:
    return {
        "weights": panel.weights,
        "masked": np.zeros(panel.weights.shape, dtype=bool) if panel.masked is None else panel.masked,
        "query_labels": np.array(panel.query_labels, dtype=np.str_),
        "key_labels": np.array(panel.key_labels, dtype=np.str_),
    }


def _description(figure: Figure) -> dict[str, Any]:
    """Return words and origin of the figure."""
    words = {
        name: getattr(figure, name)
        for name in ("query_title", "key_title", "scale_title", "x_title", "y_title", "row_title", "column_title")
        if hasattr(figure, name)
    }
    return {
        "title": figure.title,
        "kind": figure.kind,
        **words,
        "caption": figure.caption,
        "alt": figure.alt,
        "language": figure.language,
        "provenance": provenance_record(figure),
    }


def _names(figure: MatrixFigure, row: int, column: int) -> tuple[str, ...]:
    """Return the names of a cell's row and column; both where either has names, "" for the other."""
    if not figure.row_labels and not figure.column_labels:
        return ()
    rows, columns = figure.row_labels, figure.column_labels
    return escape_formula(rows[row] if rows else ""), escape_formula(columns[column] if columns else "")
