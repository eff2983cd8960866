"""Queries, keys and values of the heads for a sentence, and scores by the width of a head."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from transformer_core.data import make_batch
from transformer_core.hooks.points import Point, capture
from transformer_core.model.additive import additive_scores
from transformer_core.model.attention import attention_scores, attention_weights
from transformer_core.model.masks import padding_mask

if TYPE_CHECKING:
    from transformer_core.translator import Translator

FloatArray = npt.NDArray[np.float32]

DRAWN = 2_000  # queries of which means are taken
KEYS = 8


@torch.no_grad()
def encoder_vectors(translator: Translator, source: Sequence[int]) -> dict[str, FloatArray]:
    """Compute the vectors of the encoder heads for a sentence.

    Args:
        translator: The model.
        source: Ids of the sentence, without `</s>`; S positions with it.

    Returns:
        `queries` and `keys` (L, H, S, d_k), `values` (L, H, S, d_v), `weights` (L, H, S, S).
    """
    model, special = translator.model, translator.tokenizer.special
    batch = make_batch([source], [[]], special).source
    points: tuple[Point, ...] = ("queries", "keys", "values", "weights")
    with capture(model, [f"encoder.{point}" for point in points]) as seen:
        model.encode(batch, padding_mask(batch, special.pad))
    layers = range(translator.config.num_layers)
    return {
        point: np.stack([seen[f"encoder.layers.{n}.self_attention.{point}"][0].float().numpy() for n in layers])
        for point in points
    }


def random_vectors(d_k: int, keys: int = KEYS, count: int = DRAWN) -> tuple[Tensor, Tensor, Tensor]:
    """Draw vectors of mean 0 and variance 1, the same at every call, and v of additive attention.

    Returns:
        (1, count, 1, d_k) queries, (1, count, keys, d_k) keys; (count, d_k), each row drawn as the model draws v.
    """
    generator = torch.Generator().manual_seed(d_k)
    queries = torch.randn(1, count, 1, d_k, generator=generator)
    keys_drawn = torch.randn(1, count, keys, d_k, generator=generator)
    bound = math.sqrt(6.0 / (d_k + 1))  # as in Transformer.reset_parameters
    vectors = (2.0 * torch.rand(count, d_k, generator=generator) - 1.0) * bound
    return queries, keys_drawn, vectors


def by_width(widths: Sequence[int]) -> dict[str, FloatArray]:
    """Measure scores of unit-variance vectors by width: unscaled, scaled and additive.

    Args:
        widths: Values of d_k.

    Returns:
        `variance` of the scores, mean `entropy` of the weights as a share of the largest that is possible, and mean
        `gradient` (the Frobenius norm of the softmax's derivative), each (3, widths); `weights` (3, widths, KEYS) of
        the first query.
    """
    measures: dict[str, list[list[float]]] = {"variance": [], "entropy": [], "gradient": []}
    rows = []
    for d_k in widths:
        queries, keys, vectors = random_vectors(d_k)
        ways = (
            attention_scores(queries, keys, None, scale=1.0),
            attention_scores(queries, keys, None),
            additive_scores(queries, keys, vectors, None),
        )
        weights = [attention_weights(scores)[0, :, 0] for scores in ways]  # (count, KEYS)
        measures["variance"].append([float(scores.var()) for scores in ways])
        measures["entropy"].append([float(_entropy(each).mean()) / math.log(KEYS) for each in weights])
        measures["gradient"].append([float(_gradient(each).mean()) for each in weights])
        rows.append([each[0].tolist() for each in weights])
    result = {name: np.array(values, dtype=np.float32).T for name, values in measures.items()}
    result["weights"] = np.array(rows, dtype=np.float32).swapaxes(0, 1)
    return result


def _entropy(weights: Tensor) -> Tensor:
    """(N, K) -> (N,), in nats."""
    entropy: Tensor = torch.special.entr(weights).sum(dim=-1)
    return entropy


def _gradient(weights: Tensor) -> Tensor:
    """(N, K) -> (N,), the norm of the derivative of the weights by the scores, diag(a) - a a^T."""
    jacobian = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None]
    norm: Tensor = torch.linalg.matrix_norm(jacobian)
    return norm


def random_products(d_k: int) -> FloatArray:
    """(N,) dot products of the vectors of `random_vectors`."""
    queries, keys, _ = random_vectors(d_k)
    result: FloatArray = attention_scores(queries, keys, None, scale=1.0).flatten().numpy()
    return result
