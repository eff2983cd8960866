"""Peers of the same shape: transformers' MarianMTModel and CTranslate2, with the weights of one of our models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from transformer_core.config import ModelConfig, SpecialIds
from transformer_core.model.transformer import Transformer

SPECIAL = SpecialIds()
_SPECIAL_TOKENS = ("<pad>", "<s>", "</s>", "<unk>")  # by id
SHAPE = ModelConfig(vocab_size=16_000, d_model=256, d_ff=1024, num_layers=6, num_heads=8, dropout=0.0)
QUICK = SHAPE.replace(vocab_size=400, d_model=32, d_ff=64, num_layers=2, num_heads=4, d_k=8, d_v=8)


def marian(config: ModelConfig, *, attention: str, positions: int = 1_024) -> Any:
    """A MarianMTModel of the same shape, tying and dropout, with drawn weights; `attention` is "sdpa" or "eager"."""
    from transformers import MarianConfig, MarianMTModel
    from transformers.utils import logging

    logging.set_verbosity_error()
    twin: Any = MarianMTModel(
        MarianConfig(
            vocab_size=config.vocab_size,
            decoder_vocab_size=config.vocab_size,
            d_model=config.d_model,
            encoder_layers=config.num_layers,
            decoder_layers=config.num_layers,
            encoder_attention_heads=config.num_heads,
            decoder_attention_heads=config.num_heads,
            encoder_ffn_dim=config.d_ff,
            decoder_ffn_dim=config.d_ff,
            activation_function=config.activation,
            scale_embedding=True,
            dropout=config.dropout,
            attention_dropout=0.0,
            activation_dropout=0.0,
            max_position_embeddings=positions,
            pad_token_id=SPECIAL.pad,
            eos_token_id=SPECIAL.eos,
            bos_token_id=SPECIAL.bos,
            decoder_start_token_id=SPECIAL.bos,
            forced_eos_token_id=None,
            share_encoder_decoder_embeddings=config.tie == "all",
            tie_word_embeddings=config.tie != "none",
        )
    )
    twin.set_attn_implementation(attention)
    return twin


@torch.no_grad()
def copy_weights(model: Transformer, twin: Any, *, may_end: bool = False) -> None:
    """Give a MarianMTModel our weights and our interleaved positions.

    Args:
        model: Ours.
        twin: Of the same shape.
        may_end: Whether it may generate `</s>`; if not, all generate equally many tokens.
    """
    twin.model.shared.weight.copy_(model.embedding.weight)
    twin.lm_head.weight = twin.model.shared.weight
    for stack, ours in ((twin.model.encoder, model.encoder), (twin.model.decoder, model.decoder)):
        stack.embed_tokens.weight = twin.model.shared.weight
        stack.embed_positions.weight.copy_(model.positions(0, len(stack.embed_positions.weight)))
        for theirs, layer in zip(stack.layers, ours.layers, strict=True):
            copy_layer(theirs, layer)
    # Tokens that our search never writes.
    for token in (SPECIAL.pad, SPECIAL.bos, SPECIAL.unk, *(() if may_end else (SPECIAL.eos,))):
        twin.final_logits_bias[0, token] = -1e9


@torch.no_grad()
def copy_layer(theirs: Any, ours: nn.Module) -> None:
    """Give a layer of a MarianMTModel the weights of an EncoderLayer or DecoderLayer."""
    for their_name, our_name in (("self_attn", "self_attention"), ("encoder_attn", "cross_attention")):
        if not hasattr(theirs, their_name):
            continue
        their, our = getattr(theirs, their_name), getattr(ours, our_name)
        for a, b in (
            (their.q_proj, our.w_q),
            (their.k_proj, our.w_k),
            (their.v_proj, our.w_v),
            (their.out_proj, our.w_o),
        ):
            a.weight.copy_(b.weight)
            a.bias.zero_() if b.bias is None else a.bias.copy_(b.bias)
        _copy(getattr(theirs, f"{their_name}_layer_norm"), ours.get_submodule(f"{our_name}_add_norm.norm"))
    _copy(theirs.fc1, ours.get_submodule("feed_forward.w_1"))
    _copy(theirs.fc2, ours.get_submodule("feed_forward.w_2"))
    _copy(theirs.final_layer_norm, ours.get_submodule("feed_forward_add_norm.norm"))


def _copy(to: Any, source: nn.Module) -> None:
    to.weight.copy_(source.get_parameter("weight"))
    to.bias.copy_(source.get_parameter("bias"))
    if isinstance(source, nn.LayerNorm):
        to.eps = source.eps


def tokens_of(ids: Sequence[int]) -> list[str]:
    """Names of tokens in the vocabulary of `ctranslate2_of`."""
    return [_SPECIAL_TOKENS[i] if i < len(_SPECIAL_TOKENS) else f"p{i}" for i in ids]


def ctranslate2_of(twin: Any, folder: Path, *, threads: int) -> Any:
    """Return the model in CTranslate2; None where that is not installed."""
    try:
        import ctranslate2
        from ctranslate2.converters.transformers import BartLoader
    except ModuleNotFoundError:
        return None
    twin.config.normalize_before = False
    twin.config.normalize_embedding = False
    # Marian's own loader would start from an embedding of zeros and drop the last token.
    spec = BartLoader().get_model_spec(twin)
    tokens = tokens_of(range(twin.config.vocab_size))
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = "<s>", "</s>", "<unk>"
    spec.config.decoder_start_token = "<s>"
    spec.config.layer_norm_epsilon = twin.model.encoder.layers[0].final_layer_norm.eps
    spec.validate()
    spec.save(str(folder))
    return ctranslate2.Translator(str(folder), device="cpu", compute_type="float32", intra_threads=threads)
