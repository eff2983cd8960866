"""Hugging Face's MarianMTModel with our weights: an independent implementation to compare with."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tests.core.tiny import SPECIAL
from transformer_core.model import Transformer

POSITIONS = 64


@torch.no_grad()
def marian_twin(model: Transformer) -> Any:
    """MarianMTModel with our weights and our positions; post-norm and one d_k only."""
    from transformers import MarianConfig, MarianMTModel

    c = model.config
    config = MarianConfig(
        vocab_size=c.vocab_size,
        decoder_vocab_size=c.vocab_size,
        d_model=c.d_model,
        encoder_layers=c.num_layers,
        decoder_layers=c.num_layers,
        encoder_attention_heads=c.num_heads,
        decoder_attention_heads=c.num_heads,
        encoder_ffn_dim=c.d_ff,
        decoder_ffn_dim=c.d_ff,
        activation_function=c.activation,
        scale_embedding=True,
        dropout=0.0,
        attention_dropout=0.0,
        max_position_embeddings=POSITIONS,
        pad_token_id=SPECIAL.pad,
        eos_token_id=SPECIAL.eos,
        decoder_start_token_id=SPECIAL.bos,
        forced_eos_token_id=None,
        share_encoder_decoder_embeddings=c.tie == "all",
        tie_word_embeddings=c.tie != "none",
    )
    twin: Any = MarianMTModel(config)
    twin.set_attn_implementation("eager")  # its only kernel that returns weights
    twin.eval()
    source = model.source_embedding or model.embedding
    encoder, decoder = twin.model.encoder, twin.model.decoder
    encoder.embed_tokens = nn.Embedding.from_pretrained(source.weight)  # type: ignore[no-untyped-call]
    decoder.embed_tokens = nn.Embedding.from_pretrained(model.embedding.weight)  # type: ignore[no-untyped-call]
    twin.lm_head.weight = nn.Parameter(model.output_weight.clone())
    if model.output_bias is not None:
        twin.final_logits_bias.copy_(model.output_bias[None])
    encoder.embed_positions.weight.copy_((model.source_positions or model.positions)(0, POSITIONS))
    decoder.embed_positions.weight.copy_(model.positions(0, POSITIONS))
    for stack, ours in ((encoder, model.encoder), (decoder, model.decoder)):
        for theirs, layer in zip(stack.layers, ours.layers, strict=True):
            _copy_layer(theirs, layer)
    return twin


def _copy_layer(theirs: Any, ours: nn.Module) -> None:
    attentions = [("self_attn", "self_attention")]
    if hasattr(theirs, "encoder_attn"):
        attentions.append(("encoder_attn", "cross_attention"))
    for their_name, our_name in attentions:
        their, our = getattr(theirs, their_name), getattr(ours, our_name)
        for a, b in (
            (their.q_proj, our.w_q),
            (their.k_proj, our.w_k),
            (their.v_proj, our.w_v),
            (their.out_proj, our.w_o),
        ):
            a.weight.copy_(b.weight)
            a.bias.zero_() if b.bias is None else a.bias.copy_(b.bias)
        _copy(getattr(theirs, f"{their_name}_layer_norm"), getattr(ours, f"{our_name}_add_norm").norm)
    _copy(theirs.get_submodule("fc1"), ours.get_submodule("feed_forward.w_1"))
    _copy(theirs.get_submodule("fc2"), ours.get_submodule("feed_forward.w_2"))
    _copy(theirs.get_submodule("final_layer_norm"), ours.get_submodule("feed_forward_add_norm.norm"))


def _copy(to: nn.Module, source: nn.Module) -> None:
    to.get_parameter("weight").copy_(source.get_parameter("weight"))
    to.get_parameter("bias").copy_(source.get_parameter("bias"))


def drawn_biases_and_norms(model: Transformer) -> Transformer:
    """Biases that are not 0 and norms that are not 1, or a forgotten one would not show."""
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, 1.0 if name.endswith("norm.weight") else 0.0, 0.2)
    return model
