"""The numbers behind a phrase-structure tree. Constituents, words and generated tokens count from 1, 0 is no parent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from viz_app.figures.model.constituency import ConstituencyFigure

COLUMNS = (
    *("what", "number", "parent", "label", "first_word", "last_word"),
    *("opening", "closing", "probability", "weight"),
)


def table(figure: ConstituencyFigure, written: Callable[[str], str]) -> list[tuple[Any, ...]]:
    """Return a row for each constituent, then one for each word; `written` writes a label for a cell."""
    nodes = [
        (
            *("constituent", i + 1, node.parent + 1, written(node.label), node.begin + 1, node.end),
            *(_from_one(node.opening), _from_one(node.closing)),
            *("" if node.probability is None else node.probability, ""),
        )
        for i, node in enumerate(figure.nodes)
    ]
    weights = figure.weights or ("",) * len(figure.words)
    words = [
        ("word", i + 1, figure.word_parents[i] + 1, written(word), i + 1, i + 1, "", "", "", weights[i])
        for i, word in enumerate(figure.words)
    ]
    return [*nodes, *words]


def arrays(figure: ConstituencyFigure) -> dict[str, Any]:
    """Arrays of the constituents (from 0, root's parent -1; -1 for a bracket that is not there) and of the words."""
    nodes, none = figure.nodes, float("nan")
    columns = {
        "labels": np.array([node.label for node in nodes], dtype=np.str_),
        "parents": np.array([node.parent for node in nodes], dtype=np.int64),
        "spans": np.array([(node.begin, node.end) for node in nodes], dtype=np.int64),
        "brackets": np.array(
            [[-1 if each is None else each for each in (node.opening, node.closing)] for node in nodes], dtype=np.int64
        ),
        "probabilities": np.array([none if node.probability is None else node.probability for node in nodes]),
        "words": np.array(figure.words, dtype=np.str_),
        "word_parents": np.array(figure.word_parents, dtype=np.int64),
    }
    return columns if figure.weights is None else {**columns, "weights": np.array(figure.weights, dtype=np.float32)}


def content(figure: ConstituencyFigure) -> dict[str, Any]:
    """Return the tree in brackets, its repairs, constituents and words, for JSON."""
    nodes = [
        {
            "label": node.label,
            "parent": node.parent + 1,
            "first_word": node.begin + 1,
            "last_word": node.end,
            "opening": _from_one(node.opening) or None,
            "closing": _from_one(node.closing) or None,
            "probability": node.probability,
        }
        for node in figure.nodes
    ]
    words: list[dict[str, Any]] = [
        {"word": word, "parent": parent + 1} for word, parent in zip(figure.words, figure.word_parents, strict=True)
    ]
    for each, weight in zip(words, figure.weights or (), strict=False):
        each["weight"] = weight
    return {"tree": figure.text, "repairs": dict(figure.repairs), "nodes": nodes, "words": words}


def _from_one(position: int | None) -> int | str:
    return "" if position is None else position + 1
