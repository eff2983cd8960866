"""The numbers behind a figure: CSV for spreadsheets, NPZ for numpy, JSON for everything else.

Weights are exact: each decimal text reads back as the same float32. Labels are the tokenizer's own, with its mark for
a word boundary. Layers, heads, panels and positions count from 1 in CSV and JSON, as on screen.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np

from viz_app.figures.spec import HeatmapFigure, HeatmapPanel

CSV_COLUMNS = ("panel", "layer", "head", "query", "query_label", "key", "key_label", "weight", "masked")
# A cell that starts with one of these may be run as a formula by a spreadsheet program.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
JSON_FORMAT = 1


def to_csv(figure: HeatmapFigure) -> bytes:
    """One line for each cell, quoted as RFC 4180 says, with a header.

    The file is UTF-8 and starts with a byte order mark, without which Excel misreads Korean (read it in Python with
    encoding "utf-8-sig"; pandas does by itself). A label that a spreadsheet could run as a formula, because it starts
    with = + - @ (of normal or full width), a tab or a line break, gets an apostrophe in front, and so does a label
    that starts with an apostrophe: take one leading apostrophe away and every label is back. `masked` is 0 or 1;
    layer and head are empty for arrays that have none.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(CSV_COLUMNS)
    for number, panel in enumerate(figure.panels, start=1):
        queries = [_harmless(label) for label in panel.query_labels]
        keys = [_harmless(label) for label in panel.key_labels]
        place = (number, _from_one(panel.layer), _from_one(panel.head))
        for row, query in enumerate(queries):
            for column, key in enumerate(keys):
                weight, masked = panel.weights[row, column], int(not panel.allowed[row, column])
                writer.writerow((*place, row + 1, query, column + 1, key, str(weight), masked))
    return buffer.getvalue().encode("utf-8-sig", errors="replace")


def to_npz(figure: HeatmapFigure) -> bytes:
    """A numpy archive that needs no pickle; the same figure gives the same bytes.

    Arrays, for P panels of Q queries and K keys that share their shape: `weights` (P, Q, K) float32, `masked`
    (P, Q, K) bool, `query_labels` (P, Q) and `key_labels` (P, K) text, `layers` and `heads` (P,) int counted from 0
    (-1 for none), and `provenance`, JSON text. Panels of different shapes get one array each instead: `weights_0`, ...
    """
    panels = figure.panels
    arrays: dict[str, Any] = {
        "layers": np.array([-1 if panel.layer is None else panel.layer for panel in panels], dtype=np.int64),
        "heads": np.array([-1 if panel.head is None else panel.head for panel in panels], dtype=np.int64),
        "provenance": np.array(json.dumps(_about(figure), ensure_ascii=False, sort_keys=True, default=str)),
    }
    single = [_arrays(panel) for panel in panels]
    if len({panel.weights.shape for panel in panels}) == 1:
        arrays |= {name: np.stack([each[name] for each in single]) for name in single[0]}
    else:
        arrays |= {f"{name}_{i}": array for i, each in enumerate(single) for name, array in each.items()}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def to_json(figure: HeatmapFigure) -> bytes:
    """The whole figure as one JSON object in UTF-8: words, panels with labels and weights, provenance."""
    panels = [
        {
            "title": panel.title,
            "layer": _from_one(panel.layer) or None,
            "head": _from_one(panel.head) or None,
            "query_labels": list(panel.query_labels),
            "key_labels": list(panel.key_labels),
            "weights": [[float(str(weight)) for weight in row] for row in panel.weights],
            "masked": None if panel.masked is None else panel.masked.tolist(),
        }
        for panel in figure.panels
    ]
    told = {"format": JSON_FORMAT, **_about(figure), "panels": panels}
    text = json.dumps(told, ensure_ascii=False, indent=1, default=str)
    return text.encode("utf-8", errors="replace")


def _arrays(panel: HeatmapPanel) -> dict[str, Any]:
    return {
        "weights": panel.weights,
        "masked": ~panel.allowed,
        "query_labels": np.array(panel.query_labels, dtype=np.str_),
        "key_labels": np.array(panel.key_labels, dtype=np.str_),
    }


def _about(figure: HeatmapFigure) -> dict[str, Any]:
    """What the figure says and where it comes from."""
    return {
        "title": figure.title,
        "kind": figure.kind,
        "query_title": figure.query_title,
        "key_title": figure.key_title,
        "scale_title": figure.scale_title,
        "caption": figure.caption,
        "alt": figure.alt,
        "language": figure.language,
        "provenance": {"program": "Headlight", **figure.provenance},
    }


def _harmless(label: str) -> str:
    """A label that no spreadsheet program runs as a formula; an apostrophe in front, if needed, says "text"."""
    return f"'{label}" if label.startswith((*_FORMULA_STARTS, "'")) else label


def _from_one(index: int | None) -> int | str:
    return "" if index is None else index + 1
