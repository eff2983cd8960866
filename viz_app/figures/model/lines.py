"""Figures of lines between two columns of tokens, as in Figures 3 to 5 of the paper: thicker means more attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice

from viz_app.figures.colours.palette import Theme
from viz_app.figures.model.figure import Figure, HeatmapPanel

# Okabe and Ito's colours (2008), told apart with every common kind of colour vision, but an indigo for their yellow,
# which is too light for lines on white. On a dark page lighter ones.
HEAD_COLORS = {
    "light": ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#1a1d24", "#4a3cd0"),
    "dark": ("#56B4E9", "#F5843B", "#2FC79A", "#E3A0C6", "#E69F00", "#3C86C2", "#f2f4f8", "#785aff"),
}


def head_colors(theme: Theme, count: int) -> tuple[str, ...]:
    """Return `count` colours; they repeat after eight."""
    return tuple(islice(cycle(HEAD_COLORS[theme]), count))


@dataclass(frozen=True, kw_only=True)
class LinesFigure(Figure):
    """Lines from each query on the left to the keys on the right that it looks at.

    Args:
        panels: One or more heads with the same labels; with several, each has a colour of its own.
        query_title: Title of the left column.
        key_title: Title of the right column.
        query: The one query (from 0) whose lines are drawn; the others stand in grey. None for all.
        least: Weights below are not drawn.
        scale_title: What the strength of a line means.
        line_note: The same as a line below the figure.

    Raises:
        ValueError: The panels do not share their labels, or the query does not exist.
    """

    panels: Sequence[HeatmapPanel]
    query_title: str
    key_title: str
    query: int | None = None
    least: float = 0.01
    scale_title: str = "attention weight"
    line_note: str = ""
    name: str = "headlight_lines"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "panels", tuple(self.panels))
        if not self.panels:
            raise ValueError("a figure of lines needs at least one head")
        if len({(panel.query_labels, panel.key_labels) for panel in self.panels}) > 1:
            raise ValueError("the heads of a figure of lines have different labels, but must share them")
        count = len(self.panels[0].query_labels)
        if self.query is not None and not 0 <= self.query < count:
            raise ValueError(f"query is {self.query}, but must be between 0 and {count - 1} (counted from 0)")
        if not 0 <= self.least < 1:
            raise ValueError(f"least is {self.least}, but must be at least 0 and below 1")

    @property
    def colors(self) -> tuple[str, ...]:
        """A colour for each head."""
        return head_colors(self.theme, len(self.panels))

    def links(self) -> list[tuple[int, int, int, float]]:
        """(panel, query, key, weight) of every line that is drawn, weakest first, so that strong ones lie on top."""
        rows = range(len(self.panels[0].query_labels)) if self.query is None else (self.query,)
        lines = [
            (number, row, column, float(panel.weights[row, column]))
            for number, panel in enumerate(self.panels)
            for row in rows
            for column in range(panel.weights.shape[1])
            if panel.weights[row, column] >= self.least
        ]
        return sorted(lines, key=lambda link: link[3])
