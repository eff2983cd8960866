"""Figures of phrase-structure trees: constituents over the words of a sentence, the words in one row at the foot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from viz_app.figures.colours.palette import INK, ink_on
from viz_app.figures.colours.scales import ColorMap, weights_map
from viz_app.figures.layout import MAX_LABEL, Measure
from viz_app.figures.model.figure import Figure, display_label
from viz_app.figures.model.style import Style

BETWEEN = 0.9  # room between two labels beside each other over the font size
LEVEL = 2.4  # from one level to the next over the font size
ROOM = 0.72  # between the middle of a label and a line over the font size


@dataclass(frozen=True, kw_only=True)
class Constituent:
    """One constituent.

    Args:
        label: Its category, such as NP.
        parent: Index of the constituent around it; -1 for the root.
        begin: Its first word, from 0.
        end: The word after its last one.
        opening: Position of its opening bracket among the generated tokens, from 0; None when it was never generated.
        closing: The same for the closing one.
        probability: Of both its brackets, each given all before it, multiplied; None when one was never generated.
    """

    label: str
    parent: int
    begin: int
    end: int
    opening: int | None = None
    closing: int | None = None
    probability: float | None = None


@dataclass(frozen=True, kw_only=True)
class TreePlaces:
    """Places of a tree, in font sizes from the left and from the root's level down.

    Args:
        width: Of the whole tree.
        height: Of the foot below the root.
        nodes: (x, y) of the middle of each constituent's label.
        words: The same for each word.
        edges: Points of each line from below a constituent to above what is in it: straight, but to a word with a
            vertical end, so that no line runs through the labels beside it.
    """

    width: float
    height: float
    nodes: tuple[tuple[float, float], ...]
    words: tuple[tuple[float, float], ...]
    edges: tuple[tuple[tuple[float, float], ...], ...]


@dataclass(frozen=True, kw_only=True)
class ConstituencyFigure(Figure):
    """The tree of one sentence.

    Args:
        nodes: Constituents; the root first, each before those inside it, from left to right.
        words: The words of the sentence.
        weights: Attention weight of each word, 0 to 1, which tints it; None for none.
        confidence: Whether constituents are tinted by their probability.
        text: The tree in brackets.
        repairs: What had to be done to the generated tokens, by name, and how often.
        weight_title: What the tint of words means; key and text under the pointer.
        probability_title: The same for constituents.

    Raises:
        ValueError: There is no word or no root, or a constituent or a number is not where it may be.
    """

    nodes: Sequence[Constituent]
    words: Sequence[str]
    weights: Sequence[float] | None = None
    confidence: bool = False
    text: str = ""
    repairs: Mapping[str, int] = field(default_factory=dict)
    weight_title: str = "attention weight"
    probability_title: str = "probability"
    name: str = "headlight_tree"

    def __post_init__(self) -> None:
        super().__post_init__()
        for each in ("nodes", "words"):
            object.__setattr__(self, each, tuple(getattr(self, each)))
        object.__setattr__(self, "repairs", dict(self.repairs))
        if not self.nodes or not self.words:
            raise ValueError("a tree needs at least one constituent and one word")
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(map(float, self.weights)))
            if len(self.weights) != len(self.words):
                raise ValueError(f"weights has {len(self.weights)} numbers, but there are {len(self.words)} words")
        self._check_nodes()
        for number in (*(self.weights or ()), *self._probabilities):
            if not -1e-3 <= number <= 1 + 1e-3:
                raise ValueError(f"a weight or probability is {number}, but must be between 0 and 1")

    def _check_nodes(self) -> None:
        ends = [0] * len(self.nodes)  # of what each has on its left already
        for i, node in enumerate(self.nodes):
            if (i == 0) != (node.parent == -1) or node.parent >= i:
                raise ValueError(
                    f"parent of constituent {i} is {node.parent}, but must stand before it; -1 for the first"
                )
            around = (
                Constituent(label="", parent=-1, begin=0, end=len(self.words)) if i == 0 else self.nodes[node.parent]
            )
            free = 0 if i == 0 else max(around.begin, ends[node.parent])
            if not free <= node.begin < node.end <= around.end or (i == 0 and node.end - node.begin < len(self.words)):
                raise ValueError(
                    f"constituent {i} spans words {node.begin} to {node.end}, which does not fit the others"
                )
            if i:
                ends[node.parent] = node.end

    @property
    def _probabilities(self) -> tuple[float, ...]:
        return tuple(node.probability for node in self.nodes if node.probability is not None)

    @cached_property
    def word_parents(self) -> tuple[int, ...]:
        """Index of the innermost constituent around each word."""
        parents = [0] * len(self.words)
        for i, node in enumerate(self.nodes):  # those inside come later
            parents[node.begin : node.end] = [i] * (node.end - node.begin)
        return tuple(parents)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Constituents around each constituent."""
        depths: list[int] = []
        for node in self.nodes:
            depths.append(0 if node.parent < 0 else depths[node.parent] + 1)
        return tuple(depths)

    @property
    def is_tinted(self) -> bool:
        """Whether a colour means a number."""
        return self.weights is not None or (self.confidence and bool(self._probabilities))

    def color_map(self, style: Style) -> ColorMap:
        """Return the one map of all weights and probabilities that are shown."""
        numbers = [*(self.weights or ()), *(self._probabilities if self.confidence else ())]
        return weights_map([np.array(numbers)] if numbers else [], style, self.theme)

    def node_tint(self, index: int, style: Style) -> str | None:
        """Colour behind a constituent's label as "#rrggbb"; None for none."""
        probability = self.nodes[index].probability
        return _hex(self.color_map(style).rgb(probability)) if self.confidence and probability is not None else None

    def word_tint(self, index: int, style: Style) -> str | None:
        """Colour behind a word as "#rrggbb"; None for none."""
        return None if self.weights is None else _hex(self.color_map(style).rgb(self.weights[index]))

    def ink_on(self, tint: str | None) -> str:
        """Colour of letters that can be read on a tint, or on the page."""
        if tint is None:
            return INK[self.theme]
        rgb = np.array([int(tint[i : i + 2], 16) for i in (1, 3, 5)], dtype=np.uint8)
        return ink_on(rgb)

    def tint_titles(self) -> tuple[str, ...]:
        """Return the meanings of the tints, words first."""
        titles = (self.weight_title,) if self.weights is not None else ()
        return (*titles, self.probability_title) if self.confidence and self._probabilities else titles

    def phrase(self, index: int) -> str:
        """Return the words of a constituent."""
        node = self.nodes[index]
        return " ".join(self.words[node.begin : node.end])


