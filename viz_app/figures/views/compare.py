"""Two heads, sentences or models side by side, with their difference."""

from __future__ import annotations

from viz_app.figures.build.comparison import comparison
from viz_app.figures.views.view import PLACE, View

VIEW = View(
    name="compare",
    order=90,
    label={"en": "Two heads compared", "ko": "두 헤드 비교"},
    parameters=(*PLACE, "other", "other_kind", "other_layer", "other_head", "names", "step"),
    required=("layer", "head"),
    make=comparison,
)
