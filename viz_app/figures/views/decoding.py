"""One head step by step, as an animation."""

from __future__ import annotations

from viz_app.figures.build.steps import decoding
from viz_app.figures.views.view import PLACE, View

VIEW = View(
    name="decoding",
    order=70,
    label={"en": "Decoding as an animation", "ko": "디코딩 애니메이션"},
    parameters=PLACE,
    required=("layer", "head"),
    make=decoding,
    moves=True,
)
