"""One head as a map of its weights."""

from __future__ import annotations

from viz_app.figures.build.heads import one_head
from viz_app.figures.views.view import PLACE, View

VIEW = View(
    name="head",
    order=10,
    label={"en": "One head", "ko": "헤드 하나"},
    parameters=(*PLACE, "step"),
    required=("layer", "head"),
    make=one_head,
)
