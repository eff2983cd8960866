"""One head as a map of its weights."""

from __future__ import annotations

from viz_app.figures.build.heads import one_head
from viz_app.figures.model.spec import Figure
from viz_app.figures.views.view import PLACE, Request, View


def _make(r: Request) -> Figure:
    return one_head(r.require_maps, r.kind, r.layer, r.head, unit=r.unit, upto=r.step, **r.shared)


VIEW = View(
    name="head",
    order=10,
    label={"en": "One head", "ko": "헤드 하나"},
    parameters=(*PLACE, "step"),
    required=("layer", "head"),
    make=_make,
)
