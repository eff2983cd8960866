"""Lines between the tokens of both axes, for one head or several."""

from __future__ import annotations

from viz_app.figures.build.lines import head_lines
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.model.spec import Figure
from viz_app.figures.views.view import Request, View


def _make(r: Request) -> Figure:
    return head_lines(
        r.require_maps, r.kind, r.layer, r.heads or (r.head,), query=r.query, unit=r.unit, upto=r.step, **r.shared
    )


VIEW = View(
    name="lines",
    order=50,
    label={"en": "Lines between tokens", "ko": "토큰을 잇는 선"},
    parameters=("kind", "layer", "head", "heads", "query", "unit", "step"),
    required=("layer",),
    make=_make,
    kind=LinesFigure,
)
