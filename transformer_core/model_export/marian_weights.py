"""Weights of a checkpoint under the names of transformers' MarianMTModel: the inverse of `conversion`.

MarianMTModel puts all sines before all cosines. For a model with interleaved ones, all d_model dimensions are reordered
in this way, which changes no output. Other positions become a table in the file.

Shape legend: d = d_model, V = vocab_size.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from transformer_core.config import ModelConfig
from transformer_core.conversion.bart_layout import OUTPUT_BIAS, layer_origins
from transformer_core.model.transformer import Transformer

_TABLES = "model.{}.embed_positions.weight"
# Weights whose input or output dimension is d_model; biases of Q, K, V and w_1 have none.
_INPUTS = ("w_q.weight", "w_k.weight", "w_v.weight", "w_1.weight")
_OUTPUTS = ("w_o.weight", "w_o.bias", "w_2.weight", "w_2.bias", "norm.weight", "norm.bias")


def has_own_table(config: ModelConfig) -> bool:
    """Return whether the file must hold the positions, since MarianMTModel computes others."""
    return config.first_position > 0 or config.positions not in ("sinusoidal", "concatenated")


def marian_weights(model: Transformer, positions: int) -> dict[str, Tensor]:
    """Return all tensors of a MarianMTModel in float32; tied ones occur once.

    Args:
        model: Model with a configuration that `marian_folder` supports.
        positions: Rows of a table of positions.
    """
    config = model.config
    weights = {name: weight.detach() for name, weight in model.state_dict().items()}
    if config.positions == "sinusoidal" and not has_own_table(config):
        order = torch.cat((torch.arange(0, config.d_model, 2), torch.arange(1, config.d_model, 2)))  # (d,)
        weights = {name: _reordered(name, weight, order) for name, weight in weights.items()}
    tensors = _embeddings(config, weights)
    for ours, origin in layer_origins(config.num_layers):
        tensors[origin.name] = weights[ours] if ours in weights else _zeros(ours, weights)
    bias = weights.get("output_bias", torch.zeros(config.vocab_size))
    tensors[OUTPUT_BIAS] = bias[None]  # (1, V)
    if has_own_table(config):
        tensors[_TABLES.format("encoder")] = (model.source_positions or model.positions)(0, positions)
        tensors[_TABLES.format("decoder")] = model.positions(0, positions)
    return {name: tensor.detach().contiguous().clone() for name, tensor in tensors.items()}


def _embeddings(config: ModelConfig, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    if config.tie == "all":
        return {"model.shared.weight": weights["embedding.weight"]}
    tables = {
        "model.encoder.embed_tokens.weight": weights["source_embedding.weight"],
        "model.decoder.embed_tokens.weight": weights["embedding.weight"],
    }
    return tables if config.tie == "target" else {**tables, "lm_head.weight": weights["projection.weight"]}


def _reordered(name: str, weight: Tensor, order: Tensor) -> Tensor:
    if name.endswith((*_INPUTS, "embedding.weight", "projection.weight")):
        return weight[:, order]
    return weight[order] if name.endswith(_OUTPUTS) else weight


def _zeros(name: str, weights: Mapping[str, Tensor]) -> Tensor:
    """Return a zero bias for a projection without one."""
    return torch.zeros(len(weights[name.removesuffix("bias") + "weight"]))
