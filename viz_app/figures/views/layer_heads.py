"""The heads of a layer side by side."""

from __future__ import annotations

from viz_app.figures.build.heads import layer_heads
from viz_app.figures.views.view import View

VIEW = View(
    name="layer",
    order=20,
    label={"en": "The heads of a layer", "ko": "한 층의 모든 헤드"},
    parameters=("kind", "layer", "unit", "step"),
    required=("layer",),
    make=layer_heads,
)
