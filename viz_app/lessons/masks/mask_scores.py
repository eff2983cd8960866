"""Scores of real heads before any mask, which the lesson masks again row by row.

Shape legend: L layers, H heads, B sentences, T target positions, S source positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from transformer_core.data import make_batch
from transformer_core.hooks.points import Captured, capture
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.masks import padding_mask

if TYPE_CHECKING:
    from transformer_core.model.layers import Decoder, Encoder
    from transformer_core.translator import Translator

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class PaddedBatch:
    """Two sentences in one encoder batch.

    Args:
        lengths: Positions of each sentence, `</s>` among them.
        scores: (L, H, 2, S, S) as of `encoder_scores`.
        shift_masked: How far the encoder's output for the shorter sentence lies from what it is without a batch: the
            largest difference of any number, with the padding mask.
        shift_open: The same when nothing masks padding.
    """

    lengths: tuple[int, int]
    scores: FloatArray
    shift_masked: float
    shift_open: float


@torch.no_grad()
def decoder_scores(translator: Translator, source: Sequence[int], written: Sequence[int]) -> FloatArray:
    """Capture decoder self-attention scores before the mask, while the model runs with its mask.

    Args:
        translator: The model.
        source: Ids of the source, without `</s>`.
        written: Ids that the decoder reads after `<s>`, T - 1 of them.

    Returns:
        (L, H, T, T): softmax over the positions up to each row's own gives the model's weights. Softmax over all of
        them tells what this one head would see if its mask alone were lifted.
    """
    model, special = translator.model, translator.tokenizer.special
    batch = make_batch([source], [written], special)
    with capture(model, ["decoder.queries", "decoder.keys"]) as seen:
        model(batch.source, batch.inputs[:, : len(written) + 1], padding_mask(batch.source, special.pad))
    return _of_layers(model.decoder, seen, "decoder")[:, 0]


@torch.no_grad()
def encoder_scores(translator: Translator, sentences: Sequence[Sequence[int]]) -> PaddedBatch:
    """Capture encoder self-attention scores before the mask, of two sentences in one batch.

    Args:
        translator: The model.
        sentences: Ids of both, without `</s>`.
    """
    model, special = translator.model, translator.tokenizer.special
    source = make_batch(sentences, [[], []], special).source  # (2, S)
    mask = padding_mask(source, special.pad)
    with capture(model, ["encoder.queries", "encoder.keys"]) as seen:
        masked = model.encode(source, mask)  # (2, S, d)
    scores = _of_layers(model.encoder, seen, "encoder")  # (L, 2, H, S, S)
    lengths = (len(sentences[0]) + 1, len(sentences[1]) + 1)
    short = int(lengths[1] < lengths[0])
    alone = source[short : short + 1, : lengths[short]]
    truth = model.encode(alone, torch.ones_like(alone, dtype=torch.bool)[:, None, None])[0]
    unmasked = model.encode(source, torch.ones_like(mask))
    shift_masked, shift_open = (
        float((encoded[short, : lengths[short]] - truth).abs().max()) for encoded in (masked, unmasked)
    )
    return PaddedBatch(lengths, scores.transpose(0, 2, 1, 3, 4), shift_masked, shift_open)


def _of_layers(stack: Encoder | Decoder, seen: Captured, name: str) -> FloatArray:
    """(L, B, H, Q, K) scores of self-attention with nothing masked, from what was captured."""
    scores = []
    for number, layer in enumerate(stack.layers):
        attention = layer.self_attention
        assert isinstance(attention, MultiHeadAttention)
        queries, keys = (seen[f"{name}.layers.{number}.self_attention.{point}"] for point in ("queries", "keys"))
        scores.append(attention.compute_scores(queries, keys, None).float().numpy())
    return np.stack(scores)
