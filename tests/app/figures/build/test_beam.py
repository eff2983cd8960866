"""Figures of the search and of its steps."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.app.figures.samples import TOKENS, drawn
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import (
    HeatmapFigure,
    Search,
    Style,
    export,
    formats_of,
)
from viz_app.figures.mpl import heatmaps, renderer


def test_a_beam_tree_has_every_candidate_and_the_path_of_the_best(search: Search) -> None:
    figure = drawn("beam", search=search)
    assert [n.parent for n in figure.nodes] == [-1, -1, -1, 0, 1, 0, 4, 3]
    assert [i for i, n in enumerate(figure.nodes) if n.best] == [1, 4, 6]
    assert figure.ranks() == (0, 1, 2, 0, 1, 2, 0, 1)
    assert "scored 8 candidates in 3 steps and kept 6" in figure.caption
    kept = drawn("beam", search=search, pruned=False, step=2)
    assert [(n.label, n.parent) for n in kept.nodes] == [
        (TOKENS[0], -1),
        (TOKENS[2], -1),
        (TOKENS[1], 0),
        (TOKENS[5], 1),
    ]


def test_steps_stand_at_the_same_places(maps: AttentionMaps) -> None:
    figure = drawn("steps", maps=maps, kind="decoder", layer=1, head=1, steps=(2, 5, 8))
    assert [panel.weights.shape for panel in figure.panels] == [(2, 2), (5, 5), (8, 8)]
    for panel, step in zip(figure.panels, (2, 5, 8), strict=True):
        np.testing.assert_array_equal(panel.weights, maps.decoder[1, 1, :step, :step])
    with renderer.drawing_settings():
        layout = heatmaps.plan(figure, Style())
    assert len({top for _, top in layout.panels}) == 1
    assert layout.slot == (8 * layout.cell, 8 * layout.cell)
    four = drawn("steps", maps=maps, kind="cross")
    assert [len(panel.weights) for panel in four.panels] == [2, 4, 6, 8]


def test_a_decoding_has_a_frame_for_each_token(maps: AttentionMaps) -> None:
    figure = drawn("decoding", maps=maps, kind="cross", layer=1, head=1)
    frames = [frame for frame in figure.frames if isinstance(frame, HeatmapFigure)]
    assert [len(frame.panels[0].weights) for frame in frames] == list(range(1, 9))
    assert formats_of(figure) == ("gif", "csv", "npz", "json")
    with pytest.raises(ValueError, match="format is 'pdf', but must be one of gif, csv, npz, json"):
        export(figure, "pdf")


def test_a_gif_has_every_step_and_says_where_it_comes_from(small: AttentionMaps) -> None:
    animation = drawn("decoding", maps=small, kind="decoder", provenance={"sentence": "한국어"})
    picture: Any = Image.open(io.BytesIO(export(animation, "gif", dpi=60)))
    assert picture.n_frames == 4
    assert picture.info["loop"] == 0
    assert json.loads(picture.info["comment"])["sentence"] == "한국어"
    frames = []
    for number in range(picture.n_frames):
        picture.seek(number)
        frames.append(np.asarray(picture.convert("RGB")).copy())
    assert len({frame.shape for frame in frames}) == 1
    assert all((one != two).any() for one, two in pairwise(frames))
