"""Input of every builder: the options of a figure, and the maps, search, parse or atlas it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from transformer_core.attention_maps import AttentionMaps
from viz_app.figures.colours.palette import Theme
from viz_app.figures.model.arrays import Maps
from viz_app.figures.model.slicing import AttentionSlice, cut_maps
from viz_app.figures.options import FigureOptions
from viz_app.text import texts

if TYPE_CHECKING:
    from transformer_core.atlas.measures import Measure
    from transformer_core.atlas.record import Atlas
    from transformer_core.decoding.beam import Node
    from transformer_core.text.tokenizer import Tokenizer
    from transformer_core.translator import Translation
    from viz_app.figures.build.flow import Flows
    from viz_app.figures.build.parse import ParserOutput


@dataclass(frozen=True)
class Search:
    """A beam search to be drawn.

    Args:
        history: Every candidate, as `transformer_core.decoding.beam` keeps them.
        best: Index of the last node of the translation that was chosen.
        text: That translation.
        score: Its score.
        token: Text of a token id.
    """

    history: Sequence[Node]
    best: int
    text: str
    score: float
    token: Callable[[int], str]

    @classmethod
    def from_translation(cls, translation: Translation, tokenizer: Tokenizer) -> Search:
        """Return the search that found a translation."""
        best = translation.hypotheses[0]
        return cls(translation.history, best.node, translation.text, best.score, tokenizer.token)


@dataclass(frozen=True, kw_only=True)
class Request(FigureOptions):
    """Options of a figure, and what it is made of; a view takes what it needs.

    Args:
        maps: Maps of the sentence; None for the views "beam" and "flow".
        other: Maps of B of "compare"; None for the same sentence.
        search: The beam search of "beam".
        parse: What a parser generated; None for other models.
        flows: Flows of the translation, for "flow".
        atlas: The head atlas of the model, for "grid" and "pruning".
        means: Means of heads over a data set, for "grid" instead of the atlas.
        theme: "light" or "dark".
        provenance: Checkpoint, hash, sentence, command, ...; written into every file.
    """

    maps: Maps | None = None
    other: Maps | None = None
    search: Search | None = None
    parse: ParserOutput | None = None
    flows: Flows | None = None
    atlas: Atlas | None = None
    means: Measure | None = None
    theme: Theme = "light"
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def require_maps(self) -> Maps:
        """Return the maps. Raises ValueError without."""
        if self.maps is None:
            raise ValueError("maps are missing: this view draws attention maps")
        return self.maps

    @property
    def require_atlas(self) -> Atlas:
        """Return the head atlas. Raises ValueError without."""
        if self.atlas is None:
            raise ValueError("this model has no head atlas; the command atlas of transformer_core measures one")
        return self.atlas

    @property
    def require_decoding(self) -> AttentionMaps:
        """Return the maps of a decoding. Raises ValueError for own arrays, which have no steps."""
        if not isinstance(self.require_maps, AttentionMaps):
            raise ValueError("own arrays have no decoding; the views all, steps and decoding need a model's maps")
        return self.require_maps

    @property
    def attention(self) -> AttentionSlice:
        """Return the maps cut to the step and merged to the unit. Raises ValueError for what does not exist."""
        self.require_maps.weights(self.kind)  # refuses an unknown kind
        return AttentionSlice(
            maps=cut_maps(self.require_maps, self.unit, self.step),
            kind=self.kind,
            unit=self.unit,
            upto=self.step,
            t=texts(self.language),
            theme=self.theme,
            provenance=self.provenance,
            of_parser=self.parse is not None,
        )
