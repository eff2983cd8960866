"""Lines between the tokens of both axes, for one head or several."""

from __future__ import annotations

from viz_app.figures.build.lines import head_lines
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.views.view import View

VIEW = View(
    name="lines",
    order=50,
    label={"en": "Lines between tokens", "ko": "토큰을 잇는 선"},
    parameters=("kind", "layer", "head", "unit", "step"),
    required=("layer",),
    make=head_lines,
    kind=LinesFigure,
)
