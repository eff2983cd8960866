"""Validation during training: loss on validation sets, and BLEU of greedy translations of a few fixed sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from transformer_core.data import Batch, DataError, make_batch, plan_epoch, read_pairs
from transformer_core.decoding.greedy import greedy_search
from transformer_core.evaluation.metrics import bleu
from transformer_core.model.masks import input_padding_mask, padding_mask
from transformer_core.model.transformer import Transformer
from transformer_core.text.tokenizer import Tokenizer
from transformer_core.training.loss import Loss, output_loss


@dataclass(frozen=True)
class ValidationSet:
    """Parallel text to validate on.

    Args:
        name: For logs; the name of the file without suffixes.
        pairs: Source and target sentences.
    """

    name: str
    pairs: list[tuple[str, str]]

    @classmethod
    def read(cls, spec: str | Path) -> ValidationSet:
        """Read a file, as for `read_pairs`. Raises DataError when there is no pair."""
        pairs = list(read_pairs(spec))
        if not pairs:
            raise DataError(f"{spec} has no sentence pairs to validate on")
        return cls(Path(str(spec).partition(",")[0]).name.split(".")[0], pairs)


@torch.no_grad()
def validation_loss(
    model: Transformer, pairs: Sequence[tuple[str, str]], tokenizer: Tokenizer, batch_tokens: int, dtype: torch.dtype
) -> tuple[float, int]:
    """Sum the negative log-likelihood in nats, `</s>` included, and count the tokens; model in evaluation mode."""
    device = next(model.parameters()).device
    sources = tokenizer.source.encode_batch([source for source, _ in pairs])
    targets = tokenizer.encode_batch([target for _, target in pairs])
    total, tokens = 0.0, 0
    for batch in _batches(sources, targets, tokenizer, batch_tokens):
        moved = batch.to(device)
        loss = batch_loss(model, moved, smoothing=0.0, pad=tokenizer.special.pad, dtype=dtype)
        total, tokens = total + float(loss.nll), tokens + int(loss.tokens)
    return total, tokens


def decoder_vectors(
    model: Transformer, source: Tensor, inputs: Tensor, mask: Tensor | None, input_mask: Tensor | None
) -> Tensor:
    """(B, S), (B, T) ids, (B, 1, 1, S), (B, 1, 1, T) -> (B, T, d): all of the model but the output projection."""
    return model.decode(inputs, model.encode(source, mask), mask, input_mask)


def batch_loss(
    model: Transformer,
    batch: Batch,
    *,
    smoothing: float,
    pad: int,
    dtype: torch.dtype,
    vectors_of: Callable[[Transformer, Tensor, Tensor, Tensor | None, Tensor | None], Tensor] = decoder_vectors,
) -> Loss:
    """Return the loss of one batch (see `output_loss`), with matrix products in the given number format.

    `vectors_of` is `decoder_vectors`, perhaps compiled.
    """
    mask = padding_mask(batch.source, pad) if batch.source_padded else None
    input_mask = None if model.config.causal else input_padding_mask(batch.inputs, pad)
    with torch.autocast(batch.source.device.type, dtype=dtype, enabled=dtype != torch.float32):
        vectors = vectors_of(model, batch.source, batch.inputs, mask, input_mask)
    return output_loss(
        vectors,
        model.output_weight,
        batch.outputs,
        pad=pad,
        smoothing=smoothing,
        dtype=dtype,
        bias=model.output_bias,
    )


def _batches(
    sources: list[list[int]], targets: list[list[int]], tokenizer: Tokenizer, batch_tokens: int
) -> list[Batch]:
    lengths = np.array([[len(s), len(t)] for s, t in zip(sources, targets, strict=True)], dtype=np.int64)
    room = max(batch_tokens, int(lengths.max()) + 1)
    plans = plan_epoch(lengths, room, max_tokens=int(lengths.max()), seed=0, epoch=0)
    return [make_batch([sources[i] for i in p], [targets[i] for i in p], tokenizer.special) for p in plans]


def greedy_bleu(
    model: Transformer, pairs: Sequence[tuple[str, str]], tokenizer: Tokenizer, batch: int = 50
) -> tuple[float, list[str]]:
    """Return BLEU of greedy translations, and the translations; model in evaluation mode."""
    device = next(model.parameters()).device
    encoded = tokenizer.source.encode_batch([source for source, _ in pairs])
    order = sorted(range(len(pairs)), key=lambda i: len(encoded[i]))
    translations = [""] * len(pairs)
    for start in range(0, len(order), batch):
        rows = order[start : start + batch]
        source = make_batch([encoded[i] for i in rows], [[] for _ in rows], tokenizer.special).source.to(device)
        for i, ids in zip(rows, greedy_search(model, source, tokenizer.special), strict=True):
            translations[i] = tokenizer.decode(ids)
    return bleu(translations, [[target for _, target in pairs]]).value, translations
