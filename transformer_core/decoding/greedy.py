"""Greedy search over a batch: always the likeliest next token. The fast way to validate a training.

Shape legend: B sentences, S source positions.
"""

from __future__ import annotations

import torch
from torch import Tensor

from transformer_core.config import SpecialIds
from transformer_core.cpu.topk import chunked_topk
from transformer_core.decoding.constraint import Constraint, forbidden_tokens, nothing_but
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.decoding.limits import length_limits
from transformer_core.hooks.points import Rows, row_context
from transformer_core.model.masks import padding_mask
from transformer_core.model.transformer import Transformer


@torch.no_grad()
def greedy_search(
    model: Transformer,
    source: Tensor,
    special: SpecialIds,
    extra_length: int = 50,
    constraint: Constraint | None = None,
) -> list[list[int]]:
    """Translate a batch.

    Args:
        model: In evaluation mode.
        source: (B, S) ids, each sentence ending with `</s>`, padded.
        special: Ids of the special tokens; `<pad>`, `<s>` and `<unk>` are never generated. A `forced_bos` is given.
        extra_length: Maximum tokens beyond the length of the source.
        constraint: Limits what may be generated for each sentence; None allows anything.

    Returns:
        For each sentence the ids of its translation, without `<s>` and `</s>`.
    """
    mask = padding_mask(source, special.pad)
    decoder = IncrementalDecoder(model, model.encode(source, mask), mask, beams=1)
    limits = length_limits(decoder.cache.source_lengths, extra_length, model.config.max_length)
    tokens = torch.full((len(source), 1), special.bos, device=source.device)
    alive = list(range(len(source)))  # sentences that still grow
    never = torch.tensor(special.never_generated, device=source.device)
    results: list[list[int]] = [[] for _ in alive]
    states = [constraint.start(sentence, limits[sentence]) for sentence in alive] if constraint else []
    for length in range(1, max(limits) + 1):
        with row_context(Rows(query_offset=decoder.length, sentences=tuple(alive))):
            logits = decoder.step(tokens)  # (alive, V)
        logits = logits.index_fill_(1, never, -torch.inf)
        if length == 1 and special.forced_bos >= 0:
            logits = nothing_but(special.forced_bos, logits)
        if constraint:
            logits = logits.masked_fill_(forbidden_tokens(constraint, states, source.device), -torch.inf)
        tokens = chunked_topk(logits, 1)[1]  # (alive, 1)
        written = tokens[:, 0].tolist()  # the only wait for the device
        going = []
        for row, (sentence, token) in enumerate(zip(alive, written, strict=True)):
            if token != special.eos:
                results[sentence].append(token)
                if length < limits[sentence]:
                    going.append(row)
        if not going:
            break
        if constraint:
            states = [constraint.advance(states[row], written[row]) for row in going]
        if len(going) < len(alive):
            rows = decoder.keep_sentences(going)
            decoder.reorder(rows)
            alive, tokens = [alive[row] for row in going], tokens[rows]
    return results
