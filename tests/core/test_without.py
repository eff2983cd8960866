"""Models with a part of the paper left out: positions, 1 / sqrt(d_k), the decoder's mask, residual connections."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.core.tiny import SPECIAL, drawn_biases_and_norms, inputs_for, padded, run, tiny_config, tiny_model
from tests.core.torch_twins import copy_attention, copy_layer, torchs
from transformer_core import ConfigError, ModelConfig, Tokenizer, Translator, capture
from transformer_core.data import make_batch
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layers import EncoderLayer
from transformer_core.model.transformer import Transformer, load_weights
from transformer_core.training.validation import batch_loss


def test_all_parts_are_there_unless_told_otherwise() -> None:
    """So that a checkpoint that was saved before the options existed means what it meant."""
    options = {"scaled", "causal", "residual"}
    assert (
        ModelConfig.from_dict({k: v for k, v in ModelConfig().to_dict().items() if k not in options}) == ModelConfig()
    )
    assert all(ModelConfig().to_dict()[name] is True for name in options)
    for name in options:
        with pytest.raises(ConfigError, match=f"{name} is 0, but must be true or false"):
            ModelConfig.from_dict({name: 0})
    with pytest.raises(ConfigError, match="scaled is False, but must be true where attention is additive"):
        ModelConfig(scaled=False, attention="additive")


@torch.no_grad()
def test_without_positions_the_order_of_the_source_cannot_be_told() -> None:
    order = torch.tensor([3, 0, 4, 2, 1])
    source, target, mask = inputs_for([5], 4)
    for positions, told in (("none", False), ("sinusoidal", True)):
        model = tiny_model(positions=positions)
        ordered, mixed = model.encode(source, mask), model.encode(source[:, order], mask)
        assert torch.allclose(mixed, ordered[:, order], atol=1e-6) is not told
        assert torch.allclose(model(source[:, order], target, mask), model(source, target, mask), atol=1e-5) is not told


@pytest.mark.parametrize("window", [0, 3])
def test_unscaled_scores_are_torchs_with_queries_times_the_root_of_d_k(window: int) -> None:
    torch.manual_seed(2)
    model = tiny_model(d_k=4, d_v=4, scaled=False, window=window, num_layers=1)
    attention = model.get_submodule("encoder.layers.0.self_attention")
    assert isinstance(attention, MultiHeadAttention)
    reference = nn.MultiheadAttention(16, 4, batch_first=True)
    with torch.no_grad():
        copy_attention(reference, attention)
        reference.in_proj_weight[:16] *= math.sqrt(4)  # torch divides by it
    x = torch.randn(2, 6, 16)
    near = (torch.arange(6)[:, None] - torch.arange(6)).abs() <= (window or 6)
    expected, weights = reference(x, x, x, attn_mask=~near, average_attn_weights=False)
    training = attention(x, x, None)  # with gradients
    with torch.no_grad():
        fused = attention(x, x, None)
        with capture(model) as seen:
            openly = attention(x, x, None)
    for ours in (training, fused, openly):
        torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(seen["encoder.layers.0.self_attention.weights"], weights, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_layer_without_residual_connections_by_hand() -> None:
    for norm in ("post", "pre"):
        torch.manual_seed(3)
        layer = drawn_biases_and_norms(EncoderLayer(tiny_config(d_k=4, d_v=4, residual=False, norm=norm)).eval())
        attention = nn.MultiheadAttention(16, 4, batch_first=True)
        copy_attention(attention, layer.self_attention)
        norms = [layer.self_attention_add_norm.norm, layer.feed_forward_add_norm.norm]
        x, (w_1, w_2) = torch.randn(2, 6, 16), (layer.feed_forward.w_1, layer.feed_forward.w_2)
        mask = torch.tensor([6, 4])[:, None] > torch.arange(6)

        def attended(x: torch.Tensor, attention: Any = attention, mask: torch.Tensor = mask) -> Any:
            return attention(x, x, x, key_padding_mask=~mask)[0]

        def fed(x: torch.Tensor, w_1: Any = w_1, w_2: Any = w_2) -> torch.Tensor:
            return F.linear(F.relu(F.linear(x, w_1.weight, w_1.bias)), w_2.weight, w_2.bias)

        expected = x
        for one, sublayer in zip(norms, (attended, fed), strict=True):
            normed = partial(F.layer_norm, normalized_shape=(16,), weight=one.weight, bias=one.bias, eps=1e-6)
            expected = sublayer(normed(expected)) if norm == "pre" else normed(sublayer(expected))
        torch.testing.assert_close(layer(x, mask[:, None, None]), expected, atol=1e-5, rtol=1e-5)


# --- the decoder without its mask -------------------------------------------------------------------------------------


def unmasked(**options: Any) -> tuple[Transformer, Transformer]:
    """A model whose decoder looks ahead, and one with the same weights that does not."""
    open_, masked = tiny_model(causal=False, **options), tiny_model(**options)
    load_weights(masked, dict(open_.named_parameters()))
    return open_, masked


@torch.no_grad()
def test_decoder_without_its_mask_against_torch() -> None:
    model = tiny_model(causal=False, d_k=4, d_v=4)
    reference = nn.TransformerDecoder(nn.TransformerDecoderLayer(**torchs(model.config)), 2)
    for to, layer in zip(reference.layers, model.decoder.layers, strict=True):
        copy_layer(to, layer)  # type: ignore[arg-type]
    source, _, mask = inputs_for([6, 4], 5)
    target = padded([5, 3])
    memory, target_mask = model.encode(source, mask), (target != SPECIAL.pad)[:, None, None]
    expected = reference(
        model.embed(target), memory, tgt_key_padding_mask=~target_mask[:, 0, 0], memory_key_padding_mask=~mask[:, 0, 0]
    )
    ours = model.decode(target, memory, mask, target_mask)
    torch.testing.assert_close(ours[0], expected[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(ours[1, :3], expected[1, :3], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("window", [0, 2])
@torch.no_grad()
def test_step_by_step_the_future_is_hidden_anyhow(window: int) -> None:
    open_, masked = unmasked(window=window)
    source, target, mask = inputs_for([7, 4], 9)
    ahead, behind = open_(source, target, mask), masked(source, target, mask)
    assert not torch.allclose(ahead[:, 0], behind[:, 0], atol=1e-3)  # the first position reads the answer
    for fused in (True, False):
        decoder = IncrementalDecoder(open_, open_.encode(source, mask), mask, beams=1, capacity=2)
        assert decoder.fused_step is not None
        decoder.fused_step = decoder.fused_step if fused else None
        for t in range(9):
            step = decoder.step(target[:, t : t + 1])
            torch.testing.assert_close(step, behind[:, t], atol=1e-5, rtol=1e-5)


def test_padding_is_no_answer() -> None:
    """Positions ahead include padding, on which neither a loss nor a score may depend."""
    open_, masked = unmasked()
    sources, targets = [[4, 5, 6], [7, 8]], [[9, 4, 5, 6], [5]]

    def nll(sources: list[list[int]], targets: list[list[int]]) -> torch.Tensor:
        batch = make_batch(sources, targets, SPECIAL)
        return batch_loss(open_, batch, smoothing=0.0, pad=SPECIAL.pad, dtype=torch.float32).nll

    apart = nll(sources[:1], targets[:1]) + nll(sources[1:], targets[1:])
    torch.testing.assert_close(nll(sources, targets), apart)
    assert not torch.equal(run(open_), run(masked))


def test_scores_do_not_depend_on_who_shares_the_batch(tokenizer: Tokenizer) -> None:
    translator = Translator(tiny_model(causal=False, vocab_size=len(tokenizer)), tokenizer)
    pairs = [("The man", "Der Mann"), ("The woman sees a house.", "Die Frau sieht ein Haus.")]
    apart = [translator.score([pair])[0] for pair in pairs]
    assert translator.score(pairs) == pytest.approx(apart, abs=1e-4)
    forced = [translator.teacher_force(*pair) for pair in pairs]
    assert [one.log_probability for one in forced] == pytest.approx(apart, abs=1e-4)
    assert forced[1].attention.decoder[0, 0, 0, 1:].sum() > 0.1  # it looks ahead
