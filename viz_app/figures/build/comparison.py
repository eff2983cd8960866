"""Two maps side by side and what the second has more than the first: heads, checkpoints, or sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from viz_app.figures.colours.palette import Theme
from viz_app.figures.model.arrays import AnyKind, Maps
from viz_app.figures.model.slicing import Unit, slice_attention
from viz_app.figures.model.spec import DifferencePanel, HeatmapFigure, HeatmapPanel
from viz_app.figures.text import view_captions


def comparison(
    maps: Maps,
    kind: AnyKind,
    layer: int,
    head: int,
    *,
    other: Maps | None = None,
    other_kind: AnyKind | None = None,
    other_layer: int | None = None,
    other_head: int | None = None,
    names: tuple[str, str] = ("", ""),
    aligned: bool = False,
    language: str = "en",
    theme: Theme = "light",
    provenance: Mapping[str, Any] | None = None,
    unit: Unit = "pieces",
    upto: int | None = None,
) -> HeatmapFigure:
    """A, B, and B - A where both have the same tokens.

    Args:
        maps: Maps of A.
        kind: Which attention, of A and, by default, of B.
        layer: Layer of A, from 0; of B too by default.
        head: Head of A, from 0; of B too by default.
        other: Maps of B, of another checkpoint or sentence; None for those of A.
        other_kind: Kind of B.
        other_layer: Layer of B, from 0.
        other_head: Head of B, from 0.
        names: What A and B are called above their panels; empty for layer and head.
        aligned: With different tokens, draw the difference of the tokens that both have in the same order.
        language: "en" or "ko".
        theme: "light" or "dark".
        provenance: Checkpoint, hash, sentence, command, ...; plain values, written into every file.
        unit: "pieces" or "words".
        upto: Decoding step, or None for all.

    Raises:
        ValueError: A layer, head, unit or step does not exist.
    """
    first = slice_attention(maps, kind, language, theme, provenance, unit, upto)
    kind_b: AnyKind = other_kind or kind
    second = slice_attention(other or maps, kind_b, language, theme, provenance, unit, upto)
    places = (
        (layer, head),
        (layer if other_layer is None else other_layer, head if other_head is None else other_head),
    )
    t = first.t
    a, b = (
        view.panel(*place, _name(letter, name or t("figures.title_place", layer=place[0] + 1, head=place[1] + 1)))
        for view, place, letter, name in zip((first, second), places, "AB", names, strict=True)
    )
    if kind_b != kind:
        a, b = replace(a, kind=first.figure_kind), replace(b, kind=second.figure_kind)
    difference = _difference(a, b, aligned)
    caption = view_captions.comparison_caption(difference, language=language)
    (layer_a, head_a), (layer_b, head_b) = places
    view = {
        "name": "compare", "layer": layer_a, "head": head_a,
        "other_kind": kind_b, "other_layer": layer_b, "other_head": head_b,
    }  # fmt: skip
    figure = first.figure(
        [a, b] if difference is None else [a, b, difference],
        title=t("figures.title_compare", first=names[0] or "A", second=names[1] or "B", kind=first.kind_title),
        where=f"layer{layer_a + 1}_head{head_a + 1}_against_layer{layer_b + 1}_head{head_b + 1}",
        view={**view, **({"aligned": True} if aligned else {})},
        difference_title=t("figures.difference"),
        caption=caption.text,
        alt=view_captions.comparison_alt(a, b, caption, language=language),
    )
    if kind_b == kind:
        return figure
    title = t("figures.title_compare_kinds", first=first.kind_title, second=second.kind_title)
    return replace(figure, kind="", title=title, query_title=t("figures.query"), key_title=t("figures.key"))


def _name(letter: str, name: str) -> str:
    return f"{letter}: {name}"


def _difference(a: HeatmapPanel, b: HeatmapPanel, aligned: bool) -> DifferencePanel | None:
    """B - A on the tokens that both have; None when their axes differ and are not to be aligned."""
    rows, columns = (_common(one, two) for one, two in ((a.query_labels, b.query_labels), (a.key_labels, b.key_labels)))
    equal = (a.query_labels, a.key_labels) == (b.query_labels, b.key_labels)
    if not equal and (not aligned or not rows or not columns):
        return None
    (rows_a, rows_b), (columns_a, columns_b) = (tuple(zip(*pairs, strict=True)) for pairs in (rows, columns))
    weights = b.weights[np.ix_(rows_b, columns_b)] - a.weights[np.ix_(rows_a, columns_a)]
    masked = None
    if a.masked is not None and b.masked is not None:
        masked = a.masked[np.ix_(rows_a, columns_a)] & b.masked[np.ix_(rows_b, columns_b)]
    return DifferencePanel(
        weights=weights,
        query_labels=[a.query_labels[row] for row in rows_a],
        key_labels=[a.key_labels[column] for column in columns_a],
        masked=masked,
        query_words=a.query_words if equal else None,
        key_words=a.key_words if equal else None,
        title="B \u2212 A",
    )


def _common(one: Sequence[str], two: Sequence[str]) -> list[tuple[int, int]]:
    """Positions in both of the tokens that they have in common, in order."""
    blocks = SequenceMatcher(None, one, two, autojunk=False).get_matching_blocks()
    return [(block.a + i, block.b + i) for block in blocks for i in range(block.size)]
