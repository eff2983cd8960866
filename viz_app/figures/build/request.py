"""What a figure of attention is made of: what any builder may be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from transformer_core.attention_maps import AttentionMaps
from viz_app.figures.colours.palette import Theme
from viz_app.figures.model.arrays import AnyKind, Maps
from viz_app.figures.model.slicing import AttentionSlice, Unit, slice_attention

if TYPE_CHECKING:
    from transformer_core.atlas.record import Atlas
    from transformer_core.decoding.beam import Node
    from transformer_core.text.tokenizer import Tokenizer
    from transformer_core.translator import Translation
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
        """The search that found a translation."""
        chosen = translation.hypotheses[0]
        return cls(translation.history, chosen.node, translation.text, chosen.score, tokenizer.token)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What any view may be asked; each takes what it needs. Layers, heads and queries count from 0, steps from 1.

    Args:
        maps: Maps of the sentence; None for the view "beam".
        kind: Which attention: "encoder", "decoder", "cross", or "own" for own arrays.
        layer: Layer.
        head: Head.
        heads: Heads of the layer, for "lines"; empty for `head` alone.
        query: The one query whose lines are drawn; None for all.
        step: Tokens written so far; None for all.
        steps: The steps of "steps"; empty for four.
        unit: "tokens" or "words".
        other: Maps of B of "compare"; None for the same sentence.
        other_kind: Kind of B; None for the same.
        other_layer: Layer of B; None for the same.
        other_head: Head of B; None for the same.
        names: What A and B are called.
        aligned: Whether different tokens are aligned for the difference.
        search: The beam search of "beam".
        pruned: Whether "beam" draws pruned candidates.
        parse: What a parser generated; None for other models.
        confidence: Whether "tree" tints constituents by their probability.
        atlas: The head atlas of the model, for "grid" and "pruning".
        measure: Which measure of it "grid" shows; empty for the first.
        group: Which heads "pruning" removes: those of a kind, or "all".
        score: "bleu" or "chrf".
        left: Heads that are left where "pruning" is read; None for no such place.
        language: "en" or "ko".
        theme: "light" or "dark".
        provenance: Checkpoint, hash, sentence, command, ...; written into every file.
    """

    maps: Maps | None = None
    kind: AnyKind = "cross"
    layer: int = 0
    head: int = 0
    heads: tuple[int, ...] = ()
    query: int | None = None
    step: int | None = None
    steps: tuple[int, ...] = ()
    unit: Unit = "tokens"
    other: Maps | None = None
    other_kind: AnyKind | None = None
    other_layer: int | None = None
    other_head: int | None = None
    names: tuple[str, str] = ("", "")
    aligned: bool = False
    search: Search | None = None
    pruned: bool = True
    parse: ParserOutput | None = None
    confidence: bool = False
    atlas: Atlas | None = None
    measure: str = ""
    group: str = "all"
    score: str = "bleu"
    left: int | None = None
    language: str = "en"
    theme: Theme = "light"
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def require_maps(self) -> Maps:
        """The maps. Raises ValueError without."""
        if self.maps is None:
            raise ValueError("maps are missing: this view draws attention maps")
        return self.maps

    @property
    def require_atlas(self) -> Atlas:
        """The head atlas. Raises ValueError without."""
        if self.atlas is None:
            raise ValueError("this model has no head atlas; the command atlas of transformer_core measures one")
        return self.atlas

    @property
    def require_decoding(self) -> AttentionMaps:
        """The maps of a decoding. Raises ValueError for own arrays, which have no steps."""
        if not isinstance(self.require_maps, AttentionMaps):
            raise ValueError("own arrays have no decoding; the views all, steps and decoding need a model's maps")
        return self.require_maps

    @property
    def attention(self) -> AttentionSlice:
        """The maps cut to the step and merged to the unit. Raises ValueError for what does not exist."""
        return slice_attention(
            self.require_maps,
            self.kind,
            self.language,
            self.theme,
            self.provenance,
            self.unit,
            self.step,
            of_parser=self.parse is not None,
        )
