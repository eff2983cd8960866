"""The candidates of one step of beam search: chosen on the device, read by the host as one tensor.

Shape legend: B sentences, k = beam, R = B * k rows, V = vocab_size, w best tokens of a row, c of them that may become
candidates, s of them that are shown, n candidates of a sentence.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from transformer_core.cpu.topk import chunked_topk


class Candidates(NamedTuple):
    """The n candidates of one sentence, best first, and the likeliest tokens after each beam; on the host."""

    totals: list[float]  # log-probability of all tokens so far, in nats
    own: list[float]  # log-probability of the last token
    likeliest_logs: list[list[float]]  # (k, s)
    beams: list[int]  # the beam that each continues
    tokens: list[int]
    likeliest_tokens: list[list[int]]  # (k, s)


class NextBeam:
    """The next beam of every sentence, chosen on the device without a wait.

    Args:
        logits: (R, V) of the next token, minus infinity where it may not come.
        log_p: (R, V) its log-probabilities, likewise.
        totals: (B, k) log-probabilities of the beams so far.
        eos: Id of `</s>`.
        alternatives: Tokens shown beside the likeliest.
    """

    def __init__(self, logits: Tensor, log_p: Tensor, totals: Tensor, eos: int, alternatives: int) -> None:
        sentences, beam = totals.shape
        width = min(max(2 * beam, alternatives + 1), logits.shape[1])
        choices = min(2 * beam, width)
        # In the order of the logits, as in greedy search; log_softmax rounds, and may make ties.
        top_tokens = chunked_topk(logits, width)[1]  # (R, w)
        own = log_p.gather(1, top_tokens)
        first_own = own[:, :choices].reshape(sentences, -1)  # (B, k * c)
        first_tokens = top_tokens[:, :choices].reshape(sentences, -1)
        # The 2k best of all beams of a sentence: at most k of them end, so at least k go on.
        candidates = (totals[:, :, None] + first_own.view(sentences, beam, -1)).flatten(1)  # (B, k * c)
        best, at = candidates.topk(min(2 * beam, candidates.shape[1]))  # (B, n)
        row_best, token_best = at // choices, first_tokens.gather(1, at)
        # Stable, so that equals keep the order in which the host reads them.
        going = best.masked_fill(token_best == eos, -torch.inf).sort(dim=1, descending=True, stable=True)
        # Rows count over the whole batch. Where fewer candidates than beams go on, the others can never win: -inf.
        self.totals, order = going.values[:, :beam], going.indices[:, :beam]  # (B, k)
        self.tokens = token_best.gather(1, order)  # (B, k)
        self.rows = row_best.gather(1, order) + torch.arange(0, len(logits), beam, device=logits.device)[:, None]
        logs = best, first_own.gather(1, at), own.view(sentences, -1)
        # In float32, too, which holds every id exactly: a vocabulary has less than 2^24 tokens.
        numbers = row_best.float(), token_best.float(), top_tokens.view(sentences, -1).float()
        self._packed = torch.cat((*logs, *numbers), dim=1)  # (B, 2 * (2 n + k * w))
        self._count, self._shown = best.shape[1], alternatives + 1

    def read(self) -> list[Candidates]:
        """Return the candidates of each sentence: the one wait for the device in a step."""
        count, packed = self._count, self._packed.cpu().numpy().reshape(len(self.rows), 2, -1)
        columns: list[np.ndarray[Any, Any]] = []
        for values in (packed[:, 0], packed[:, 1].astype(np.int64)):
            likeliest = values[:, 2 * count :].reshape(*self.rows.shape, -1)[:, :, : self._shown]
            columns += values[:, :count], values[:, count : 2 * count], likeliest
        return [Candidates(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]
