"""Changes of attention rows as a setting: short enough for an address, checked when read.

    c6.8.2o3_c6.8.2w0.40    head cross.6.8, query 2: only key 3; then key 0 gets 40 %

Layers and heads count from 1, positions and sentences from 0. The first letter is the kind of attention (e, d, c), the
second the action: x, a key is forbidden; o, only this key; w, a key gets a weight in percent; a, all keys alike; h, the
row of another head of the layer; s, the row of the head in an example sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from transformer_core.attention_maps import KINDS, AttentionMaps, Kind

MAX_EDITS = 10
_EDIT = re.compile(r"([edc])([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{1,3})([xowahs])(?:([0-9]{1,3})(?:\.([0-9]{1,3}))?)?")
_KIND: dict[str, Kind] = {kind[0]: kind for kind in KINDS}

Place = tuple[Kind, int, int, int]  # kind, layer, head, query


@dataclass(frozen=True)
class RowEdit:
    """One change of one row.

    Args:
        place: Which row.
        action: One of x, o, w, a, h, s.
        number: Of the key, for h of the head, for s of the example sentence; 0 for a.
        percent: For w.
    """

    place: Place
    action: str
    number: int
    percent: int = 0


def read_edits(text: str, maps: AttentionMaps, examples: int) -> list[RowEdit]:
    """Read the changes in a setting, without the ones that do not fit the model, its examples and the sentence."""
    edits = []
    for part in text.split("_")[:MAX_EDITS]:
        match = _EDIT.fullmatch(part)
        if match is None:
            continue
        kind = _KIND[match[1]]
        layer, head, query, number, percent = (int(match[at] or 0) for at in (2, 3, 4, 6, 7))
        layer, head = layer - 1, head - 1
        if match[5] == "h":
            number -= 1
        layers, heads, queries, keys = maps.weights(kind).shape
        if not (0 <= layer < layers and 0 <= head < heads and query < queries and percent <= 100):
            continue
        visible = query + 1 if kind == "decoder" else keys
        if not 0 <= number < (heads if match[5] == "h" else examples if match[5] == "s" else visible):
            continue
        edits.append(RowEdit((kind, layer, head, query), match[5], number, percent))
    return edits


def unchanged_row(maps: AttentionMaps, place: Place) -> tuple[float, ...]:
    """Return the model's own weights of a row; in the decoder only for keys that the query sees."""
    kind, layer, head, query = place
    row = maps.weights(kind)[layer, head, query].astype(float)
    row = row[: query + 1] if kind == "decoder" else row
    return tuple((row / row.sum()).tolist())


def row_of_another(maps: AttentionMaps, place: Place, length: int) -> tuple[float, ...]:
    """Return the row of the same head and query in another sentence, over `length` keys.

    A key takes the weight of the key at its position, `</s>` the weight of `</s>`; then the row is normalized. A
    sentence with fewer queries gives its last row.
    """
    from transformer_core.analysis.attention_override import uniform_row

    kind, layer, head, query = place
    row = np.array(unchanged_row(maps, (kind, layer, head, min(query, maps.weights(kind).shape[2] - 1))))
    body, end = (row, row[:0]) if kind == "decoder" else (row[:-1], row[-1:])
    start = body[: length - len(end)]
    weights = np.concatenate([start, np.zeros(length - len(end) - len(start)), end])
    return tuple((weights / weights.sum()).tolist()) if weights.sum() > 0 else uniform_row(length)


def changed_rows(
    edits: Sequence[RowEdit], maps: AttentionMaps, example: Callable[[int], AttentionMaps]
) -> dict[Place, tuple[float, ...]]:
    """Apply the changes one after the other, each row starting from the model's own.

    Args:
        edits: The changes.
        maps: Of the visitor's sentence.
        example: Returns the maps of an example sentence.
    """
    from transformer_core.analysis.attention_override import OverrideError, uniform_row, with_weight, without_keys

    rows: dict[Place, tuple[float, ...]] = {}
    for edit in edits:
        row = rows.get(edit.place) or unchanged_row(maps, edit.place)
        kind, layer, _, query = edit.place
        if edit.action == "x":
            try:
                row = without_keys(row, [edit.number])
            except OverrideError:  # the only key with any weight
                row = row if len(row) == 1 else with_weight(row, edit.number, 0.0)
        elif edit.action == "o":
            row = with_weight(row, edit.number, 1.0)
        elif edit.action == "w":
            row = with_weight(row, edit.number, edit.percent / 100)
        elif edit.action == "a":
            row = uniform_row(len(row))
        elif edit.action == "h":
            row = unchanged_row(maps, (kind, layer, edit.number, query))
        else:
            row = row_of_another(example(edit.number), edit.place, len(row))
        rows[edit.place] = row
    return rows
