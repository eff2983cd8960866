"""Options beyond the paper's defaults, in the whole model: stacks, dropout, tables, saving, decoding, training."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.core.tiny import SPECIAL, drawn_biases_and_norms, inputs_for, tiny_config, tiny_model
from tests.core.torch_twins import copy_layer, torchs
from transformer_core import Tokenizer, Transformer, capture, load_checkpoint, save_checkpoint
from transformer_core.attention_variants import VARIANTS as REGISTERED
from transformer_core.config import ConfigError, DecodingConfig, TrainingConfig
from transformer_core.cpu.dropout import Dropout
from transformer_core.data import Corpus, make_batch
from transformer_core.decoding.beam import beam_search
from transformer_core.decoding.greedy import greedy_search
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.model.fast_attention import FastAttention
from transformer_core.model.masks import causal_mask
from transformer_core.training.trainer import Trainer
from transformer_core.training.validation import batch_loss
from transformer_core.translator import SourceTooLong, Translator

VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "activation": "gelu"},
    {"positions": "concatenated", "activation": "swish", "attention_biases": True},
    {"positions": "learned", "max_positions": 20, "tie": "target"},
    {"tie": "none", "output_bias": True},
    {"norm": "pre", "positions": "learned", "max_positions": 20, "tie": "none", "output_bias": True},
    {"positions": "none", "scaled": False, "residual": False},
    {"positions": "tensor2tensor", "first_position": 2, "scaled_embeddings": False, "embedding_norm": True},
    {"attention": "additive"},
    {"window": 2},
]
each_variant = pytest.mark.parametrize(
    "options", VARIANTS, ids=lambda options: "-".join(map(str, options.values())) or "paper"
)


@each_variant
def test_a_model_of_readable_attention_is_the_same(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Logits, gradients and search, of which the fast twins are one choice when the model is built."""
    fast = tiny_model(**options)
    plain = replace(REGISTERED["dot-product"], build="transformer_core.model.attention:MultiHeadAttention")
    monkeypatch.setitem(REGISTERED, "dot-product", plain)
    readable = tiny_model(**options)
    readable.load_state_dict(fast.state_dict())
    assert options or not any(isinstance(module, FastAttention) for module in readable.modules())
    batch = inputs_for([6, 4], 5)
    ours, theirs = fast(*batch), readable(*batch)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    of_ours, of_theirs = (
        torch.autograd.grad(out.square().sum(), list(model.parameters()))
        for out, model in ((ours, fast), (theirs, readable))
    )
    torch.testing.assert_close(of_ours, of_theirs, atol=1e-3, rtol=1e-3)
    search = DecodingConfig(beam=3, extra_length=4)
    for one, other in zip(*(beam_search(model, batch[0], SPECIAL, search) for model in (fast, readable)), strict=True):
        scores, expected = ([each.score for each in result.hypotheses] for result in (one, other))  # some are equal
        assert scores == pytest.approx(expected, abs=1e-5)


# --- pre-norm ---------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_pre_norm_stacks_end_with_a_norm_as_torchs_do() -> None:
    model = drawn_biases_and_norms(tiny_model(norm="pre", d_k=4, d_v=4, attention_biases=True))
    options = torchs(model.config)
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(**options), 2, nn.LayerNorm(16, eps=1e-6), enable_nested_tensor=False
    )
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**options), 2, nn.LayerNorm(16, eps=1e-6))
    for stack, ours in ((encoder, model.encoder), (decoder, model.decoder)):
        stack.norm.load_state_dict(ours.norm.state_dict())  # type: ignore[union-attr]
        for to, layer in zip(stack.layers, ours.layers, strict=True):
            copy_layer(to, layer)  # type: ignore[arg-type]
    source, target, mask = inputs_for([6, 4], 5)
    memory = encoder.train()(model.embed(source, of_source=True), src_key_padding_mask=~mask[:, 0, 0])
    expected = decoder(
        model.embed(target), memory, tgt_mask=~causal_mask(5)[0, 0], memory_key_padding_mask=~mask[:, 0, 0]
    )
    torch.testing.assert_close(model.decode(target, model.encode(source, mask), mask), expected, atol=1e-5, rtol=1e-5)


# --- dropout ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.0, 0.5])
def test_attention_dropout_falls_on_the_weights_after_their_hook_point(p: float) -> None:
    model = tiny_model(attention_dropout=p, dropout=0.5, num_layers=1).train()
    source, _, mask = inputs_for([5, 5], 4)
    with capture(model, ["encoder.weights", "encoder.values", "encoder.head_outputs"]) as seen:
        memory = model.embed(source, of_source=True)
        torch.manual_seed(3)
        model.encoder.layers[0](memory, mask)
    base = "encoder.layers.0.self_attention"
    weights = seen[f"{base}.weights"]
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    torch.manual_seed(3)
    expected = Dropout(p)(weights) @ seen[f"{base}.values"]
    torch.testing.assert_close(seen[f"{base}.head_outputs"], expected)


