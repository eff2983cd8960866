"""Queries, keys and values of one head: vectors of the model times three learned matrices.

Shape legend: Q positions of the queries, K of the keys and values, d = d_model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from transformer_core.translator import Translation, Translator

FloatArray = npt.NDArray[np.float32]
MATRICES = ("w_q", "w_k", "w_v")


def self_projections(translator: Translator, translation: Translation, layer: int, head: int) -> dict[str, FloatArray]:
    """Project for an encoder head: all three matrices read the vectors of the source; see `_projections`."""
    import torch

    from transformer_core.data import make_batch
    from transformer_core.model.masks import padding_mask

    model, special = translator.model, translator.tokenizer.special
    encoder: Any = model.encoder
    source = make_batch([translation.source_encoding.ids], [[]], special).source
    mask = padding_mask(source, special.pad)
    with torch.no_grad():
        vectors = model.embed(source, of_source=True)
        for below in encoder.layers[:layer]:
            vectors = below(vectors, mask)
        vectors = _as_read(encoder.layers[layer].self_attention_add_norm, vectors)
        return _projections(encoder.layers[layer].self_attention, vectors, vectors, head)


def cross_projections(translator: Translator, translation: Translation, layer: int, head: int) -> dict[str, FloatArray]:
    """Project for an encoder-decoder head: queries from the decoder, keys and values from the encoder's output."""
    import torch

    from transformer_core.data import make_batch
    from transformer_core.hooks.points import capture
    from transformer_core.model.masks import padding_mask

    model, special = translator.model, translator.tokenizer.special
    decoder: Any = model.decoder
    hypothesis = translation.hypotheses[0]
    batch = make_batch([translation.source_encoding.ids], [list(hypothesis.ids)], special)
    mask = padding_mask(batch.source, special.pad)
    inputs = batch.inputs if hypothesis.finished else batch.inputs[:, :-1]
    address = f"decoder.layers.{layer}.self_attention_add_norm.residual"
    with torch.no_grad(), capture(model, "residual") as seen:
        memory = model.encode(batch.source, mask)
        model.decode(inputs, memory, mask)
        vectors = _as_read(decoder.layers[layer].cross_attention_add_norm, seen[address])
        return _projections(decoder.layers[layer].cross_attention, vectors, memory, head)


def _as_read(add_norm: Any, vectors: Any) -> Any:
    """Return the input of the sub-layer, normalised first with pre-norm."""
    return add_norm.norm(vectors) if add_norm.pre_norm else vectors


def _projections(attention: Any, vectors: Any, memory: Any, head: int) -> dict[str, FloatArray]:
    """Return the input of one head, its matrices, and their products.

    Args:
        attention: A `MultiHeadAttention`.
        vectors: (1, Q, d), from which the queries come.
        memory: (1, K, d), from which the keys and values come.
        head: Counted from 0.

    Returns:
        `of_queries` (Q, d), `of_keys` (K, d), `w_q` and `w_k` (d, d_k), `w_v` (d, d_v), `q` (Q, d_k), `k` (K, d_k),
        `v` (K, d_v).
    """
    queries = attention.project_queries(vectors)
    keys, values = attention.project_keys_and_values(memory)
    arrays = {"of_queries": vectors[0], "of_keys": memory[0]}
    arrays |= {"q": queries[0, head], "k": keys[0, head], "v": values[0, head]}
    for name in MATRICES:
        weight = getattr(attention, name).weight  # (H * d_head, d)
        width = weight.shape[0] // attention.num_heads
        arrays[name] = weight[head * width : (head + 1) * width].T
    return {name: np.ascontiguousarray(value.float().numpy()) for name, value in arrays.items()}
