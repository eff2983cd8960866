"""Beam trees."""

from __future__ import annotations

from tests.app.figures.samples import TOKENS
from viz_app.figures import (
    VIEWS,
    BeamTreeFigure,
    Search,
)


def test_a_beam_tree_has_every_candidate_and_the_path_of_the_best(search: Search) -> None:
    figure = VIEWS["beam"].figure(search=search)
    assert isinstance(figure, BeamTreeFigure)
    assert [n.parent for n in figure.nodes] == [-1, -1, -1, 0, 1, 0, 4, 3]
    assert [i for i, n in enumerate(figure.nodes) if n.best] == [1, 4, 6]
    assert figure.ranks() == (0, 1, 2, 0, 1, 2, 0, 1)
    assert "scored 8 candidates in 3 steps and kept 6" in figure.caption
    kept = VIEWS["beam"].figure(search=search, pruned=False, step=2)
    assert isinstance(kept, BeamTreeFigure)
    assert [(n.label, n.parent) for n in kept.nodes] == [
        (TOKENS[0], -1),
        (TOKENS[2], -1),
        (TOKENS[1], 0),
        (TOKENS[5], 1),
    ]
