"""What a view is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from viz_app.figures.build.request import Request
from viz_app.figures.model.figure import Figure, HeatmapFigure

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
        parameters: Names of the fields of Request that change it, besides language, theme and provenance.
        required: Those of them that a command must name.
        make: From a request to a figure.
        kind: The kind of figure that it is; of an animation, that of its frames.
        moves: Whether it is an animation.
        of_parsers: Whether only parsers have it: models that generate the brackets of a tree.
        of_atlas: Of a view of a model's head atlas, which needs no sentence: whether an atlas has what it shows. None
            for a view of attention.
    """

    name: str
    order: int
    label: Mapping[str, str]
    parameters: tuple[str, ...]
    make: Callable[[Request], Figure]
    required: tuple[str, ...] = ()
    kind: type[Figure] = HeatmapFigure
    moves: bool = False
    of_parsers: bool = False
    of_atlas: Callable[[Atlas], bool] | None = None

    def figure(self, **parameters: Any) -> Figure:
        """The figure for these fields of a Request; those that this view does not need make no difference.

        Raises:
            ValueError: A parameter does not exist or has a value that is not allowed.
        """
        known = [each.name for each in fields(Request)]
        if unknown := [name for name in parameters if name not in known]:
            raise ValueError(f"parameter {unknown[0]!r} of a view does not exist; allowed are {', '.join(known)}")
        return self.make(Request(**parameters))
