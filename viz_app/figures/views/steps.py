"""One head at some steps of the decoding, side by side."""

from __future__ import annotations

from typing import Any, cast

from viz_app.figures.build.steps import decoding_steps
from viz_app.figures.model.spec import Figure
from viz_app.figures.views.view import PLACE, Request, View


def _make(r: Request) -> Figure:
    return decoding_steps(r.require_decoding, cast(Any, r.kind), r.layer, r.head, r.steps, unit=r.unit, **r.shared)


VIEW = View(
    name="steps",
    order=60,
    label={"en": "Steps of the decoding", "ko": "디코딩 단계"},
    parameters=(*PLACE, "steps"),
    required=("layer", "head"),
    make=_make,
)
