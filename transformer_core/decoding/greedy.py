"""Greedy search over a batch: always the likeliest next piece. The quick way to watch a training.

Shape legend: B sentences, S source positions.
"""

from __future__ import annotations

import torch
from torch import Tensor

from transformer_core.config import SpecialIds
from transformer_core.decoding.limits import length_limits
from transformer_core.hooks import Rows, rows_are
from transformer_core.masks import padding_mask
from transformer_core.model import Transformer


@torch.no_grad()
def greedy_search(model: Transformer, source: Tensor, special: SpecialIds, extra_length: int = 50) -> list[list[int]]:
    """Translate a batch.

    Args:
        model: In evaluation mode.
        source: (B, S) ids, each sentence ending with `</s>`, padded.
        special: Ids of the special pieces; `<pad>`, `<s>` and `<unk>` are never written.
        extra_length: At most so many pieces more than the source has.

    Returns:
        For each sentence the ids of its translation, without `<s>` and `</s>`.
    """
    mask = padding_mask(source, special.pad)
    limits = length_limits(mask, extra_length, model.config.longest)  # (B,)
    cache = model.start_cache(model.encode(source, mask), mask, beams=1)
    pieces = torch.full((len(source), 1), special.bos, device=source.device)
    alive = torch.arange(len(source), device=source.device)  # sentences that still grow
    never = torch.tensor([special.pad, special.bos, special.unk], device=source.device)
    results: list[list[int]] = [[] for _ in range(len(source))]
    for length in range(1, int(limits.max()) + 1):
        with rows_are(Rows(query_offset=cache.length, sentences=tuple(alive.tolist()))):
            logits = model.decode_step(pieces, cache)  # (alive, V)
        chosen = logits.index_fill_(1, never, -torch.inf).argmax(dim=-1)
        going = chosen != special.eos
        for sentence, piece in zip(alive[going].tolist(), chosen[going].tolist(), strict=True):
            results[sentence].append(piece)
        going &= limits[alive] > length
        if not bool(going.any()):
            break
        if not bool(going.all()):
            kept = going.nonzero().flatten()
            cache.keep_sentences(kept)
            cache.reorder(kept)
            alive, chosen = alive[kept], chosen[kept]
        pieces = chosen[:, None]
    return results
