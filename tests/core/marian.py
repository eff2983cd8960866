"""Hugging Face's MarianMTModel with our weights: an independent implementation to compare with."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from benchmarks.peers.twins import copy_layer, marian
from transformer_core.model.transformer import Transformer

POSITIONS = 64


@torch.no_grad()
def marian_twin(model: Transformer) -> Any:
    """MarianMTModel with our weights and our positions; post-norm and one d_k only."""
    # "eager" is its only kernel that returns weights.
    twin: Any = marian(model.config, attention="eager", positions=POSITIONS).eval()
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
            copy_layer(theirs, layer)
    return twin
