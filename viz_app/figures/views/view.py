"""What a view is, and what it may be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from transformer_core.attention_maps import AttentionMaps
from viz_app.figures.build.beam import Search
from viz_app.figures.colours.palette import Theme
from viz_app.figures.model.arrays import AnyKind, Maps
from viz_app.figures.model.slicing import Unit
from viz_app.figures.model.spec import Figure, HeatmapFigure

PLACE = ("kind", "layer", "head", "unit")  # parameters of a view of one head


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
        step: Pieces written so far; None for all.
        steps: The steps of "steps"; empty for four.
        unit: "pieces" or "words".
        other: Maps of B of "compare"; None for the same sentence.
        other_kind: Kind of B; None for the same.
        other_layer: Layer of B; None for the same.
        other_head: Head of B; None for the same.
        names: What A and B are called.
        aligned: Whether different tokens are aligned for the difference.
        search: The beam search of "beam".
        pruned: Whether "beam" draws pruned candidates.
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
    unit: Unit = "pieces"
    other: Maps | None = None
    other_kind: AnyKind | None = None
    other_layer: int | None = None
    other_head: int | None = None
    names: tuple[str, str] = ("", "")
    aligned: bool = False
    search: Search | None = None
    pruned: bool = True
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
    def require_decoding(self) -> AttentionMaps:
        """The maps of a decoding. Raises ValueError for own arrays, which have no steps."""
        if not isinstance(self.require_maps, AttentionMaps):
            raise ValueError("own arrays have no decoding; the views all, steps and decoding need a model's maps")
        return self.require_maps

    @property
    def shared(self) -> dict[str, Any]:
        """What every builder takes."""
        return {"language": self.language, "theme": self.theme, "provenance": self.provenance}


@dataclass(frozen=True, kw_only=True)
class View:
    """One view.

    Args:
        name: Its name, as on the command line.
        order: Its place in menus, small numbers first.
        label: What the page Figures calls it, by the code of the language.
        parameters: Names of the fields of Request that change it, besides language, theme and provenance.
        required: Those of them that a command must name.
        make: From a request to a figure.
        kind: The kind of figure that it is; of an animation, that of its frames.
        moves: Whether it is an animation.
    """

    name: str
    order: int
    label: Mapping[str, str]
    parameters: tuple[str, ...]
    make: Callable[[Request], Figure]
    required: tuple[str, ...] = ()
    kind: type[Figure] = HeatmapFigure
    moves: bool = False

    def figure(self, **parameters: Any) -> Figure:
        """The figure for these fields of a Request; those that this view does not need make no difference.

        Raises:
            ValueError: A parameter does not exist or has a value that is not allowed.
        """
        known = [each.name for each in fields(Request)]
        if unknown := [name for name in parameters if name not in known]:
            raise ValueError(f"parameter {unknown[0]!r} of a view does not exist; allowed are {', '.join(known)}")
        return self.make(Request(**parameters))
