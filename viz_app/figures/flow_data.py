"""The numbers behind a flow: parts of tokens, and of an unfolded one its ways, residual connections and states.

Positions count from 1 in tables and JSON, from 0 in arrays. The start of the sentence is input 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from viz_app.figures.model.flow import STACKS, FlowFigure, MadeToken

COLUMNS = ("what", "word", "word_label", "layer", "query", "query_label", "key", "key_label", "value")


def table(figure: FlowFigure, written: Callable[[str], str]) -> list[tuple[Any, ...]]:
    """Return a row for each number; `written` writes a label for a cell.

    `what` is source, inputs, biases or logit of a token; `way` for an attention edge of `layer`, such as `cross.6`;
    `residual`, what passes by a layer; or `state`, after a layer, such as `encoder.2`.
    """
    return [
        (what, token.position + 1, written(figure.outputs[token.position]), *_cells(place, written), _short(value))
        for token in figure.tokens
        for what, place, value in (*_parts(figure, token), *_way_rows(figure, token))
    ]


Place = tuple[str, tuple[int, str] | None, tuple[int, str] | None]  # layer; position and label of query and key


def _short(value: float) -> float:
    """Return the shortest decimal that reads back as the same float32."""
    return float(str(np.float32(value)))


def _cells(place: Place, written: Callable[[str], str]) -> tuple[Any, ...]:
    layer, *ends = place
    return layer, *(cell for end in ends for cell in ((end[0] + 1, written(end[1])) if end else ("", "")))


def _parts(figure: FlowFigure, token: MadeToken) -> list[tuple[str, Place, float]]:
    """Return what a token is made of, and the sum."""
    parts = [
        (part.origin, ("", None, None if part.origin == "biases" else (part.position, figure.label(part))), part.value)
        for part in token.parts
    ]
    return [*parts, ("logit", ("", None, None), token.logit)]


def _way_rows(figure: FlowFigure, token: MadeToken) -> list[tuple[str, Place, float]]:
    """Return ways, the largest first, then residual connections and states."""
    graph, labels = token.graph, {"encoder": figure.source, "decoder": figure.inputs}
    if graph is None:
        return []
    rows: list[tuple[str, Place, float]] = []
    for way in graph.ways:
        queries = {"encoder": figure.source, "decoder": figure.inputs, "cross": figure.outputs}[way.kind]
        keys = figure.inputs if way.kind == "decoder" else figure.source
        ends = (way.query, queries[way.query]), (way.key, keys[way.key])
        rows.append(("way", (f"{way.kind}.{way.layer + 1}", *ends), way.flow))
    for what, values, first in (("residual", graph.residuals, 1), ("state", graph.states, 0)):
        for stack in STACKS:
            for (layer, at), value in np.ndenumerate(values[stack]):
                rows.append((what, (f"{stack}.{layer + first}", None, (at, labels[stack][at])), float(value)))
    return rows


def arrays(figure: FlowFigure) -> dict[str, Any]:
    """Return arrays of N tokens: their parts, NaN where the decoder has not read; and of the graph of one."""
    inputs = np.full((len(figure.tokens), len(figure.inputs)), np.nan, dtype=np.float32)
    for row, token in zip(inputs, figure.tokens, strict=True):
        row[: len(token.inputs)] = token.inputs
    columns = {
        "words": np.array([token.position for token in figure.tokens]),
        "logits": np.array([token.logit for token in figure.tokens]),
        "source": np.stack([token.source for token in figure.tokens]),  # (N, S)
        "inputs": inputs,  # (N, T + 1)
        "biases": np.array([token.biases for token in figure.tokens]),
        "source_labels": np.array(figure.source, dtype=np.str_),
        "input_labels": np.array(figure.inputs, dtype=np.str_),
    }
    if (graph := figure.graph) is not None:
        columns |= {
            "way_kinds": np.array([way.kind for way in graph.ways], dtype=np.str_),
            "ways": np.array([(way.layer, way.query, way.key) for way in graph.ways], dtype=np.int64).reshape(-1, 3),
            "flows": np.array([way.flow for way in graph.ways]),
            **{f"{stack}_states": graph.states[stack] for stack in STACKS},
            **{f"{stack}_residuals": graph.residuals[stack] for stack in STACKS},
        }
    return columns


def content(figure: FlowFigure) -> dict[str, Any]:
    """Return the rows of the table as objects, with how much of all flow the ways carry, for JSON."""
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in table(figure, str)]
    graph = figure.graph
    of_ways = {} if graph is None else {"ways": len(graph.ways), "of": graph.count, "share": graph.share}
    return {"rows": [{name: value for name, value in row.items() if value != ""} for row in rows], **of_ways}
