"""All heads of a kind, a row for each layer."""

from __future__ import annotations

from viz_app.figures.build.heads import all_heads
from viz_app.figures.views.view import View

VIEW = View(
    name="heads",
    order=30,
    label={"en": "All heads of a kind", "ko": "한 종류의 모든 헤드"},
    parameters=("kind", "unit", "step"),
    make=all_heads,
)
