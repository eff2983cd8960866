"""Searches without any cleverness, to compare with: no cache, one sentence, every token looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import torch

from tests.core.tiny import SPECIAL
from transformer_core.model.masks import padding_mask
from transformer_core.model.transformer import Transformer

FORBIDDEN = (SPECIAL.pad, SPECIAL.bos, SPECIAL.unk)


@dataclass(frozen=True)
class Found:
    """Tokens with their log-probabilities, `</s>` among them when it was written."""

    tokens: tuple[int, ...]
    logs: tuple[float, ...]
    alpha: float

    @property
    def finished(self) -> bool:
        return bool(self.tokens) and self.tokens[-1] == SPECIAL.eos

    @property
    def total(self) -> float:
        return sum(self.logs)

    @property
    def score(self) -> float:
        return self.total / math.pow((5 + len(self.tokens)) / 6, self.alpha)


@torch.no_grad()
def next_logs(model: Transformer, source: list[int], tokens: tuple[int, ...]) -> list[float]:
    """Log-probability of every next token, from a full pass."""
    ids = torch.tensor([[*source, SPECIAL.eos]])
    logits = model(ids, torch.tensor([[SPECIAL.bos, *tokens]]), padding_mask(ids, SPECIAL.pad))[0, -1]
    values: list[float] = torch.log_softmax(logits.double(), dim=-1).tolist()
    return values


def longer(model: Transformer, source: list[int], hypothesis: Found) -> list[Found]:
    logs = next_logs(model, source, hypothesis.tokens)
    return [
        Found((*hypothesis.tokens, token), (*hypothesis.logs, log), hypothesis.alpha)
        for token, log in enumerate(logs)
        if token not in FORBIDDEN
    ]


def greedy(model: Transformer, source: list[int], limit: int) -> Found:
    best = Found((), (), 0.0)
    while len(best.tokens) < limit and not best.finished:
        best = max(longer(model, source, best), key=lambda h: h.total)
    return best


def beam(model: Transformer, source: list[int], k: int, alpha: float, limit: int) -> list[Found]:
    ended, living = beam_steps(model, source, k, alpha, limit)[-1]
    return (ended + living)[:k]


def beam_steps(
    model: Transformer, source: list[int], k: int, alpha: float, limit: int
) -> list[tuple[list[Found], list[Found]]]:
    """Take the 2k best candidates of a step: the first k that end are finished, the first k others go on."""
    steps = []
    living, ended = [Found((), (), alpha)], list[Found]()
    for _ in range(limit):
        candidates = [candidate for hypothesis in living for candidate in longer(model, source, hypothesis)]
        candidates = sorted(candidates, key=lambda h: -h.total)[: 2 * k]
        ended += [candidate for candidate in candidates[:k] if candidate.finished]
        ended = sorted(ended, key=lambda h: -h.score)[:k]
        living = [candidate for candidate in candidates if not candidate.finished][:k]
        steps.append((ended, living))
        if not living or (len(ended) == k and living[0].score <= ended[-1].score):
            break
    return steps


def everything(model: Transformer, source: list[int], alpha: float, limit: int) -> list[Found]:
    """All finished translations of at most `limit` tokens, best first, then all that were cut off, best first."""
    words = [token for token in range(model.config.vocab_size) if token not in (*FORBIDDEN, SPECIAL.eos)]
    finished, cut = [], []
    for length in range(limit + 1):
        for tokens in product(words, repeat=length):
            logs: tuple[float, ...] = ()
            for t in range(length):
                logs += (next_logs(model, source, tokens[:t])[tokens[t]],)
            if length < limit:
                end = next_logs(model, source, tokens)[SPECIAL.eos]
                finished.append(Found((*tokens, SPECIAL.eos), (*logs, end), alpha))
            else:
                cut.append(Found(tokens, logs, alpha))
    return [*sorted(finished, key=lambda h: -h.score), *sorted(cut, key=lambda h: -h.score)]
