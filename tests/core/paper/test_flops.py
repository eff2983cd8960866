"""Counts against the built model, torch's counter, autograd and by hand; Table 1 against a search."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from tests.core.tiny import SPECIAL, inputs_for, padded, tiny_config, tiny_model
from transformer_core.config import ModelConfig, Precision
from transformer_core.model.masks import padding_mask
from transformer_core.model.restricted import window_mask
from transformer_core.model.transformer import Transformer, count_parameters
from transformer_core.paper.complexity import LAYERS, Layer, layer_cost
from transformer_core.paper.flops import (
    PAPER_RUNS,
    Work,
    forward_flops,
    memory_by_part,
    multiply_adds_by_part,
    parameters,
    parameters_by_part,
    training_flops,
)
from transformer_core.paper.presets import PRESETS, preset

OPTIONS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "attention_biases": True},
    {"tie": "target", "positions": "learned", "max_positions": 77},
    {"tie": "none", "output_bias": True},
    {"dropout": 0.1, "attention_dropout": 0.1, "activation_dropout": 0.1, "activation": "gelu"},
]
VARIANTS: list[dict[str, Any]] = [{"window": 2}, {"attention": "additive", "attention_biases": True}]
each_option = pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "paper")


@pytest.mark.parametrize("options", OPTIONS + VARIANTS, ids=lambda options: "-".join(options) or "paper")
def test_parameters_are_those_of_the_model(options: dict[str, Any]) -> None:
    config = tiny_config(**options)
    assert parameters(config) == count_parameters(Transformer(config))


@pytest.mark.parametrize("name", PRESETS)
def test_parameters_of_every_preset_are_those_of_the_model(name: str) -> None:
    with torch.device("meta"):
        assert parameters(preset(name).model) == count_parameters(Transformer(preset(name).model))


def test_parts_of_base_by_hand() -> None:
    parts = parameters_by_part(ModelConfig())
    assert parts["embeddings"] == 37_000 * 512
    assert parts["encoder self-attention"] == parts["encoder-decoder attention"] == 6 * 4 * 512 * 512
    assert parts["decoder feed-forward"] == 6 * (2 * 512 * 2048 + 2048 + 512)
    assert parts["norms"] == 6 * 5 * 2 * 512
    assert parts["positions"] == parts["output"] == 0


def test_operations_of_one_short_pair_by_hand() -> None:
    """d = 4, two heads with d_k = 1 and d_v = 3, d_ff = 5, V = 7; three source and two target positions."""
    config = ModelConfig(vocab_size=7, d_model=4, d_ff=5, num_layers=1, num_heads=2, d_k=1, d_v=3)
    assert multiply_adds_by_part(config, Work(sentences=1, source_length=3, target_length=2)) == {
        # A position: W^Q, W^K: 4 x 2; W^V: 4 x 6; W^O: 6 x 4. A pair: 2 scores of 1, 2 weighted values of 3.
        "encoder self-attention": 3 * (8 + 8 + 24 + 24) + 9 * 8,
        "encoder feed-forward": 3 * 2 * 20,
        "decoder self-attention": 2 * (8 + 8 + 24 + 24) + 4 * 8,
        "encoder-decoder attention": 2 * (8 + 24) + 3 * (8 + 24) + 6 * 8,
        "decoder feed-forward": 2 * 2 * 20,
        "output": 2 * 4 * 7,
    }


@each_option
@pytest.mark.parametrize("lengths", [(7, 5), (1, 9)])
def test_operations_against_torchs_counter(lengths: tuple[int, int], options: dict[str, Any]) -> None:
    model = tiny_model(**options).train()
    batch = inputs_for([lengths[0]] * 3, lengths[1])
    work = Work(sentences=3, source_length=lengths[0], target_length=lengths[1])
    with FlopCounterMode(display=False) as forward:
        out = model(*batch)
    assert forward.get_total_flops() == forward_flops(model.config, work)
    with FlopCounterMode(display=False) as backward:
        out.sum().backward()
    assert forward.get_total_flops() + backward.get_total_flops() == training_flops(model.config, work)
    model.requires_grad_(False)  # no gradient, so the fused kernel
    with FlopCounterMode(display=False) as fused:
        model(*batch)
    assert fused.get_total_flops() == forward_flops(model.config, work)


@pytest.mark.parametrize("length", [1, 2, 5, 9])
@pytest.mark.parametrize("window", [1, 2, 4, 20])
def test_pairs_within_a_window_against_counting_them(window: int, length: int) -> None:
    work = Work(sentences=1, source_length=length, target_length=length)
    for ahead in (False, True):
        whole = tiny_config(causal=not ahead)
        near = multiply_adds_by_part(whole.replace(window=window), work)
        full = multiply_adds_by_part(whole, work)
        for part, causal in (("encoder self-attention", False), ("decoder self-attention", not ahead)):
            hidden = int((~window_mask(length, length, window, causal)).sum())
            assert full[part] - near[part] == 2 * hidden * 4 * (3 + 5)  # layers, pairs, heads, d_k + d_v


def test_a_step_of_base_is_six_operations_for_each_weight_and_token() -> None:
    """The rule of thumb 6 N D with 25,000 tokens a side, plus scores and weighted values, minus norms and biases."""
    config = ModelConfig()
    work = Work(sentences=1000, source_length=25, target_length=25)
    unused = 6 * (5 * 2 * 512 + 2 * (2048 + 512))
    pairs = 6 * 3 * (2 * 512) * 1000 * 25 * 25
    assert training_flops(config, work) == 6 * 25_000 * (63_045_632 - unused) + 6 * pairs
    assert training_flops(config, work) * 100_000 == pytest.approx(9.5e17, rel=0.02)


def test_the_papers_own_estimate() -> None:
    assert PAPER_RUNS["base"].flops == 12 * 3600 * 8 * 9.5e12
    assert f"{PAPER_RUNS['base'].flops:.1e}" == "3.3e+18"  # as Table 2 prints it
    assert f"{PAPER_RUNS['big'].flops:.1e}" == "2.3e+19"


# --- memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    "options",
    [
        {"dropout": 0.0},
        {"dropout": 0.1, "norm": "pre"},
        {"dropout": 0.1, "attention_dropout": 0.1, "activation_dropout": 0.1, "activation": "gelu"},
    ],
    ids=str,
)
def test_activations_against_what_autograd_keeps(options: dict[str, Any], precision: Precision) -> None:
    model = Transformer(ModelConfig(vocab_size=50, d_model=64, d_ff=256, num_layers=2, num_heads=4, **options))
    source, target = padded([40] * 4), padded([30] * 4)
    mask = padding_mask(source, SPECIAL.pad)
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept: dict[int, Tensor] = {}

    def keep(value: Tensor) -> Tensor:
        place = value.untyped_storage().data_ptr()
        # Weights, and their copies in bfloat16, count elsewhere.
        if place not in weights and value.shape not in ((64, 64), (64, 256), (256, 64)):
            kept[place] = value
        return value

    dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
    with (
        torch.autograd.graph.saved_tensors_hooks(keep, lambda value: value),
        torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float32),
    ):
        model.decode(target, model.encode(source, mask), mask)
    measured = sum(value.untyped_storage().nbytes() for value in kept.values())
    told = memory_by_part(model.config, Work(sentences=4, source_length=40, target_length=30), precision)
    assert told["activations"] == pytest.approx(measured, rel=0.1)


def test_weights_gradients_and_moments_take_sixteen_bytes_each() -> None:
    told = memory_by_part(ModelConfig(), Work(sentences=1, source_length=1, target_length=1), "float32")
    assert told["weights"] + told["gradients"] + told["Adam's moments"] == 16 * 63_045_632
    assert told["weights in bfloat16"] == 0


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
