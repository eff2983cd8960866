"""All heads of the model."""

from __future__ import annotations

from viz_app.figures.build.heads import all_kinds
from viz_app.figures.model.spec import Figure
from viz_app.figures.views.view import Request, View


def _make(r: Request) -> Figure:
    return all_kinds(r.require_decoding, unit=r.unit, upto=r.step, **r.shared)


VIEW = View(
    name="all",
    order=40,
    label={"en": "All heads of the model", "ko": "모델의 모든 헤드"},
    parameters=("unit", "step"),
    make=_make,
)
