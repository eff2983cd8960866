"""Models with drawn weights, sentences, and attention sub-layers computed once more, head by head and key by key."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer_core import Translator, capture
from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.attribution import POINTS
from transformer_core.analysis.teacher_forced_run import SUBLAYERS, TeacherForcedRun, log_probabilities
from transformer_core.attention_maps import Kind
from transformer_core.hooks.hook_sites import Point
from transformer_core.model.masks import padding_mask

SOURCE, TARGET = "The man sees two well-known books today.", "Der Mann sieht zwei Bücher."


@torch.no_grad()
def run_of_ids(
    translator: Translator, source: list[int], inputs: list[int], outputs: list[int], points: Collection[Point] = POINTS
) -> TeacherForcedRun:
    """A run over given ids, such as `</s>` alone, which no text gives."""
    ids, read, written = torch.tensor([source]), torch.tensor([inputs]), torch.tensor(outputs)
    mask = padding_mask(ids, translator.tokenizer.special.pad)
    with capture(translator.model, points) as captured:
        logits = translator.model(ids, read, mask)
    return TeacherForcedRun(
        source_text="",
        text="",
        source_tokens=translator.tokenizer.tokens(source),
        tokens=translator.tokenizer.tokens(outputs),
        source=ids,
        source_mask=mask,
        inputs=read,
        outputs=written,
        log_p=log_probabilities(logits, written)[0],
        captured=captured,
    )


@dataclass
class Parts:
    """A sub-layer by the formulas: what each key sends, and what comes out.

    Args:
        sent: (H, Q, K, d), alpha_ij f_h(x_j).
        residual: (Q, d).
        output: (Q, d), after the norm.
        linear: z (d,) and query -> gamma (z - mean z) / sigma of that query, or z.
        constant: (Q, d), from the bias of W^O and beta.
    """

    sent: Tensor
    residual: Tensor
    output: Tensor
    sigma: Tensor | None
    gamma: Tensor
    constant: Tensor

    def linear(self, vector: Tensor, query: int) -> Tensor:
        if self.sigma is None:
            return vector
        return self.gamma * (vector - vector.mean()) / self.sigma[query]


@torch.no_grad()
def parts(translator: Translator, run: TeacherForcedRun, kind: Kind, layer: int) -> Parts:
    """Parts from the inputs of a sub-layer and its weight matrices, in plain loops."""
    model: Any = translator.model
    config = translator.config
    block = (model.encoder if kind == "encoder" else model.decoder).layers[layer]
    attention, add_norm = getattr(block, SUBLAYERS[kind]), getattr(block, f"{SUBLAYERS[kind]}_add_norm")
    captured = run.captured
    stack = "encoder" if kind == "encoder" else "decoder"
    name = f"{stack}.layers.{{}}.{{}}_add_norm.residual"
    if kind == "cross":
        before = captured[name.format(layer, "self_attention")][0]
    else:
        before = captured[name.format(layer - 1, "feed_forward") if layer else f"{stack}.embeddings"][0]
    read = add_norm.norm(before) if config.norm == "pre" else before
    last = captured[f"encoder.layers.{config.num_layers - 1}.feed_forward_add_norm.residual"]
    keys = model.encoder.norm(last)[0] if kind == "cross" else read
    weights = captured[hook_point_name(kind, layer, "weights")][0]
    zero = torch.zeros(config.d_model)
    values_bias = torch.zeros(config.num_heads * config.d_v) if attention.w_v.bias is None else attention.w_v.bias
    bias = zero if attention.w_o.bias is None else attention.w_o.bias.detach()
    sent = torch.zeros(config.num_heads, len(read), len(keys), config.d_model)
    for head in range(config.num_heads):
        rows = slice(head * config.d_v, (head + 1) * config.d_v)
        for key in range(len(keys)):
            value = keys[key] @ attention.w_v.weight[rows].T + values_bias[rows]
            message = value @ attention.w_o.weight[:, rows].T
            for query in range(len(read)):
                sent[head, query, key] = weights[head, query, key] * message
    residual = before if config.residual else torch.zeros_like(before)
    total = sent.sum(dim=(0, 2)) + residual + bias
    if config.norm == "pre":
        return Parts(sent, residual, total, None, zero, bias.expand_as(total))
    norm = add_norm.norm
    sigma = torch.tensor([math.sqrt(float(((z - z.mean()) ** 2).mean()) + norm.eps) for z in total])
    result = Parts(sent, residual, norm(total), sigma, norm.weight.detach(), zero)
    result.constant = torch.stack([result.linear(bias, query) + norm.bias for query in range(len(read))])
    return result
