"""Every view of attention by its name, with the same parameters for all: for the command line and for pages.

    figure = VIEWS["head"].figure(maps=maps, kind="cross", layer=3, head=5)

What a view needs is written into each figure's provenance, so that its name and parameters make the figure again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, cast

from transformer_core.attention_maps import AttentionMaps
from viz_app.figures.build.beam import Search, beam_tree
from viz_app.figures.build.comparison import comparison
from viz_app.figures.build.heads import all_heads, all_kinds, layer_heads, one_head
from viz_app.figures.build.lines import head_lines
from viz_app.figures.build.steps import decoding, decoding_steps
from viz_app.figures.colours.palette import Theme
from viz_app.figures.model.arrays import AnyKind, Maps
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.model.slicing import Unit
from viz_app.figures.model.spec import Figure, HeatmapFigure
from viz_app.figures.model.tree import TreeFigure


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


@dataclass(frozen=True)
class View:
    """One view.

    Args:
        name: Its name, as on the command line.
        parameters: Names of the fields of Request that change it, besides language, theme and provenance.
        make: From a request to a figure.
        kind: The kind of figure that it is; of an animation, that of its frames.
    """

    name: str
    parameters: tuple[str, ...]
    make: Callable[[Request], Figure]
    kind: type[Figure] = HeatmapFigure

    def figure(self, **parameters: Any) -> Figure:
        """The figure for these fields of a Request; those that this view does not need make no difference.

        Raises:
            ValueError: A parameter does not exist or has a value that is not allowed.
        """
        known = [each.name for each in fields(Request)]
        if unknown := [name for name in parameters if name not in known]:
            raise ValueError(f"parameter {unknown[0]!r} of a view does not exist; allowed are {', '.join(known)}")
        return self.make(Request(**parameters))


def _head(r: Request) -> Figure:
    return one_head(r.require_maps, r.kind, r.layer, r.head, unit=r.unit, upto=r.step, **r.shared)


def _layer(r: Request) -> Figure:
    return layer_heads(r.require_maps, r.kind, r.layer, unit=r.unit, upto=r.step, **r.shared)


def _heads(r: Request) -> Figure:
    return all_heads(r.require_maps, r.kind, unit=r.unit, upto=r.step, **r.shared)


def _all(r: Request) -> Figure:
    return all_kinds(r.require_decoding, unit=r.unit, upto=r.step, **r.shared)


def _lines(r: Request) -> Figure:
    heads = r.heads or (r.head,)
    return head_lines(r.require_maps, r.kind, r.layer, heads, query=r.query, unit=r.unit, upto=r.step, **r.shared)


def _steps(r: Request) -> Figure:
    return decoding_steps(r.require_decoding, cast(Any, r.kind), r.layer, r.head, r.steps, unit=r.unit, **r.shared)


def _decoding(r: Request) -> Figure:
    return decoding(r.require_decoding, cast(Any, r.kind), r.layer, r.head, unit=r.unit, **r.shared)


def _beam(r: Request) -> Figure:
    if r.search is None:
        raise ValueError("search is missing: the view beam draws a beam search")
    return beam_tree(r.search, pruned=r.pruned, upto=r.step, **r.shared)


def _compare(r: Request) -> Figure:
    return comparison(
        r.require_maps,
        r.kind,
        r.layer,
        r.head,
        other=r.other,
        other_kind=r.other_kind,
        other_layer=r.other_layer,
        other_head=r.other_head,
        names=r.names,
        aligned=r.aligned,
        unit=r.unit,
        upto=r.step,
        **r.shared,
    )


_PLACE = ("kind", "layer", "head", "unit")
_OTHER = ("other", "other_kind", "other_layer", "other_head", "names", "aligned")
VIEWS: dict[str, View] = {
    view.name: view
    for view in (
        View("head", (*_PLACE, "step"), _head),
        View("layer", ("kind", "layer", "unit", "step"), _layer),
        View("heads", ("kind", "unit", "step"), _heads),
        View("all", ("unit", "step"), _all),
        View("lines", ("kind", "layer", "head", "heads", "query", "unit", "step"), _lines, LinesFigure),
        View("steps", (*_PLACE, "steps"), _steps),
        View("decoding", _PLACE, _decoding),
        View("beam", ("search", "pruned", "step"), _beam, TreeFigure),
        View("compare", (*_PLACE, *_OTHER, "step"), _compare),
    )
}


def view_named(name: str) -> View:
    """A view. Raises ValueError for a name that is not one of VIEWS."""
    if name not in VIEWS:
        raise ValueError(f"view is {name!r}, but must be one of {', '.join(VIEWS)}")
    return VIEWS[name]
