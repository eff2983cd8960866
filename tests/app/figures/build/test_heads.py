from __future__ import annotations

import numpy as np
import pytest

from tests.app.figures.samples import all_heads, layer_heads, one_head
from transformer_core.attention_maps import KINDS, AttentionMaps, Kind
from viz_app.figures import (
    FORMATS,
    MIME_TYPES,
    export,
    file_name,
    upto_step,
)


def test_rows_are_named_by_what_they_write_or_read(maps: AttentionMaps) -> None:
    cross = one_head(maps, "cross", 3, 5).panels[0]
    assert cross.query_labels == maps.outputs.tokens
    assert cross.key_labels == maps.source.tokens
    assert cross.query_notes == maps.inputs.tokens
    decoder = one_head(maps, "decoder", 3, 5).panels[0]
    assert decoder.query_labels == decoder.key_labels == maps.inputs.tokens
    assert decoder.query_notes == maps.outputs.tokens
    encoder = one_head(maps, "encoder", 3, 5).panels[0]
    assert encoder.query_labels == encoder.key_labels == maps.source.tokens
    assert encoder.query_notes is None


def test_a_step_shows_only_what_exists(maps: AttentionMaps) -> None:
    cross = one_head(maps, "cross", 0, 0, step=3)
    assert cross.panels[0].query_labels == maps.outputs.tokens[:3]
    assert cross.panels[0].key_labels == maps.source.tokens
    decoder = one_head(maps, "decoder", 0, 0, step=3).panels[0]
    assert decoder.weights.shape == (3, 3)
    assert one_head(maps, "encoder", 0, 0, step=3).panels[0].weights.shape == (7, 7)
    assert cross.provenance["step"] == 3
    assert cross.title.endswith(", step 3")
    assert not upto_step(maps, 3).finished
    assert upto_step(maps, 8).finished


def test_words_of_a_step_hold_only_the_tokens_that_exist(maps: AttentionMaps) -> None:
    """At step 2 the word "Hund" has only its first token."""
    panel = one_head(maps, "cross", 0, 0, unit="words", step=2).panels[0]
    assert panel.query_labels == ("Der", "Hu")
    np.testing.assert_allclose(panel.weights[1], _merged(maps)[1], atol=1e-6)


def _merged(maps: AttentionMaps) -> np.ndarray:
    """By hand: the source has a word for each token but the last two, "man" and "."."""
    weights = maps.cross[0, 0, :2]
    return np.concatenate([weights[:, :4], weights[:, 4:6].sum(axis=1, keepdims=True), weights[:, 6:]], axis=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("finished", [True, False])
def test_words_of_every_kind_make_a_figure(maps: AttentionMaps, kind: Kind, finished: bool) -> None:
    if not finished:  # cut off within a word: the words of inputs are more than those of outputs
        maps = upto_step(maps, 3)
    figure = one_head(maps, kind, 2, 2, unit="words")
    np.testing.assert_allclose(figure.panels[0].weights.sum(axis=1), 1, atol=1e-5)
    assert "\u2581" not in "".join(figure.panels[0].query_labels)
    assert figure.caption


def test_the_heads_of_a_layer_and_of_a_model(maps: AttentionMaps) -> None:
    layer = layer_heads(maps, "cross", 3)
    assert [panel.head for panel in layer.panels] == list(range(8))
    assert {panel.layer for panel in layer.panels} == {3}
    assert (layer.rows, layer.columns) == (2, 4)
    assert layer.panels[7].title == "head 8"
    model = all_heads(maps, "cross", language="ko")
    assert len(model.panels) == 48
    assert (model.panels[13].layer, model.panels[13].head) == (1, 5)
    assert model.row_titles[1] == "2층"
    np.testing.assert_array_equal(model.panels[13].weights, maps.cross[1, 5])


def test_file_names_count_from_one(maps: AttentionMaps) -> None:
    assert file_name(one_head(maps, "cross", 3, 5), "pdf") == "headlight_cross.4.6.pdf"
    assert file_name(layer_heads(maps, "decoder", 0, unit="words"), "csv") == "headlight_decoder.1_words.csv"
    assert file_name(all_heads(maps, "encoder", step=2), "png") == "headlight_encoder_all_step2.png"


def test_an_unknown_format_says_what_is_allowed(maps: AttentionMaps) -> None:
    figure = one_head(maps, "cross", 0, 0)
    for call in (export, file_name):
        with pytest.raises(ValueError, match="format is 'exe', but must be one of pdf, svg, png, tex, "):
            call(figure, "exe")
    assert tuple(MIME_TYPES) == FORMATS
