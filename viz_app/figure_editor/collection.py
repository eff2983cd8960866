"""The figures that a visitor has put aside on the page Figures, to take them all away at once.

A collection keeps the figures with their numbers, so that no model is needed later. So it has to be limited.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Literal

from viz_app.export import bundle
from viz_app.export.bundle import Turn
from viz_app.figure_editor.rendering import ExportableFigure
from viz_app.figures import Figure
from viz_app.figures.data_renderer import panels_of
from viz_app.text import texts

MAX_FIGURES = 24
MAX_WEIGHTS = 4_000_000  # float32: 16 MB in the memory of a session

Refusal = Literal["", "there", "full", "large"]


@dataclass(frozen=True)
class Collection:
    """Figures in the order in which they were put aside."""

    figures: tuple[ExportableFigure, ...] = ()

    def reason_refused(self, figure: ExportableFigure) -> Refusal:
        """Return why a figure cannot be added: it is there, too many figures, too many weights; "" when it can."""
        if figure.key in {each.key for each in self.figures}:
            return "there"
        if len(self.figures) >= MAX_FIGURES:
            return "full"
        held = sum(weights_in(each.figure) for each in self.figures)
        return "large" if held + weights_in(figure.figure) > MAX_WEIGHTS else ""

    def with_figure(self, figure: ExportableFigure) -> Collection:
        """Return the collection with this figure at the end. Raises ValueError when it is refused."""
        if why := self.reason_refused(figure):
            raise ValueError(f"the figure cannot be added: {why}")
        return Collection((*self.figures, figure))

    def without(self, key: str) -> Collection:
        """Return the collection without the figure that has this key."""
        return Collection(tuple(each for each in self.figures if each.key != key))

    def bundle(self, formats: Sequence[str], language: str, turn: Turn = nullcontext) -> bytes:
        """Return a zip of all figures in these formats, each as it was drawn, with an index in this language.

        `turn` is entered for each drawing.
        """
        title = texts(language)("figures_page.collection_title")
        return bundle([figure.item for figure in self.figures], formats, title=title, language=language, turn=turn)


def weights_in(figure: Figure) -> int:
    """Count the weights of a figure."""
    return sum(panel.weights.size for panel in panels_of(figure))
