"""One head at some steps of the decoding, side by side."""

from __future__ import annotations

from viz_app.figures.build.steps import decoding_steps
from viz_app.figures.views.view import PLACE, View

VIEW = View(
    name="steps",
    order=60,
    label={"en": "Steps of the decoding", "ko": "디코딩 단계"},
    parameters=PLACE,
    required=("layer", "head"),
    make=decoding_steps,
)
