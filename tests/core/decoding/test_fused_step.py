"""The fused step against its readable twin, when it is not applicable, and packed weights against plain ones."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from tests.core.tiny import SPECIAL, drawn_biases_and_norms, padded, tiny_model
from transformer_core import Transformer, capture, edit
from transformer_core.cpu import onednn, packed
from transformer_core.cpu.packed import PackedLinear
from transformer_core.cpu.topk import chunked_topk
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.model.masks import padding_mask

VARIANTS: tuple[dict[str, Any], ...] = (
    {},
    {"norm": "pre"},
    {"activation": "gelu"},
    {"activation": "swish"},
    {"positions": "learned", "max_positions": 16},
    {"tie": "none", "output_bias": True},
    {"attention_biases": True},
    {"window": 2},
    {"num_heads": 1, "d_k": 16, "d_v": 16},
    {"positions": "none", "scaled": False, "residual": False},
    {"scaled": False, "window": 2, "residual": False, "norm": "pre"},
)
STEPS = 6


def drawn(**options: Any) -> Transformer:
    return drawn_biases_and_norms(tiny_model(**options))


def start(model: Transformer, lengths: tuple[int, ...], beams: int) -> IncrementalDecoder:
    source = padded(lengths)
    mask = padding_mask(source, SPECIAL.pad)
    return IncrementalDecoder(model, model.encode(source, mask), mask, beams=beams, capacity=2)  # grows at 2 and 4


def steps(decoder: IncrementalDecoder, tokens: Tensor, sentences: int, record: bool = True) -> list[Tensor]:
    """Weights, if recorded, and logits of all steps; rows change places after each, half of the sentences leave."""
    rows = torch.arange(tokens.shape[0]).view(sentences, -1).roll(1, dims=1).flatten()
    results: list[Tensor] = []
    for t in range(STEPS):
        results.append(decoder.step(tokens[:, t : t + 1], results if record else None))
        decoder.reorder(rows)
    kept = decoder.keep_sentences(range(0, sentences, 2))
    decoder.reorder(torch.arange(tokens.shape[0]).view(sentences, -1)[kept].flatten())
    left = tokens[: len(kept) * (len(tokens) // sentences), :1]
    return [*results, decoder.step(left)]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("lengths", [(5,), (4, 4), (5, 2, 3)], ids=str)
@pytest.mark.parametrize("beams", [1, 3])
@torch.no_grad()
def test_both_paths_agree(options: dict[str, Any], lengths: tuple[int, ...], beams: int) -> None:
    model = drawn(**options)
    tokens = padded([STEPS] * (len(lengths) * beams), seed=5)
    fused, readable = start(model, lengths, beams), start(model, lengths, beams)
    assert fused.fused_step is not None
    readable.fused_step = readable.packed_projection = None
    torch.testing.assert_close(
        steps(fused, tokens, len(lengths)), steps(readable, tokens, len(lengths)), atol=1e-5, rtol=1e-5
    )


@torch.no_grad()
def test_bfloat16_agrees_as_far_as_it_can() -> None:
    model = drawn().bfloat16()
    tokens = padded([STEPS] * 6, seed=5)
    fused, readable = start(model, (5, 2), 3), start(model, (5, 2), 3)
    assert fused.fused_step is not None
    readable.fused_step = None
    torch.testing.assert_close(steps(fused, tokens, 2, False), steps(readable, tokens, 2, False), atol=0.1, rtol=0.05)


@torch.no_grad()
def test_a_source_of_padding_alone_takes_the_readable_path() -> None:
    decoder = start(tiny_model(), (3, 0), beams=2)
    assert decoder.fused_step is None
    assert bool(decoder.step(torch.full((4, 1), 5)).isfinite().all())


# --- not applicable ---------------------------------------------------------------------------------------------------


def _adapter(model: Transformer) -> None:
    class Adapted(nn.Linear):
        pass

    model.decoder.layers[0].get_submodule("feed_forward.w_1").__class__ = Adapted


def _own_forward(model: Transformer) -> None:
    layer = model.decoder.layers[1]
    layer.forward = layer.forward


def _two_formats(model: Transformer) -> None:
    model.decoder.layers[0].get_submodule("feed_forward_add_norm").double()


@pytest.mark.parametrize("change", [_adapter, _own_forward, _two_formats])
@torch.no_grad()
def test_only_supported_modules(change: Callable[[Transformer], None], model: Transformer) -> None:
    assert start(model, (3,), 1).fused_step is not None
    change(model)
    assert start(model, (3,), 1).fused_step is None


@torch.no_grad()
def test_additive_attention_is_left_to_the_readable_path() -> None:
    assert start(tiny_model(attention="additive"), (3,), 1).fused_step is None


def test_no_gradients_no_autocast(model: Transformer) -> None:
    assert start(model, (3,), 1).packed_projection is None
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        assert start(model, (3,), 1).packed_projection is None


@contextmanager
def _module_hook(module: nn.Module) -> Iterator[None]:
    handle = module.register_forward_hook(lambda *_: None)
    yield
    handle.remove()


@contextmanager
def _global_hook(model: Transformer) -> Iterator[None]:
    handle = nn.modules.module.register_module_forward_hook(lambda *_: None)
    yield
    handle.remove()


HOOKS: tuple[Callable[[Transformer], Any], ...] = (
    *(
        lambda model, point=point: capture(model, f"decoder.2.{point}")
        for point in ("head_outputs", "head_results", "attention_output", "ffn_output", "scale")
    ),
    lambda model: edit(model, "decoder.logits", lambda value, site: None),
    lambda model: _module_hook(model.get_submodule("decoder.layers.1.feed_forward.w_2")),
    lambda model: _module_hook(model.get_submodule("decoder.layers.0.self_attention.weights")),
    _global_hook,
)


@pytest.mark.parametrize("hooked", HOOKS)
@torch.no_grad()
def test_it_is_not_applicable_while_the_decoder_has_hooks(hooked: Callable[[Transformer], Any]) -> None:
    model = tiny_model()
    fused = start(model, (3,), 1).fused_step
    assert fused is not None
    assert fused.is_applicable()
    with hooked(model):
        assert not fused.is_applicable()
    assert fused.is_applicable()
    with torch.enable_grad():
        assert not fused.is_applicable()
    model.train()
    assert not fused.is_applicable()


@torch.no_grad()
def test_hooks_of_the_encoder_do_not_matter(model: Transformer) -> None:
    fused = start(model, (3,), 1).fused_step
    with capture(model, ["encoder", "encoder.scale"]):
        assert fused is not None and fused.is_applicable()


@torch.no_grad()
def test_an_edit_that_comes_and_goes_in_the_middle_of_a_search(model: Transformer) -> None:
    tokens = padded([STEPS] * 2, seed=5)
    changing, readable = start(model, (4, 4), 1), start(model, (4, 4), 1)
    readable.fused_step = None
    address = "decoder.layers.0.self_attention.values"
    for t in range(STEPS):
        expected: list[torch.Tensor] = []
        got: list[torch.Tensor] = []
        for decoder, logits in ((readable, expected), (changing, got)):
            if t % 3 == 1:
                with edit(model, address, lambda value, site: 0 * value):
                    logits.append(decoder.step(tokens[:, t : t + 1]))
            else:
                logits.append(decoder.step(tokens[:, t : t + 1]))
        torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_weights_that_change_between_two_searches(model: Transformer) -> None:
    tokens = torch.full((2, 1), 7)
    before = start(model, (3, 3), 1).step(tokens)
    for parameter in model.parameters():
        parameter.data.mul_(1.5)  # unseen by version counters
    readable = start(model, (3, 3), 1)
    readable.fused_step = readable.packed_projection = None
    after = start(model, (3, 3), 1).step(tokens)
    torch.testing.assert_close(after, readable.step(tokens), atol=1e-5, rtol=1e-5)
    assert not torch.allclose(before, after, atol=1e-2)


def _one_bit(linear: nn.Linear) -> None:
    linear.weight.data[2, 1] = torch.nextafter(linear.weight.data[2, 1], torch.tensor(9.0))


def _another_order(linear: nn.Linear) -> None:
    with torch.no_grad():
        linear.weight.copy_(linear.weight.flip(0))


def _another_parameter(linear: nn.Linear) -> None:
    linear.weight = nn.Parameter(linear.weight + 1)


def _another_bias(linear: nn.Linear) -> None:
    linear.bias = nn.Parameter(linear.bias + 1)


@pytest.mark.parametrize("change", [_one_bit, _another_order, _another_parameter, _another_bias])
@pytest.mark.parametrize("shape", [(3, 4), (3, 5)])
@pytest.mark.parametrize("rows", [1, 3, 9])
@torch.no_grad()
def test_packed_weights_are_kept_until_one_changes(
    change: Callable[[nn.Linear], None], shape: tuple[int, int], rows: int
) -> None:
    linear, x = nn.Linear(shape[1], shape[0]), torch.randn(rows, shape[1])

    def packed_linear() -> PackedLinear:
        return packed.kept(
            linear, list(linear.parameters()), rows, lambda: PackedLinear(linear.weight, linear.bias, rows)
        )

    first = packed_linear()
    assert packed_linear() is first
    change(linear)
    second = packed_linear()
    assert second is not first
    torch.testing.assert_close(second(x), linear(x))


@torch.no_grad()
def test_packed_weights_go_with_their_model_and_when_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    packed._kept.clear()
    model, second = tiny_model(), tiny_model(seed=2)
    start(model, (3,), 1)
    assert packed._kept
    monkeypatch.setattr(packed, "_MAX_BYTES", 4_000)
    start(second, (3,), 1)
    held = sum(each.num_bytes for layouts in packed._kept.values() for each in layouts.values())
    assert 0 < held <= max(4_000, model.output_weight.nbytes)
    monkeypatch.undo()
    start(model, (3,), 1)
    assert packed._kept
    del model, second
    gc.collect()
    assert not packed._kept


# --- what it is made of -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("large", [True, False])
@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize("shape", [(5, 3), (5_000, 8)])
@pytest.mark.parametrize("biased", [True, False])
@torch.no_grad()
def test_packed_weights_multiply_as_plain_ones(
    monkeypatch: pytest.MonkeyPatch, large: bool, blocks: bool, rows: int, shape: tuple[int, int], biased: bool
) -> None:
    if large:
        monkeypatch.setattr(packed, "_LARGE", 1)
    if not blocks:
        monkeypatch.setattr(onednn, "works", lambda dtype: False)
    torch.manual_seed(0)
    weight, bias, x = torch.randn(shape), torch.randn(shape[0]), torch.randn(rows, shape[1])
    expected = (x[:, None] * weight).sum(dim=-1) + (bias if biased else 0)
    for given_rows in (rows, rows + 1, 64):  # fewer come than were announced
        multiply = PackedLinear(weight, bias if biased else None, given_rows)
        residual = torch.randn(rows, shape[0])
        for got, awaited in ((multiply(x), expected), (multiply(x, residual), expected + residual)):
            assert got.is_contiguous()
            torch.testing.assert_close(got, awaited, atol=1e-4, rtol=1e-5)


@given(st.integers(1, 3), st.sampled_from([2**16, 2**16 + 77]), st.integers(1, 13), st.integers(0, 99))
def test_topk_of_many(rows: int, length: int, count: int, seed: int) -> None:
    values = torch.randn(rows, length, generator=torch.Generator().manual_seed(seed))
    values[:, :3] = -torch.inf
    values[0, -1] = 9.0  # beyond the last whole chunk, where there is one
    top, at = chunked_topk(values, count)
    expected = torch.sort(values, dim=1, descending=True, stable=True)
    assert torch.equal(top, expected.values[:, :count])
    assert torch.equal(at, expected.indices[:, :count]) or torch.equal(values.gather(1, at), top)
    assert all(len(set(row)) == count for row in at.tolist())


def test_topk_of_few_and_of_equals() -> None:
    assert chunked_topk(torch.tensor([[1.0, 3.0, 2.0]]), 2)[1].tolist() == [[1, 2]]
    top, at = chunked_topk(torch.zeros(1, 2**16), 5)
    assert top.tolist() == [[0.0] * 5]
    assert len(set(at[0].tolist())) == 5
