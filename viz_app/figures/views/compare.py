"""Two heads, sentences or models side by side, with their difference."""

from __future__ import annotations

from viz_app.figures.build.comparison import comparison
from viz_app.figures.model.spec import Figure
from viz_app.figures.views.view import PLACE, Request, View


def _make(r: Request) -> Figure:
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


VIEW = View(
    name="compare",
    order=90,
    label={"en": "Two heads compared", "ko": "두 헤드 비교"},
    parameters=(*PLACE, "other", "other_kind", "other_layer", "other_head", "names", "aligned", "step"),
    required=("layer", "head"),
    make=_make,
)
