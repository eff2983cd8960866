"""View of attention, of a search, a tree or an atlas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from viz_app.figures.build.request import Request
from viz_app.figures.model.figure import Figure, HeatmapFigure
from viz_app.figures.option import declared
from viz_app.figures.options import ViewOptions, options_of
from viz_app.figures.text.chart_captions import with_caption

if TYPE_CHECKING:
    from transformer_core.atlas.record import Atlas

PLACE = ("kind", "layer", "head", "unit")  # parameters of a view of one head


@dataclass(frozen=True, kw_only=True)
class View:
    """One view.

    Args:
        name: Its name, as on the command line.
        order: Its place in menus, small numbers first.
        label: What the page Figures calls it, by the code of the language.
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
    order: int
    label: Mapping[str, str]
    make: Callable[[Request], Figure]
    parameters: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    kind: type[Figure] = HeatmapFigure
    moves: bool = False
    of_parsers: bool = False
    of_atlas: Callable[[Atlas], bool] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", tuple(dict.fromkeys((*self.parameters, *options_of(self.name)))))

    def figure(self, **parameters: Any) -> Figure:
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
