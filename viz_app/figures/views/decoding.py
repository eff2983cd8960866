"""One head step by step, as an animation."""

from __future__ import annotations

from typing import Any, cast

from viz_app.figures.build.steps import decoding
from viz_app.figures.model.spec import Figure
from viz_app.figures.views.view import PLACE, Request, View


def _make(r: Request) -> Figure:
    return decoding(r.require_decoding, cast(Any, r.kind), r.layer, r.head, unit=r.unit, **r.shared)


VIEW = View(
    name="decoding",
    order=70,
    label={"en": "Decoding as an animation", "ko": "디코딩 애니메이션"},
    parameters=PLACE,
    required=("layer", "head"),
    make=_make,
    moves=True,
)
