"""Table 1: the numbers of the paper, and path lengths against a search through the connections."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from transformer_core.paper.complexity import LAYERS, Layer, layer_cost


def heard(layer: Layer, number: int, position: int, n: int, k: int, r: int) -> set[int]:
    """The positions that a layer lets one position hear; layer `number` from the bottom, from 0."""
    if layer == "attention":
        return set(range(n))
    if layer == "recurrent":
        return {position - 1, position} & set(range(n))
    if layer == "restricted":
        return set(range(position - r, position + r + 1)) & set(range(n))
    if layer == "dilated":
        return {position - k**number * offset for offset in range(k)} & set(range(n))
    return set(range(position - k // 2, position + k // 2 + 1)) & set(range(n))


def searched_path(layer: Layer, n: int, k: int, r: int) -> int:
    """Layers until the last position knows of the first."""
    known, layers = {0}, 0
    while n - 1 not in known:
        assert layers < n, "the signal never arrives"
        known = {p for p in range(n) if heard(layer, layers, p, n, k, r) & known}
        layers += 1
    return layers


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(LAYERS), st.integers(1, 60), st.sampled_from([3, 5, 7]), st.integers(1, 12))
def test_paths_are_those_of_a_search(layer: Layer, n: int, k: int, r: int) -> None:
    assert layer_cost(layer, n=n, d=8, k=k, r=r).path == searched_path(layer, n, k, r)


def test_the_orders_of_the_table() -> None:
    n, d, k, r = 70, 512, 3, 8
    cost = {layer: layer_cost(layer, n=n, d=d, k=k, r=r) for layer in LAYERS}
    assert cost["attention"].operations == n * n * d
    assert cost["recurrent"].operations == n * d * d
    assert cost["convolution"].operations == cost["dilated"].operations == k * n * d * d
    assert cost["separable"].operations == k * n * d + n * d * d
    assert cost["restricted"].operations == r * n * d
    assert {layer: cost[layer].sequential for layer in LAYERS} == dict.fromkeys(LAYERS, 1) | {"recurrent": n}
    assert cost["attention"].path == 1
    assert cost["dilated"].path == math.ceil(math.log(n, k)) == 4


def test_a_separable_convolution_as_wide_as_the_sentence_costs_what_attention_and_feed_forward_cost() -> None:
    """Section 4: with k = n its complexity is that of a self-attention and a point-wise feed-forward layer."""
    n, d = 71, 512
    assert layer_cost("separable", n=n, d=d, k=n).operations == layer_cost("attention", n=n, d=d).operations + n * d * d


@given(st.integers(1, 2_000), st.integers(1, 2_000))
@example(512, 512)
@example(511, 512)
@example(513, 512)
def test_attention_is_cheaper_than_recurrence_exactly_while_n_is_less_than_d(n: int, d: int) -> None:
    """Section 4: self-attention is faster while the sequence length n is smaller than the width d."""
    attention, recurrent = (layer_cost(layer, n=n, d=d).operations for layer in ("attention", "recurrent"))
    assert (attention < recurrent) == (n < d)
    assert (attention == recurrent) == (n == d)


@pytest.mark.parametrize("changes", [{"n": 0}, {"d": 0}, {"k": 4}, {"k": 1}, {"r": 0}])
def test_numbers_outside_are_named(changes: dict[str, int]) -> None:
    (name,) = changes
    with pytest.raises(ValueError, match=f"{name} is"):
        layer_cost("attention", **({"n": 5, "d": 8} | changes))
    with pytest.raises(ValueError, match="must be one of attention"):
        layer_cost("nothing", n=5, d=8)  # type: ignore[arg-type]
