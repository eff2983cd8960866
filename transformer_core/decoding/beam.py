"""Beam search with a length penalty, over a batch, with the whole search kept (Section 6.1).

Shape legend: B sentences, k = beam, R = B * k rows, S source positions, V = vocab_size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from transformer_core.config import DecodingConfig, LengthPenalty, SpecialIds
from transformer_core.cpu.topk import chunked_topk
from transformer_core.decoding.constraint import Constraint, forbidden_tokens, nothing_but
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.decoding.limits import length_limits
from transformer_core.hooks.points import Rows, row_context
from transformer_core.model.masks import padding_mask
from transformer_core.model.transformer import Transformer

Status = Literal["kept", "finished", "pruned"]
Alternatives = tuple[tuple[int, float], ...]
ShouldStop = Callable[[], bool]
IsGivenUp = Callable[[int], bool]


class DecodingStopped(RuntimeError):
    """The search was stopped before it had a translation."""


def length_penalty(length: int, alpha: float, kind: LengthPenalty = "gnmt") -> float:
    """Return the divisor of a log-probability: ((5 + length) / 6) ** alpha (Wu et al. 2016, equation 14), or a power.

    Args:
        length: Tokens, `</s>` included.
        alpha: Its strength.
        kind: `gnmt`, or `power` for length ** alpha.
    """
    return float((length if kind == "power" else (5.0 + length) / 6.0) ** alpha)


@dataclass(frozen=True)
class Node:
    """One candidate of the search: a token after a hypothesis.

    Args:
        parent: Index in the history of the node that it continues; -1 at the start.
        step: Tokens written, this one included.
        token: Id; `</s>` when finished.
        log_probability: Of all tokens so far, in nats.
        token_log_probability: Of this token alone.
        status: `kept` in the beam, `finished` with `</s>`, or `pruned`: considered, but not among the best.
        alternatives: The likeliest tokens at this step after the same parent, with their log-probabilities, best first.
    """

    parent: int
    step: int
    token: int
    log_probability: float
    token_log_probability: float
    status: Status
    alternatives: Alternatives


@dataclass(frozen=True)
class Hypothesis:
    """One translation found.

    Args:
        ids: Tokens without `</s>`.
        log_probabilities: Of each token, and of `</s>` when finished.
        alternatives: For each of these, the likeliest tokens at that step with their log-probabilities, best first.
        score: Log-probability of all, divided by the length penalty.
        finished: Whether it ends with `</s>`; False when it was cut off at the length limit.
        node: Its last node in the history.
    """

    ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    alternatives: tuple[Alternatives, ...]
    score: float
    finished: bool
    node: int

    @property
    def log_probability(self) -> float:
        """Sum over the tokens, in nats."""
        return sum(self.log_probabilities)


@dataclass(frozen=True)
class SearchResult:
    """Everything about the search for one sentence.

    Args:
        hypotheses: Best first, at most `beam`; none when the sentence was given up.
        history: All candidates in the order in which they were considered; a tree through `parent`.
    """

    hypotheses: tuple[Hypothesis, ...]
    history: tuple[Node, ...]


class _Candidate(NamedTuple):
    """A token after one of the beams: log-probability in all, of the token alone, number of the beam, token."""

    total: float
    own: float
    beam: int
    token: int


class _Sentence:
    """The search for one sentence."""

    def __init__(self, number: int, limit: int, config: DecodingConfig, eos: int) -> None:
        self.number, self.limit, self.config, self.eos = number, limit, config, eos
        self.history: list[Node] = []
        self.beam: list[int] = [-1]  # nodes in the beam, best first; -1 is the start
        self.states: list[Any] = [None] * config.beam  # of the constraint, one for each row; None for one that is dead
        self.ended: list[tuple[float, int]] = []  # (score, node) of finished hypotheses
        self.given_up = False

    def grow(self, step: int, candidates: list[_Candidate], alternatives: list[Alternatives]) -> list[int]:
        """Sort the candidates of a step, best first, into kept, finished and pruned.

        Args:
            step: Tokens that each candidate has.
            candidates: Best first.
            alternatives: Of each beam.

        Returns:
            For each new beam the old beam that it continues.
        """
        beam = self.config.beam
        nodes: list[int] = []
        parents: list[int] = []
        for rank, candidate in enumerate(candidates):
            if candidate.total == -math.inf:
                continue
            node = len(self.history)
            status: Status = "pruned"
            if candidate.token == self.eos and rank < beam:
                status = "finished"
                self.ended.append((self._score(candidate.total, step), node))
            elif candidate.token != self.eos and len(nodes) < beam:
                status = "kept"
                nodes.append(node)
                parents.append(candidate.beam)
            self.history.append(
                Node(
                    parent=self.beam[candidate.beam],
                    step=step,
                    token=candidate.token,
                    log_probability=candidate.total,
                    token_log_probability=candidate.own,
                    status=status,
                    alternatives=alternatives[candidate.beam],
                )
            )
        self.ended = sorted(self.ended, key=lambda ended: -ended[0])[:beam]
        self.beam = nodes
        return parents

    def follow(self, constraint: Constraint, parents: list[int]) -> None:
        """Set the states of the new beam, after `grow` has returned the parents."""
        tokens = (self.history[node].token for node in self.beam)
        states = [constraint.advance(self.states[row], token) for row, token in zip(parents, tokens, strict=True)]
        self.states = states + [None] * (self.config.beam - len(states))

    def over(self, step: int) -> bool:
        """Return whether every hypothesis in the beam scores below the worst finished one kept."""
        if step >= self.limit or not self.beam:
            return True
        if len(self.ended) < self.config.beam:
            return False
        if self.config.early_stopping:
            return True
        return self._score(self.history[self.beam[0]].log_probability, step) <= self.ended[-1][0]

    def result(self) -> SearchResult:
        """Return finished hypotheses first, each group by score."""
        if self.given_up:
            return SearchResult((), ())
        found = [self._hypothesis(node, score, finished=True) for score, node in self.ended]
        if len(found) < self.config.beam:
            for node in self.beam:
                last = self.history[node]
                found.append(self._hypothesis(node, self._score(last.log_probability, last.step), finished=False))
        return SearchResult(tuple(found[: self.config.beam]), tuple(self.history))

    def _score(self, log_probability: float, length: int) -> float:
        return log_probability / length_penalty(length, self.config.alpha, self.config.length_penalty)

    def _hypothesis(self, node: int, score: float, finished: bool) -> Hypothesis:
        path: list[Node] = []
        at = node
        while at >= 0:
            path.append(self.history[at])
            at = self.history[at].parent
        path.reverse()
        return Hypothesis(
            ids=tuple(n.token for n in (path[:-1] if finished else path)),
            log_probabilities=tuple(n.token_log_probability for n in path),
            alternatives=tuple(n.alternatives for n in path),
            score=score,
            finished=finished,
            node=node,
        )


@torch.no_grad()
def beam_search(
    model: Transformer,
    source: Tensor,
    special: SpecialIds,
    config: DecodingConfig,
    should_stop: ShouldStop = lambda: False,
    is_given_up: IsGivenUp = lambda number: False,
    constraint: Constraint | None = None,
) -> list[SearchResult]:
    """Translate a batch.

    Args:
        model: In evaluation mode.
        source: (B, S) ids, each sentence ending with `</s>`, padded.
        special: Ids of the special tokens; `<pad>`, `<s>` and `<unk>` are never generated. A `forced_bos` is given, so
            its log-probability is 0.
        config: Beam, length penalty, limits of the length.
        should_stop: Called before every step.
        is_given_up: Called after every step for each sentence that still runs, with its number in the batch: whether
            it leaves the batch. The others go on without it.
        constraint: Limits the tokens and the end of each sentence, above `min_length`; None for
            anything.

    Returns:
        One result for each sentence, in order; empty for a sentence given up.

    Raises:
        DecodingStopped: `should_stop` returned True.
    """
    beam, device = config.beam, source.device
    mask = padding_mask(source, special.pad)
    limits = length_limits(mask, config.extra_length, model.config.max_length).tolist()
    sentences = [_Sentence(number, limit, config, special.eos) for number, limit in enumerate(limits)]
    running = list(sentences)
    if constraint:
        for sentence in sentences:
            sentence.states[0] = constraint.start(sentence.number, sentence.limit)
    decoder = IncrementalDecoder(model, model.encode(source, mask), mask, beams=beam)
    tokens = torch.full((len(source) * beam, 1), special.bos, device=device)  # (R, 1)
    totals = torch.full((len(source), beam), -torch.inf, device=device)  # (B, k) log-probabilities
    totals[:, 0] = 0.0  # all beams start alike, so only one of them counts
    for step in range(1, max(limits) + 1):
        if should_stop():
            raise DecodingStopped(f"stopped before step {step}")
        with row_context(_rows(running, decoder.length, beam)):
            logits = decoder.step(tokens)  # (R, V)
        rows, tokens, totals = _advance(running, logits, totals, special, config, step, constraint)
        for sentence in running:
            sentence.given_up = is_given_up(sentence.number)
        going = [i for i, sentence in enumerate(running) if not (sentence.given_up or sentence.over(step))]
        if not going:
            break
        if len(going) < len(running):
            kept = torch.tensor(going, device=device)
            running = [running[i] for i in going]
            decoder.keep_sentences(kept)
            rows, tokens, totals = rows[kept], tokens[kept], totals[kept]
        decoder.reorder(rows.flatten())
        tokens = tokens.reshape(-1, 1)
    return [sentence.result() for sentence in sentences]


def _rows(running: list[_Sentence], length: int, beam: int) -> Rows:
    numbers = tuple(sentence.number for sentence in running for _ in range(beam))
    return Rows(query_offset=length, sentences=numbers, beams=tuple(range(beam)) * len(running))


def _advance(
    running: list[_Sentence],
    logits: Tensor,
    totals: Tensor,
    special: SpecialIds,
    config: DecodingConfig,
    step: int,
    constraint: Constraint | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Let every sentence choose its next beam.

    Returns:
        Of each new beam the row that it continues (B, k), counted over the whole batch, its token (B, k) and its
        log-probability (B, k).
    """
    beam, device = config.beam, logits.device
    no_text = special.never_generated
    too_early = step <= config.min_length and constraint is None
    never = torch.tensor(no_text + [special.eos] * too_early, device=device)
    # Before the fill: the probability of a forbidden token is lost, not shared among the others.
    log_p = torch.log_softmax(logits, dim=-1, dtype=torch.float32).index_fill_(1, never, -torch.inf)  # (R, V)
    logits = logits.index_fill_(1, never, -torch.inf)
    given = step == 1 and special.forced_bos >= 0
    if given:
        log_p, logits = (nothing_but(special.forced_bos, values) for values in (log_p, logits))
    if constraint:
        forbidden = forbidden_tokens(constraint, [state for each in running for state in each.states], device)  # (R, V)
        log_p, logits = (values.masked_fill_(forbidden, -torch.inf) for values in (log_p, logits))
    width = min(max(2 * beam, config.alternatives + 1), logits.shape[1])
    # In the order of the logits, as in greedy search; log_softmax rounds, and may make ties.
    top_tokens = chunked_topk(logits, width)[1]  # (R, width)
    own = log_p.gather(1, top_tokens).view(len(running), beam, width)
    choices = min(2 * beam, width)
    # The 2k best of all beams of a sentence: at most k of them end, so at least k go on.
    candidates = (totals[:, :, None] + own[:, :, :choices]).flatten(1)  # (B, k * choices)
    best, at = candidates.topk(min(2 * beam, candidates.shape[1]))
    own_best = own[:, :, :choices].flatten(1).gather(1, at)
    token_best = top_tokens.view(len(running), beam, width)[:, :, :choices].flatten(1).gather(1, at)
    row_best = at // choices

    shown = config.alternatives + 1
    alternative_tokens = top_tokens[:, :shown].view(len(running), beam, -1).tolist()
    alternative_logs = own[:, :, :shown].tolist()
    new_rows, new_tokens, new_totals = [], [], []
    columns = (best.tolist(), own_best.tolist(), row_best.tolist(), token_best.tolist())
    for i, sentence in enumerate(running):
        sorted_candidates = [_Candidate(*values) for values in zip(*(column[i] for column in columns), strict=True)]
        alternatives = [
            tuple((token, log) for token, log in zip(p, q, strict=True) if log > -math.inf or not (constraint or given))
            for p, q in zip(alternative_tokens[i], alternative_logs[i], strict=True)
        ]
        parents = sentence.grow(step, sorted_candidates, alternatives)
        if constraint:
            sentence.follow(constraint, parents)
        missing = beam - len(parents)  # fewer tokens than beams: fill up with rows that can never win
        new_rows.append([i * beam + parent for parent in parents] + [i * beam] * missing)
        new_tokens.append([sentence.history[node].token for node in sentence.beam] + [special.eos] * missing)
        new_totals.append([sentence.history[node].log_probability for node in sentence.beam] + [-torch.inf] * missing)
    return (
        torch.tensor(new_rows, device=device),
        torch.tensor(new_tokens, device=device),
        torch.tensor(new_totals, device=device),
    )
