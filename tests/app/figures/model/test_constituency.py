"""Phrase-structure trees: places by hand, and laws that any tree keeps."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from viz_app.figures import ConstituencyFigure, Constituent
from viz_app.figures.model.constituency import BETWEEN, LEVEL, ROOM, TreePlaces, place_tree


def one_each(text: str, size: float) -> float:
    """Every character is as wide as the font is high."""
    return len(text) * size


def figure(rows: list[tuple[str, int, int, int]], words: list[str], **more: Any) -> ConstituencyFigure:
    nodes = [Constituent(label=label, parent=parent, begin=begin, end=end) for label, parent, begin, end in rows]
    return ConstituencyFigure(nodes=nodes, words=words, **more)


def test_places_of_a_small_tree_by_hand() -> None:
    """(S (NP a) bb): strips of the words are 1 and 2 wide with the room between; NP is wider than its word."""
    tree = figure([("S", -1, 0, 2), ("NP", 0, 0, 1)], ["a", "bb"])
    places = place_tree(tree, one_each)
    strip = 2 + BETWEEN
    first, second = strip / 2, strip + strip / 2
    assert places.width == pytest.approx(2 * strip)
    assert places.height == pytest.approx(2 * LEVEL)
    np.testing.assert_allclose(places.nodes, [(strip, 0), (first, LEVEL)])
    np.testing.assert_allclose(places.words, [(first, 2 * LEVEL), (second, 2 * LEVEL)])
    to_np, to_a, to_bb = places.edges
    np.testing.assert_allclose(to_np, [(strip, ROOM), (first, LEVEL - ROOM)])
    np.testing.assert_allclose(to_a, [(first, LEVEL + ROOM), (first, 2 * LEVEL - ROOM)])
    # The line to a word of an upper constituent bends above the labels beside it, then falls.
    np.testing.assert_allclose(to_bb, [(strip, ROOM), (second, LEVEL - ROOM), (second, 2 * LEVEL - ROOM)])


@some.composite
def trees(draw: some.DrawFn) -> ConstituencyFigure:
    """Any tree over up to twelve words, unary chains and words right below the root included."""
    text = some.text("abcWMil", min_size=1, max_size=9)
    words = draw(some.lists(text, min_size=1, max_size=12))
    rows: list[tuple[str, int, int, int]] = []

    def grow(parent: int, begin: int, end: int, depth: int) -> None:
        here = len(rows)
        rows.append((draw(text), parent, begin, end))
        at = begin
        while at < end and depth < 5:
            upto = draw(some.integers(at + 1, end))
            if draw(some.booleans()):
                grow(here, at, upto, depth + 1)
            at = upto

    grow(-1, 0, len(words), 0)
    return figure(rows, words)


def extents(tree: ConstituencyFigure, places: TreePlaces) -> list[tuple[float, float, float]]:
    """Level, left and right end of every label."""
    labels = [*(node.label for node in tree.nodes), *tree.words]
    middles = [*places.nodes, *places.words]
    return [
        (y, x - one_each(label, 0.5), x + one_each(label, 0.5)) for label, (x, y) in zip(labels, middles, strict=True)
    ]


@given(trees())
def test_labels_never_touch_and_lie_within_the_width(tree: ConstituencyFigure) -> None:
    places = place_tree(tree, one_each)
    all_of_them = sorted(extents(tree, places))
    for (level, _, end), (next_level, start, _) in pairwise(all_of_them):
        assert level != next_level or start - end >= BETWEEN - 1e-9
    assert min(left for _, left, _ in all_of_them) >= -1e-9
    assert max(right for _, _, right in all_of_them) <= places.width + 1e-9


@given(trees())
def test_words_stand_in_order_and_children_below_the_middle_of_their_parent(tree: ConstituencyFigure) -> None:
    places = place_tree(tree, one_each)
    xs = [x for x, _ in places.words]
    assert xs == sorted(xs) and {y for _, y in places.words} == {places.height}
    for i, (x, y) in enumerate(places.nodes):
        below = [(tree.nodes[j].begin, *places.nodes[j]) for j in range(len(tree.nodes)) if tree.nodes[j].parent == i]
        below += [(w, *places.words[w]) for w in range(len(xs)) if tree.word_parents[w] == i]
        below.sort()
        assert below and all(height > y for _, _, height in below)
        assert x == pytest.approx((below[0][1] + below[-1][1]) / 2)
        assert y == LEVEL * tree.levels[i]


@given(trees())
def test_no_line_runs_through_a_label(tree: ConstituencyFigure) -> None:
    """A label is as high as its letters: half a font to both sides of its middle."""
    places = place_tree(tree, one_each)
    for edge in places.edges:
        for (x0, y0), (x1, y1) in pairwise(edge):
            for level, left, right in extents(tree, places):
                low, high = max(y0, level - 0.5), min(y1, level + 0.5)
                if low < high:
                    at = sorted(x0 + (x1 - x0) * (y - y0) / (y1 - y0) for y in (low, high))
                    assert at[1] <= left or at[0] >= right


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        ([], {}, "at least one constituent"),
        ([("S", 0, 0, 2)], {}, "parent of constituent 0 is 0"),
        ([("S", -1, 0, 1)], {}, "constituent 0 spans words 0 to 1"),
        ([("S", -1, 0, 2), ("NP", 0, 0, 3)], {}, "constituent 1 spans words 0 to 3"),
        ([("S", -1, 0, 2), ("NP", 0, 0, 2), ("VP", 0, 1, 2)], {}, "constituent 2 spans words 1 to 2"),
        ([("S", -1, 0, 2)], {"weights": [0.1]}, "weights has 1 numbers, but there are 2 words"),
        ([("S", -1, 0, 2)], {"weights": [0.1, 1.5]}, "is 1.5, but must be between 0 and 1"),
    ],
)
def test_what_is_no_tree_is_refused(rows: list[tuple[str, int, int, int]], more: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        figure(rows, ["a", "b"], **more)
