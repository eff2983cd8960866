"""Every view of attention, of a search, a tree or an atlas, with the same parameters for all.

    figure = VIEWS["head"].figure(maps=maps, head="cross.4.6")

The table below is their only list: command line, page Figures and downloads follow from it. What a view needs is in the
provenance of each figure, so that its name and parameters make the figure again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from transformer_core.atlas.measures import measures
from viz_app.figures.build.atlas import head_grid, pruned_groups, pruning_curves
from viz_app.figures.build.beam import beam_tree
from viz_app.figures.build.comparison import comparison
from viz_app.figures.build.flow import flow
from viz_app.figures.build.heads import all_heads, all_kinds, layer_heads, one_head
from viz_app.figures.build.lines import head_lines
from viz_app.figures.build.parse import tree
from viz_app.figures.build.request import Request
from viz_app.figures.build.steps import decoding, decoding_steps
from viz_app.figures.model.beam_tree import BeamTreeFigure
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.model.figure import Figure, HeatmapFigure
from viz_app.figures.model.flow import FlowFigure
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.option import declared
from viz_app.figures.options import ViewOptions, indexed, options_of
from viz_app.figures.text.chart_captions import with_caption

if TYPE_CHECKING:
    from transformer_core.atlas.record import Atlas

PLACE = ("kind", "layer", "head", "unit")  # parameters of a view of one head
_HEAD = ("layer", "head")


@dataclass(frozen=True)
class View:
    """One view.

    Args:
        name: Its name, as on the command line.
        make: Builder of its figures.
        parameters: Names of the fields of Request that change it, besides language, theme and provenance. Options that
            name this view themselves are added.
        required: Parameters that a command must name.
        kind: The kind of figure that it is; of an animation, that of its frames.
        moves: Whether it is an animation.
        of_parsers: Whether only parsers have it: models that generate the brackets of a tree.
        of_atlas: Of a view of a model's head atlas, which needs no sentence: whether an atlas has what it shows. None
            for a view of attention.
    """

    name: str
    make: Callable[[Request], Figure]
    parameters: tuple[str, ...] = ()
    _: KW_ONLY
    required: tuple[str, ...] = ()
    kind: type[Figure] = HeatmapFigure
    moves: bool = False
    of_parsers: bool = False
    of_atlas: Callable[[Atlas], bool] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", tuple(dict.fromkeys((*self.parameters, *options_of(self.name)))))

    def figure(self, **parameters: Any) -> Figure:
        """Draw the figure for these fields of a Request, with heads and layers by their names.

        `head="cross.6.8"` or `layer="cross.6"` stand for kind, layer and head; `other_head` for head B of a comparison;
        `heads=("cross.6.1", "cross.6.3")` for several heads of lines. Own arrays have `own.1.2`.

        Raises:
            ValueError: A parameter does not exist or has a value that is not allowed.
        """
        return self.draw(**indexed(parameters))

    def draw(self, **parameters: Any) -> Figure:
        """Draw the figure for these fields of a Request. The view ignores fields that it does not need.

        The record of the figure names each option of the view that is not at its default.

        Raises:
            ValueError: A parameter does not exist or has a value that is not allowed.
        """
        known = [each.name for each in fields(Request)]
        if unknown := [name for name in parameters if name not in known]:
            raise ValueError(f"parameter {unknown[0]!r} of a view does not exist; allowed are {', '.join(known)}")
        request = Request(**{**parameters, "view": self.name})
        figure = self.make(request)
        if not figure.caption:  # of own numbers
            figure = with_caption(figure)
        record = dict(figure.provenance.get("view", {}))
        for name, each in declared(ViewOptions).items():
            if name in self.parameters and getattr(request, name) != each.default:
                record.setdefault(name, getattr(request, name))
        return replace(figure, provenance={**figure.provenance, "view": record})


_ALL = (  # in the order of menus
    View("head", one_head, (*PLACE, "step"), required=_HEAD),
    View("layer", layer_heads, ("kind", "layer", "unit", "step"), required=("layer",)),
    View("heads", all_heads, ("kind", "unit", "step")),
    View("all", all_kinds, ("unit", "step")),
    View("lines", head_lines, (*PLACE, "step"), required=("layer",), kind=LinesFigure),
    View("flow", flow, ("flows",), kind=FlowFigure),
    View("steps", decoding_steps, PLACE, required=_HEAD),
    View("decoding", decoding, PLACE, required=_HEAD, moves=True),
    View("beam", beam_tree, ("search", "step"), kind=BeamTreeFigure),
    View("tree", tree, ("parse", "layer", "head", "step"), kind=ConstituencyFigure, of_parsers=True),
    View(
        "compare",
        comparison,
        (*PLACE, "other", "other_kind", "other_layer", "other_head", "names", "step"),
        required=_HEAD,
    ),
    View("grid", head_grid, kind=MatrixFigure, of_atlas=lambda atlas: bool(measures(atlas))),
    View("pruning", pruning_curves, kind=CurvesFigure, of_atlas=lambda atlas: bool(pruned_groups(atlas))),
)
VIEWS = {view.name: view for view in _ALL}


def view_named(name: str) -> View:
    """Return a view. Raises ValueError for a name that is not one of VIEWS."""
    if name not in VIEWS:
        raise ValueError(f"view is {name!r}, but must be one of {', '.join(VIEWS)}")
    return VIEWS[name]
