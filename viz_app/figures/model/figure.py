"""Description of a figure before it is drawn: weights, labels of both axes, words around them.

Every renderer (Plotly, matplotlib, data files) reads these classes and nothing else. They hold a model's maps
(`builders.py`) or a user's own arrays: any attention with a row for each query and a column for each key.

    panel = HeatmapPanel(weights=weights, query_labels=["a", "b"], key_labels=["c", "d"])
    figure = HeatmapFigure(panels=(panel,), query_title="query", key_title="key")

The other kinds of figure are in `charts.py` (curves, matrices), `lines.py` and `tree.py`.

Shape legend: Q queries (rows, from the top), K keys (columns, from the left).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer_core.short_repr import ShortRepr
from viz_app.figures.colours.palette import KIND_COLORS, Theme, check_theme
from viz_app.figures.colours.scales import ColorMap, differences_map, numbers_map, weights_map
from viz_app.figures.fingerprint import fingerprint
from viz_app.figures.model.style import Style

WORD_BOUNDARY = "\u2581"  # how SentencePiece writes the space before a token
ROW_SUM_TOLERANCE = 1e-3
_NOT_FINITE = "holds a value that is not a finite number"
_ELLIPSIS = "\u2026"
# Marks that reorder the text around them; a token must not turn its neighbours around.
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


@dataclass(frozen=True, kw_only=True)
class HeatmapPanel(ShortRepr):
    """One attention map with the labels of both axes.

    Args:
        weights: (Q, K) float32 attention weights, 0 to 1; each row sums to 1. Other number types are converted.
        query_labels: Q labels of the rows; tokens as the tokenizer writes them, or words.
        key_labels: K labels of the columns.
        masked: (Q, K) bool, True where attention is forbidden; None when nothing is.
        query_words: Number of the word that each row belongs to, so that word boundaries can be marked; or None.
        key_words: The same for the columns.
        query_notes: A second label for each row, such as the token that a decoder row goes on to write; or None.
        title: Stands above the panel; plain text.
        layer: Layer, from 0; None for arrays that have none.
        head: Head, from 0; None for arrays that have none.
        kind: "encoder", "decoder" or "cross" when the figure has panels of several kinds; "" otherwise.

    Raises:
        ValueError: A shape, a weight or the sum of a row is wrong; the message names the row.
    """

    weights: npt.NDArray[np.floating[Any]]
    query_labels: Sequence[str]
    key_labels: Sequence[str]
    masked: npt.NDArray[np.bool_] | None = None
    query_words: Sequence[int] | None = None
    key_words: Sequence[int] | None = None
    query_notes: Sequence[str] | None = None
    title: str = ""
    layer: int | None = None
    head: int | None = None
    kind: str = ""

    def __post_init__(self) -> None:
        weights = np.array(self.weights, dtype=np.float32)  # a copy: a figure does not change under its caller
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)
        for name in ("query_labels", "key_labels", "query_words", "key_words", "query_notes"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise ValueError(f"{name} is one text, but must be a list with a label for each position")
            object.__setattr__(self, name, None if value is None else tuple(value))
        self._check_labels()
        if self.masked is not None:
            masked = np.array(self.masked, dtype=bool)
            masked.setflags(write=False)
            object.__setattr__(self, "masked", masked)
            if masked.shape != weights.shape:
                raise ValueError(f"masked has shape {masked.shape}, but must have that of the weights, {weights.shape}")
        check_kind(self.kind)
        self._check_weights()

    def _fail(self, wrong_rows: npt.ArrayLike, what: str) -> None:
        rows = np.asarray(wrong_rows)
        if rows.any():
            row = int(rows.argmax())
            raise ValueError(f"row {row} of the weights ({self.query_labels[row]!r}, counted from 0) {what}")

    def _check_labels(self) -> None:
        shape = self.weights.shape
        if len(shape) != 2 or 0 in shape:
            raise ValueError(f"weights have shape {shape}, but must be (queries, keys) with at least one of each")
        for axis, count in (("query", shape[0]), ("key", shape[1])):
            for what in ("labels", "words", "notes"):
                values = getattr(self, f"{axis}_{what}", None)
                if values is not None and len(values) != count:
                    rows = "rows" if axis == "query" else "columns"
                    raise ValueError(f"{axis}_{what} has {len(values)} entries, but the weights have {count} {rows}")

    def _check_weights(self) -> None:
        fail = self._fail
        fail(~np.isfinite(self.weights).all(axis=1), _NOT_FINITE)
        low, high = -ROW_SUM_TOLERANCE, 1 + ROW_SUM_TOLERANCE
        fail(((self.weights < low) | (self.weights > high)).any(axis=1), "holds a weight outside 0 to 1")
        sums, tolerance = self.weights.sum(axis=1, dtype=np.float64), self._row_sum_tolerance
        wrong = np.abs(sums - 1.0) > tolerance
        fail(wrong, f"sums to {sums[wrong.argmax()]:.4f}, but must sum to 1 (within {tolerance})")
        if self.masked is not None:
            fail(
                ((self.weights > ROW_SUM_TOLERANCE) & self.masked).any(axis=1),
                "has weight on a cell that is marked as masked",
            )

    @property
    def _row_sum_tolerance(self) -> float:
        return ROW_SUM_TOLERANCE

    @property
    def allowed(self) -> npt.NDArray[np.bool_]:
        """(Q, K) bool, True where attention is not forbidden and a number is there."""
        there: npt.NDArray[np.bool_] = ~np.isnan(self.weights)
        return there if self.masked is None else there & ~self.masked


class DifferencePanel(HeatmapPanel):
    """Difference of two maps, cell by cell: `weights` from -1 to 1, drawn with a diverging scale."""

    def _check_weights(self) -> None:
        self._fail(~np.isfinite(self.weights).all(axis=1), _NOT_FINITE)
        self._fail((np.abs(self.weights) > 1 + ROW_SUM_TOLERANCE).any(axis=1), "holds a difference outside -1 to 1")


class NumbersPanel(HeatmapPanel):
    """Any numbers with the labels of both axes, drawn from 0 or the least to the largest; NaN is missing."""

    def _check_weights(self) -> None:
        self._fail(np.isinf(self.weights).any(axis=1), _NOT_FINITE)


class SignedPanel(NumbersPanel, DifferencePanel):
    """Numbers of both signs, drawn with a diverging scale around 0; NaN is missing."""


@dataclass(frozen=True, kw_only=True)
class Figure(ShortRepr):
    """Common part of all figures. All text is plain, never markup.

    Args:
        title: Heading.
        caption: One or two sentences made from the data.
        alt: Alternative text.
        kind: "encoder", "decoder", "cross"; "" for several of them or another origin.
        language: "en" or "ko"; the language of the words of the figure.
        theme: "light" or "dark".
        name: Start of the name of an exported file.
        provenance: Where the figure comes from: checkpoint, hash, sentence, view, ...; goes into every file.

    Raises:
        ValueError: An option has a value that is not allowed.
    """

    title: str = ""
    caption: str = ""
    alt: str = ""
    kind: str = ""
    language: str = "en"
    theme: Theme = "light"
    name: str = "headlight_attention"
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "provenance", dict(self.provenance))
        check_theme(self.theme)
        check_kind(self.kind)

    @cached_property
    def fingerprint(self) -> str:
        """Equal for figures that are equal in every number, word and origin; the key wherever figures are kept."""
        return fingerprint(self)


@dataclass(frozen=True, kw_only=True)
class HeatmapFigure(Figure):
    """One or more attention maps, and every word drawn or written with them.

    Args:
        panels: The maps, row by row of the figure.
        query_title: Title of the rows of each panel, in the reader's language.
        key_title: Title of the columns of each panel.
        columns: Panels beside each other; 0 puts all into one row.
        scale_title: Label of the colour bar.
        difference_title: Label of the colour bar of differences, when there are any.
        note_title: Heading of the second row labels, when the panels have them.
        tile_note: Shown below the figure when its panels are too small for labels.
        masked_note: What a hatched cell means; drawn below the figure.
        masked_cell: The same for the text under the pointer.
        draw_notes: Whether the second row labels are drawn; they are in hover texts and data in any case.
        row_titles: A label for each row of panels, such as "layer 1"; or empty.
        row_groups: Titles of groups of rows of panels, each with its number of rows, from the top; or empty.
        room_queries: Labels for which rows are kept free in every panel, though it may not have them yet: steps of a
            decoding then stand at the same places.
        room_keys: The same for the columns.

    Raises:
        ValueError: There is no panel, or an option has a value that is not allowed.
    """

    panels: Sequence[HeatmapPanel]
    query_title: str
    key_title: str
    columns: int = 0
    scale_title: str = "attention weight"
    difference_title: str = "difference"
    note_title: str = ""
    tile_note: str = ""
    masked_note: str = ""
    masked_cell: str = "masked"
    draw_notes: bool = False
    row_titles: Sequence[str] = ()
    row_groups: Sequence[tuple[str, int]] = ()
    room_queries: Sequence[str] = ()
    room_keys: Sequence[str] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("panels", "row_titles", "row_groups", "room_queries", "room_keys"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.panels:
            raise ValueError("a figure needs at least one panel")
        if self.columns < 0:
            raise ValueError(f"columns is {self.columns}, but must be 0 (all in one row) or positive")
        object.__setattr__(self, "columns", min(self.columns or len(self.panels), len(self.panels)))
        if self.row_titles and len(self.row_titles) != self.rows:
            raise ValueError(f"row_titles has {len(self.row_titles)} entries, but the figure has {self.rows} rows")
        if self.row_groups and sum(count for _, count in self.row_groups) != self.rows:
            raise ValueError(f"row_groups have {sum(n for _, n in self.row_groups)} rows, the figure {self.rows}")

    @property
    def rows(self) -> int:
        """Rows of panels."""
        return -(-len(self.panels) // self.columns)

    @property
    def largest(self) -> tuple[int, int]:
        """Most rows and most columns of a panel."""
        return max(len(p.query_labels) for p in self.panels), max(len(p.key_labels) for p in self.panels)

    @property
    def shares_labels(self) -> bool:
        """Whether all panels have the same labels."""
        return len({(panel.query_labels, panel.key_labels) for panel in self.panels}) == 1

    def panel_titles(self, *, letters: bool) -> tuple[str, ...]:
        """Return the titles of the panels; in a table with titled rows, only of its first row."""
        if self.row_titles:
            return tuple(panel.title if i < self.columns else "" for i, panel in enumerate(self.panels))
        if not letters or len(self.panels) == 1:
            return tuple(panel.title for panel in self.panels)
        return tuple(f"({_letter(i)}) {panel.title}".rstrip() for i, panel in enumerate(self.panels))

    def color_maps(self, style: Style) -> tuple[ColorMap, ColorMap]:
        """Return the one map of all weights, or numbers, and that of all differences."""
        differences = differences_map(self.differences, style, self.theme)
        if not self.weights or not all(isinstance(p, NumbersPanel | DifferencePanel) for p in self.panels):
            return weights_map(self.weights, style, self.theme), differences
        numbers = np.concatenate([array.ravel() for array in self.weights])
        return numbers_map(numbers, False, style, self.theme, base=0.0), differences

    @property
    def weights(self) -> tuple[npt.NDArray[np.floating[Any]], ...]:
        """The attention weights of all panels that have them."""
        return tuple(panel.weights for panel in self.panels if not isinstance(panel, DifferencePanel))

    @property
    def differences(self) -> tuple[npt.NDArray[np.floating[Any]], ...]:
        """The differences of all panels that have them."""
        return tuple(panel.weights for panel in self.panels if isinstance(panel, DifferencePanel))


def _letter(index: int) -> str:
    """Letter of a panel: a, b, ..., z, aa, ab, ..."""
    before, last = divmod(index, 26)
    return (_letter(before - 1) if before else "") + chr(ord("a") + last)


def check_kind(kind: str) -> None:
    """Raise ValueError unless `kind` is empty or one of the kinds of attention."""
    if kind and kind not in KIND_COLORS:
        raise ValueError(f"kind is {kind!r}, but must be empty or one of {', '.join(KIND_COLORS)}")


def display_label(label: str, max_width: int | None = None) -> str:
    """Return a label as it is drawn: the tokenizer's space removed, the invisible made visible, the long cut short.

    Args:
        label: A token or a word.
        max_width: Characters at most (Korean, Chinese and Japanese ones count twice); None for no limit.
    """
    text = label.replace(WORD_BOUNDARY, "")
    if not text:
        return "\u2423" if label else "\u2205"  # a lone space; a label without any character
    text = "".join(_visible(character) for character in text)
    if max_width is None or _width(text) <= max_width:
        return text
    start = ""
    for character in text:
        if _width(start + character) > max_width - 1:
            break
        start += character
    return start.rstrip("\u200d") + _ELLIPSIS


def word_starts(words: Sequence[int] | None) -> tuple[int, ...]:
    """Positions at which a new word starts, the first position left out; empty without word numbers."""
    if words is None:
        return ()
    return tuple(i for i in range(1, len(words)) if words[i] != words[i - 1])


def _visible(character: str) -> str:
    code = ord(character)
    never_text = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF  # noncharacters, which XML forbids
    if never_text or character in _BIDI_CONTROLS or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
        return "\ufffd"
    return character


def _width(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)
