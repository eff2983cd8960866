"""All heads of the model, coloured by a measure of its atlas."""

from __future__ import annotations

from transformer_core.atlas.measures import measures
from viz_app.figures.build.atlas import head_grid
from viz_app.figures.model.charts import MatrixFigure
from viz_app.figures.views.view import View

VIEW = View(
    name="grid",
    order=100,
    label={"en": "Atlas: all heads by a measure", "ko": "아틀라스: 측정값으로 본 모든 헤드"},
    make=head_grid,
    kind=MatrixFigure,
    of_atlas=lambda atlas: bool(measures(atlas)),
)
