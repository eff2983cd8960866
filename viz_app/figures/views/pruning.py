"""Scores against the number of heads that are left."""

from __future__ import annotations

from viz_app.figures.build.atlas import pruned_groups, pruning_curves
from viz_app.figures.model.charts import CurvesFigure
from viz_app.figures.views.view import View

VIEW = View(
    name="pruning",
    order=110,
    label={"en": "Atlas: scores by heads left", "ko": "아틀라스: 남은 헤드 수에 따른 점수"},
    make=pruning_curves,
    kind=CurvesFigure,
    of_atlas=lambda atlas: bool(pruned_groups(atlas)),
)
