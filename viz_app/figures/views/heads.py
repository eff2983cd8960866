"""All heads of a kind, a row for each layer."""

from __future__ import annotations

from viz_app.figures.build.heads import all_heads
from viz_app.figures.model.spec import Figure
from viz_app.figures.views.view import Request, View


def _make(r: Request) -> Figure:
    return all_heads(r.require_maps, r.kind, unit=r.unit, upto=r.step, **r.shared)


VIEW = View(
    name="heads",
    order=30,
    label={"en": "All heads of a kind", "ko": "한 종류의 모든 헤드"},
    parameters=("kind", "unit", "step"),
    make=_make,
)
