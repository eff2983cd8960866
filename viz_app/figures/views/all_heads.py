"""All heads of the model."""

from __future__ import annotations

from viz_app.figures.build.heads import all_kinds
from viz_app.figures.views.view import View

VIEW = View(
    name="all",
    order=40,
    label={"en": "All heads of the model", "ko": "모델의 모든 헤드"},
    parameters=("unit", "step"),
    make=all_kinds,
)
