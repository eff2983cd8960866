"""The phrase-structure tree of a parser's sentence."""

from __future__ import annotations

from viz_app.figures.build.parse import tree
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.views.view import View

VIEW = View(
    name="tree",
    order=85,
    label={"en": "Phrase-structure tree", "ko": "구문 트리"},
    parameters=("parse", "layer", "head", "step"),
    make=tree,
    kind=ConstituencyFigure,
    of_parsers=True,
)