@torch.no_grad()
def test_attention_dropout_in_the_fused_kernel_keeps_the_mean_and_ends_with_training() -> None:
    model = tiny_model(attention_dropout=0.25, num_layers=1)
    attention = model.get_submodule("encoder.layers.0.self_attention")
    x = torch.randn(1, 6, 16)
    plain = attention(x, x, None)
    assert torch.equal(attention(x, x, None), plain)
    attention.train()
    drawn = torch.stack([attention(x, x, None) for _ in range(2000)])  # nobody listens, no gradient: the fused kernel
    assert not torch.equal(drawn[0], plain)
    torch.testing.assert_close(drawn.mean(dim=0), plain, atol=0.05, rtol=0.05)


# --- tables -----------------------------------------------------------------------------------------------------------


def test_translations_stay_within_learned_positions() -> None:
    model = tiny_model(positions="learned", max_positions=6, vocab_size=10)
    with torch.no_grad():
        model.embedding.weight[SPECIAL.eos] = 0
    batch = make_batch([[4, 5, 6], [7]], [[], []], SPECIAL)
    lengths = [len(ids) for ids in greedy_search(model, batch.source, SPECIAL)]
    assert max(lengths) <= 6
    for result in beam_search(model, batch.source, SPECIAL, DecodingConfig(beam=2)):
        assert all(len(hypothesis.log_probabilities) <= 6 for hypothesis in result.hypotheses)


def test_a_source_beyond_learned_positions_is_reported(tokenizer: Tokenizer) -> None:
    model = tiny_model(positions="learned", max_positions=6, vocab_size=len(tokenizer))
    translator = Translator(model, tokenizer)
    assert translator.translate("The man").tokens is not None
    with pytest.raises(SourceTooLong, match="at most 5 are allowed"):
        translator.translate("The man sees a house today. The woman sees a house.")


def test_training_refuses_sentences_beyond_learned_positions(corpus: Corpus, tmp_path: Path) -> None:
    model = tiny_model(positions="learned", max_positions=256, vocab_size=len(corpus.tokenizer))
    with pytest.raises(ConfigError, match=r"max_tokens is 256, but must be below max_positions \(256\)"):
        Trainer(model, corpus, TrainingConfig(max_tokens=256), tmp_path / "run")
    assert not (tmp_path / "run").exists()


# --- every variant ----------------------------------------------------------------------------------------------------


@each_variant
@pytest.mark.parametrize("opened", [False, True])
@torch.no_grad()
def test_cached_steps_agree_with_full_decoding(options: dict[str, Any], opened: bool) -> None:
    model = drawn_biases_and_norms(tiny_model(**options))
    source, target, mask = inputs_for([7, 4, 1], 9)
    full = model(source, target, mask)
    with capture(model, ["decoder", "cross"]) as forced:
        model(source, target, mask)
    decoder = IncrementalDecoder(model, model.encode(source, mask), mask, beams=1, capacity=2)  # grows at 2, 4 and 8
    for t in range(9):
        watched: Any = capture(model, ["decoder", "cross"]) if opened else nullcontext({})
        with watched as step:
            logits = decoder.step(target[:, t : t + 1])
        torch.testing.assert_close(logits, full[:, t], atol=1e-5, rtol=1e-5)
        assert len(step) == 4 * opened
        for address, row in step.items():
            live = forced[address][:, :, t : t + 1, : row.shape[-1]]
            torch.testing.assert_close(row, live, atol=1e-5, rtol=1e-5)
    assert decoder.length == 9


@each_variant
def test_every_parameter_learns(options: dict[str, Any]) -> None:
    model = tiny_model(**options).train()
    batch = make_batch([[4, 5, 6], [7, 8]], [[9, 4], [5]], SPECIAL)
    loss = batch_loss(model, batch, smoothing=0.1, pad=SPECIAL.pad, dtype=torch.float32)
    torch.autograd.backward(loss.smoothed)
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert bool(parameter.grad.any()), name
        assert bool(parameter.grad.isfinite().all()), name


@each_variant
def test_checkpoint_keeps_options_and_weights(options: dict[str, Any], tokenizer: Tokenizer, tmp_path: Path) -> None:
    config = tiny_config(vocab_size=len(tokenizer), **options)
    model = drawn_biases_and_norms(Transformer(config))
    weights = {name: parameter.detach().half().float() for name, parameter in model.named_parameters()}
    save_checkpoint(tmp_path / "model", weights, config, tokenizer)
    loaded = load_checkpoint(tmp_path / "model").model
    assert loaded.config == config
    for name, parameter in loaded.named_parameters():
        assert parameter.dtype == torch.float32 and torch.equal(parameter, weights[name]), name
    assert list(loaded.state_dict()) == list(weights)
