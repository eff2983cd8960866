"""Two maps compared: their difference, its tokens and its colours."""

from __future__ import annotations

import numpy as np
import pytest

from tests.app.figures.conftest import make_maps
from tests.app.figures.samples import drawn, pixels_of
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import (
    Style,
)
from viz_app.figures.colours.scales import diverging


def test_a_comparison_is_b_minus_a(maps: AttentionMaps) -> None:
    figure = drawn("compare", maps=maps, kind="cross", layer=0, head=0, other_layer=3, other_head=2)
    a, b, difference = figure.panels
    np.testing.assert_array_equal(difference.weights, b.weights - a.weights)
    np.testing.assert_array_equal(b.weights, maps.cross[3, 2])
    row, column = np.unravel_index(np.abs(difference.weights).argmax(), difference.weights.shape)
    points = round(abs(float(difference.weights[row, column])) * 100)
    assert f"{points} percentage points" in figure.caption


def test_different_tokens_of_two_sentences_are_aligned_unless_it_is_declined() -> None:
    one = make_maps(("\u2581the", "\u2581dog", "\u2581barks"), ("\u2581der",), layers=1, heads=1)
    two = make_maps(("\u2581the", "\u2581old", "\u2581dog", "\u2581barks"), ("\u2581der",), layers=1, heads=1, seed=1)
    apart = drawn("compare", maps=one, other=two, kind="encoder", aligned=False)
    assert len(apart.panels) == 2
    assert "difference is not drawn" in apart.caption
    assert apart.provenance["view"]["aligned"] is False, "for the command"
    aligned = drawn("compare", maps=one, other=two, kind="encoder")
    difference = aligned.panels[2]
    assert difference.key_labels == ("\u2581the", "\u2581dog", "\u2581barks", "</s>")
    kept = [0, 2, 3, 4]
    np.testing.assert_array_equal(difference.weights, two.encoder[0, 0][np.ix_(kept, kept)] - one.encoder[0, 0])


def test_two_kinds_in_one_sentence_are_aligned_only_on_demand(hand_made: AttentionMaps) -> None:
    for aligned, panels in ((None, 2), (False, 2), (True, 3)):
        figure = drawn("compare", maps=hand_made, kind="encoder", other_kind="cross", aligned=aligned)
        assert len(figure.panels) == panels


def test_differences_have_their_own_scale(hand_made: AttentionMaps) -> None:
    figure = drawn("compare", maps=hand_made, kind="cross", head=0, other_head=1)
    difference = figure.panels[2].weights.astype(float)  # the largest is -0.76: the scale ends at 0.8
    assert np.abs(difference).max() == pytest.approx(0.76, abs=1e-6)
    places = np.rint((difference / 0.8 + 1) / 2 * 256).astype(int)
    np.testing.assert_array_equal(pixels_of(figure, Style(), panel=2), diverging("light")[places])