def label_of(text: str) -> str:
    """Return a word or category as it is drawn."""
    return display_label(text, MAX_LABEL)


def place_tree(figure: ConstituencyFigure, measure: Measure) -> TreePlaces:
    """Place nodes, words and edges.

    Each constituent has a strip of its own, wide enough for its label and for all in it, and strips of what is in one
    constituent lie side by side. So labels never touch, on whatever level, and a constituent stands in the middle
    between its first and last child.

    Args:
        figure: The tree.
        measure: Width of a text at a font size.
    """
    count = len(figure.nodes)
    inside: list[list[int]] = [[] for _ in range(count)]  # children in order; words are count, count + 1, ...
    begins = [*(node.begin for node in figure.nodes), *range(len(figure.words))]
    parents = [*(node.parent for node in figure.nodes), *figure.word_parents]
    for child in sorted(range(1, len(parents)), key=lambda each: begins[each]):
        inside[parents[child]].append(child)
    labels = [label_of(text) for text in (*(node.label for node in figure.nodes), *figure.words)]
    halves = [(measure(label, 1.0) + BETWEEN) / 2 for label in labels]
    left, right = list(halves), list(halves)  # reach of each strip on both sides of its label's middle
    offsets = [0.0] * len(labels)  # of each middle from its parent's
    for node in range(count - 1, -1, -1):
        edge, middles = 0.0, []
        for child in inside[node]:
            middles.append(edge + left[child])
            edge += left[child] + right[child]
        centre = (middles[0] + middles[-1]) / 2
        for child, middle in zip(inside[node], middles, strict=True):
            offsets[child] = middle - centre
        left[node], right[node] = max(halves[node], centre), max(halves[node], edge - centre)
    xs = [left[0]] * len(labels)
    for node in range(count):
        for child in inside[node]:
            xs[child] = xs[node] + offsets[child]
    foot = LEVEL * (max(figure.levels) + 1)
    nodes = tuple((x, LEVEL * level) for x, level in zip(xs, figure.levels, strict=False))
    words = tuple((x, foot) for x in xs[count:])
    edges: list[tuple[tuple[float, float], ...]] = []
    for child in range(1, len(labels)):
        x, y = nodes[parents[child]]
        bend, end = y + LEVEL - ROOM, (foot if child >= count else y + LEVEL) - ROOM
        points = ((x, y + ROOM), (xs[child], bend))
        edges.append(points if end - bend < 1e-6 else (*points, (xs[child], end)))
    return TreePlaces(width=left[0] + right[0], height=foot, nodes=nodes, words=words, edges=tuple(edges))


def _hex(rgb: npt.NDArray[np.uint8]) -> str:
    return "#" + "".join(f"{part:02x}" for part in np.atleast_1d(rgb).ravel().tolist())
