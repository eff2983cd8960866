"""Attention of any other model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.app.figures.conftest import softmax
from tests.app.figures.samples import all_heads, layer_heads, one_head
from viz_app.figures import VIEWS, Request, export, head_lines, own_maps

QUERIES, KEYS = ["the", "dog", "barks"], ["[CLS]", "der", "Hund", "bellt"]


def weights(queries: int = 3, keys: int = 4, seed: int = 0) -> np.ndarray:
    return softmax(np.random.default_rng(seed).normal(0, 2, (2, 3, queries, keys)))


def test_own_arrays_make_the_same_figures() -> None:
    array = weights()
    maps = own_maps(array, QUERIES, KEYS)
    head = one_head(maps, "own", 1, 2)
    np.testing.assert_array_equal(head.panels[0].weights, array[1, 2])
    assert (head.query_title, head.key_title, head.kind) == ("query", "key", "")
    assert head.panels[0].key_labels == tuple(KEYS)
    assert head.caption.startswith("Head 2.3 attends from ")
    assert len(layer_heads(maps, "own", 0).panels) == 3
    assert len(all_heads(maps, "own").panels) == 6
    assert len(head_lines(Request(maps=maps, kind="own", heads=(0, 2))).panels) == 2
    for name in ("head", "layer", "heads", "lines", "compare"):
        figure = VIEWS[name].draw(maps=maps, kind="own", language="ko")
        assert figure.caption
        assert len(export(figure, "svg")) > 5_000


def test_lists_and_torch_tensors_are_arrays_too() -> None:
    torch = pytest.importorskip("torch")
    array = weights()
    for given in (array.tolist(), torch.tensor(array), array.astype(np.float64)):
        np.testing.assert_allclose(own_maps(given, QUERIES, KEYS).weights(), array, atol=1e-7)


def test_own_tokens_merge_to_words() -> None:
    array = weights()
    maps = own_maps(array, QUERIES, KEYS, key_words=[0, 1, 1, 2], query_words=[0, 0, 1])
    merged = one_head(maps, "own", 0, 0, unit="words").panels[0]
    assert merged.key_labels == ("[CLS]", "derHund", "bellt")
    first = (array[0, 0, 0] + array[0, 0, 1]) / 2
    np.testing.assert_allclose(merged.weights[0], [first[0], first[1] + first[2], first[3]], atol=1e-6)


def changed(place: tuple[int, ...], value: float) -> np.ndarray:
    array = weights()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": weights()[0]}, r"shape \(3, 3, 4\), but must be \(layers, heads, queries, keys\)"),
        ({"weights": np.ones((1, 0, 3, 4))}, "at least one of each"),
        ({"weights": np.array([[[["a"]]]])}, "must be real numbers"),
        ({"weights": weights().astype(complex)}, "must be real numbers"),
        ({"query_tokens": ["a"]}, "query_tokens has 1 tokens, but the weights have 3 queries"),
        ({"key_tokens": KEYS * 2}, "key_tokens has 8 tokens, but the weights have 4 keys"),
        ({"key_tokens": "abcd"}, "key_tokens is one text"),
        ({"query_tokens": ["a", 1, "b"]}, "query_tokens holds 1, but must hold texts only"),
        ({"weights": changed((1, 2, 0, 3), np.nan)}, "layer 1, head 2, query 0 .* holds NaN"),
        ({"weights": changed((0, 1, 2, 0), -0.5)}, "layer 0, head 1, query 2 .* negative weight.* before the softmax"),
        ({"weights": changed((0, 0, 1, 0), 7.0)}, "layer 0, head 0, query 1 .* above 1"),
        ({"weights": weights() * 0.5}, "layer 0, head 0, query 0 .* sums to 0.5000, but must sum to 1"),
        ({"key_words": [0, 2, 3, 4]}, "word numbers must start at 0"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        own_maps(**{"weights": weights(), "query_tokens": QUERIES, "key_tokens": KEYS, **arguments})
    assert "\n" not in str(error.value)


def test_own_arrays_are_copied_and_know_no_other_kind() -> None:
    array = weights()
    maps = own_maps(array, QUERIES, KEYS)
    array[:] = 0
    assert maps.weights().sum() == pytest.approx(2 * 3 * 3, abs=1e-4)
    with pytest.raises(ValueError, match="attention kind is 'cross', but own arrays have only 'own'"):
        one_head(maps, "cross", 0, 0)
    with pytest.raises(ValueError, match="own arrays have no decoding"):
        VIEWS["steps"].draw(maps=maps, kind="own")
