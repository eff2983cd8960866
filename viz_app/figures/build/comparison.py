"""Two maps side by side and what the second has more than the first: heads, checkpoints, or sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from viz_app.figures.build.request import Request
from viz_app.figures.model.figure import DifferencePanel, HeatmapFigure, HeatmapPanel, NumbersPanel, SignedPanel
from viz_app.figures.options import AnyKind
from viz_app.figures.text import view_captions
from viz_app.figures.text.captions import head_name


def comparison(r: Request) -> HeatmapFigure:
    """Draw A, B, and B - A where both have the same tokens, or where their common tokens are aligned.

    Raises:
        ValueError: A layer, head, unit or step does not exist.
    """
    kind, names, language = r.kind, r.names, r.language
    kind_b: AnyKind = r.other_kind or kind
    first, second = r.attention, replace(r, maps=r.other or r.maps, kind=kind_b).attention
    other = r.layer if r.other_layer is None else r.other_layer, r.head if r.other_head is None else r.other_head
    places = (r.layer, r.head), other
    t = first.t
    a, b = (
        view.panel(*place, f"{letter}: {name or t('figures.title_place', head=head_name(view.kind, *place))}")
        for view, place, letter, name in zip((first, second), places, "AB", names, strict=True)
    )
    if kind_b != kind:
        a, b = replace(a, kind=first.figure_kind), replace(b, kind=second.figure_kind)
    difference = _difference(a, b, r.other is not None if r.aligned is None else r.aligned)
    caption = view_captions.comparison_caption(difference, language=language)
    (layer_a, head_a), (layer_b, head_b) = places
    where = f"{first.place(*places[0])}_against_{second.place(*places[1])}"
    view = {
        "name": "compare", "layer": layer_a, "head": head_a,
        "other_kind": kind_b, "other_layer": layer_b, "other_head": head_b,
    }  # fmt: skip
    figure = first.figure(
        [a, b] if difference is None else [a, b, difference],
        title=t("figures.title_compare", first=names[0] or "A", second=names[1] or "B", kind=first.kind_title),
        where=where,
        view=view | ({"names": list(names)} if any(names) else {}),
        difference_title=t("figures.difference") if first.signed is None else first.scale_title,
        caption=caption.text,
        alt=view_captions.comparison_alt(a, b, caption, language=language),
    )
    if kind_b == kind:
        return figure
    title = t("figures.title_compare_kinds", first=first.kind_title, second=second.kind_title)
    return replace(figure, kind="", title=title, query_title=t("figures.query"), key_title=t("figures.key"))


def _difference(a: HeatmapPanel, b: HeatmapPanel, aligned: bool) -> DifferencePanel | None:
    """Subtract A from B on their common tokens; None when their axes differ and are not to be aligned."""
    rows, columns = (align(one, two) for one, two in ((a.query_labels, b.query_labels), (a.key_labels, b.key_labels)))
    equal = (a.query_labels, a.key_labels) == (b.query_labels, b.key_labels)
    if not equal and (not aligned or not rows or not columns):
        return None
    (rows_a, rows_b), (columns_a, columns_b) = (tuple(zip(*pairs, strict=True)) for pairs in (rows, columns))
    weights = b.weights[np.ix_(rows_b, columns_b)] - a.weights[np.ix_(rows_a, columns_a)]
    masked = None
    if a.masked is not None and b.masked is not None:
        masked = a.masked[np.ix_(rows_a, columns_a)] & b.masked[np.ix_(rows_b, columns_b)]
    numbers = isinstance(a, NumbersPanel) or isinstance(b, NumbersPanel)
    return (SignedPanel if numbers else DifferencePanel)(
        weights=weights,
        query_labels=[a.query_labels[row] for row in rows_a],
        key_labels=[a.key_labels[column] for column in columns_a],
        masked=masked,
        query_words=a.query_words if equal else None,
        key_words=a.key_words if equal else None,
        title="B \u2212 A",
    )


def align(one: Sequence[str], two: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions in both of their longest common subsequence, each as early as it can be.

    The twin of `align` in components/explorer/js/data/align.js, so that the screen and a file compare the same tokens.
    """
    longest = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]  # of the rests from (i, j) on
    for i in reversed(range(len(one))):
        for j in reversed(range(len(two))):
            equal = one[i] == two[j]
            longest[i][j] = longest[i + 1][j + 1] + 1 if equal else max(longest[i + 1][j], longest[i][j + 1])
    pairs = []
    i = j = 0
    while i < len(one) and j < len(two):
        if one[i] == two[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs
