"""The tree of a beam search."""

from __future__ import annotations

from viz_app.figures.build.beam import beam_tree
from viz_app.figures.model.spec import Figure
from viz_app.figures.model.tree import TreeFigure
from viz_app.figures.views.view import Request, View


def _make(r: Request) -> Figure:
    if r.search is None:
        raise ValueError("search is missing: the view beam draws a beam search")
    return beam_tree(r.search, pruned=r.pruned, upto=r.step, **r.shared)


VIEW = View(
    name="beam",
    order=80,
    label={"en": "Beam search", "ko": "빔 서치"},
    parameters=("search", "pruned", "step"),
    make=_make,
    kind=TreeFigure,
)
