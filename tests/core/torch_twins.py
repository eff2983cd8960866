"""The layers of torch.nn with our weights: an independent implementation to compare with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_core.config import ModelConfig
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layers import DecoderLayer, EncoderLayer

ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "swish": F.silu}


def torchs(config: ModelConfig) -> dict[str, Any]:
    """The options of torch.nn's layers that mean the same."""
    return {
        "d_model": config.d_model,
        "nhead": config.num_heads,
        "dim_feedforward": config.d_ff,
        "dropout": 0.0,
        "activation": ACTIVATIONS[config.activation],
        "layer_norm_eps": config.layer_norm_epsilon,
        "batch_first": True,
        "norm_first": config.norm == "pre",
    }


def copy_attention(to: nn.MultiheadAttention, source: MultiHeadAttention) -> None:
    to.in_proj_weight.copy_(torch.cat((source.w_q.weight, source.w_k.weight, source.w_v.weight)))
    to.in_proj_bias.zero_()
    to.out_proj.weight.copy_(source.w_o.weight)
    to.out_proj.bias.zero_()
    if source.w_o.bias is not None:
        to.in_proj_bias.copy_(torch.cat((source.w_q.bias, source.w_k.bias, source.w_v.bias)))
        to.out_proj.bias.copy_(source.w_o.bias)


@torch.no_grad()
def copy_layer(to: Any, layer: EncoderLayer | DecoderLayer) -> None:
    """Our weights in one of torch's encoder or decoder layers."""
    copy_attention(to.self_attn, layer.self_attention)
    steps = ["self_attention", "feed_forward"]
    if isinstance(layer, DecoderLayer):
        copy_attention(to.multihead_attn, layer.cross_attention)
        steps.insert(1, "cross_attention")
    for number, step in enumerate(steps, start=1):
        to.get_submodule(f"norm{number}").load_state_dict(layer.get_submodule(f"{step}_add_norm.norm").state_dict())
    for number in (1, 2):
        getattr(to, f"linear{number}").load_state_dict(layer.get_submodule(f"feed_forward.w_{number}").state_dict())


@contextmanager
def module_values(model: nn.Module, *kinds: type[nn.Module], live: bool = False) -> Iterator[dict[str, Tensor]]:
    """Record inputs and outputs of modules while the model runs, `NAME in` and `NAME out`, by PyTorch's own hooks."""
    seen: dict[str, Tensor] = {}
    with ExitStack() as stack:
        for name, module in model.named_modules():
            if kinds and not isinstance(module, kinds):
                continue

            def keep(_module: Any, given: tuple[Any, ...], out: Any, name: str = name) -> None:
                for end, value in (("in", given[0] if given else None), ("out", out)):
                    if isinstance(value, Tensor):
                        seen[f"{name} {end}"] = value
                        if live and value.requires_grad:
                            value.retain_grad()

            stack.callback(module.register_forward_hook(keep).remove)
        yield seen
