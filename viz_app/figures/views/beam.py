"""The tree of a beam search."""

from __future__ import annotations

from viz_app.figures.build.beam import beam_tree
from viz_app.figures.model.beam_tree import BeamTreeFigure
from viz_app.figures.views.view import View

VIEW = View(
    name="beam",
    order=80,
    label={"en": "Beam search", "ko": "빔 서치"},
    parameters=("search", "step"),
    make=beam_tree,
    kind=BeamTreeFigure,
)
