"""Beam search with a length penalty, over a batch, with the whole search kept (Section 6.1).

Shape legend: B sentences, k = beam, R = B * k rows, S source positions, V = vocab_size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor

from transformer_core.attention_maps import Kind
from transformer_core.config import DecodingConfig, LengthPenalty, SpecialIds
from transformer_core.decoding.candidates import Candidates, NextBeam
from transformer_core.decoding.constraint import Constraint, check_prefix, forbidden_tokens, nothing_but, only_forced
from transformer_core.decoding.draft import Draft, OnStep, Recording
from transformer_core.decoding.forced_maps import capture_maps
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.decoding.limits import length_limits
from transformer_core.hooks.points import Rows, row_context
from transformer_core.model.masks import padding_mask
from transformer_core.model.transformer import Transformer

_MAX_MAP_BYTES = 8 * 2**20  # of all hypotheses of a search; a longer one has its maps from a forced pass

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
        maps: Attention weights of the best hypothesis, (L, 1, H, Q, K) for each kind, if they were kept.
    """

    hypotheses: tuple[Hypothesis, ...]
    history: tuple[Node, ...]
    maps: Mapping[Kind, Tensor] = field(default_factory=dict, repr=False, compare=False)


class _Sentence:
    """The search for one sentence."""

    def __init__(self, number: int, limit: int, config: DecodingConfig, eos: int) -> None:
        self.number, self.limit, self.config, self.eos = number, limit, config, eos
        self.history: list[Node] = []
        self.beam: list[int] = [-1]  # nodes in the beam, best first; -1 is the start
        self.best = 0.0  # log-probability of the first of them
        self.states: list[Any] = [None] * config.beam  # of the constraint, one for each row; None for one that is dead
        self.ended: list[tuple[float, int]] = []  # (score, node) of finished hypotheses
        self.given_up = False
        self.prefix: Sequence[int] = ()
        self.record: Callable[[], None] = lambda: None  # writes the last step to the history
        self.recording: Recording | None = None
        self.encoder_maps: Tensor | None = None  # (L, 1, H, S, S), where the maps are kept

    def grow(self, step: int, candidates: Candidates, only_possible: bool) -> list[int]:
        """Sort the candidates of a step into kept, finished and pruned; return the ranks of those kept."""
        beam, first = self.config.beam, len(self.history)
        statuses: list[Status] = []
        kept: list[int] = []
        for rank, (total, token) in enumerate(zip(candidates.totals, candidates.tokens, strict=True)):
            if total == -math.inf:
                break  # nor is any other possible
            status: Status = "pruned"
            if token == self.eos and rank < beam:
                status = "finished"
                self.ended.append((self._score(total, step), first + rank))
            elif token != self.eos and len(kept) < beam:
                status = "kept"
                kept.append(rank)
            statuses.append(status)
        if self.recording:
            self.recording.grow(candidates, statuses, first)
        self.ended = sorted(self.ended, key=lambda ended: -ended[0])[:beam]
        self.record = partial(self._record, step, candidates, statuses, self.beam, only_possible)
        self.beam = [first + rank for rank in kept]
        self.best = candidates.totals[kept[0]] if kept else -math.inf
        return kept

    def _record(
        self, step: int, candidates: Candidates, statuses: list[Status], before: list[int], only_possible: bool
    ) -> None:
        """Write the candidates of a step to the history: nothing that the next step waits for."""
        likeliest = zip(candidates.likeliest_tokens, candidates.likeliest_logs, strict=True)
        alternatives: list[Alternatives] = [tuple(zip(*beam, strict=True)) for beam in likeliest]
        if only_possible:
            alternatives = [tuple(pair for pair in pairs if pair[1] > -math.inf) for pairs in alternatives]
        columns = candidates.beams, candidates.tokens, candidates.totals, candidates.own
        self.history += [
            Node(before[beam], step, token, total, own, status, alternatives[beam])
            for status, beam, token, total, own in zip(statuses, *columns, strict=False)
        ]
        self.record = lambda: None

    def follow(self, constraint: Constraint, candidates: Candidates, kept: list[int]) -> None:
        """Set the states of the new beam, after `grow` has returned it."""
        states = [constraint.advance(self.states[candidates.beams[rank]], candidates.tokens[rank]) for rank in kept]
        self.states = states + [None] * (self.config.beam - len(states))

    def draft(self, step: int) -> Draft:
        """Return the best hypothesis, finished or not."""
        assert self.recording is not None
        ends = bool(self.ended) and (not self.beam or self.ended[0][0] >= self._score(self.best, step))
        return self.recording.draft(self.ended[0][1] if ends else None)

    def over(self, step: int) -> bool:
        """Return whether every hypothesis in the beam scores below the worst finished one kept."""
        if step >= self.limit or not self.beam:
            return True
        if len(self.ended) < self.config.beam:
            return False
        return self.config.early_stopping or self._score(self.best, step) <= self.ended[-1][0]

    def result(self) -> SearchResult:
        """Return finished hypotheses first, each group by score."""
        if self.given_up:
            return SearchResult((), ())
        self.record()
        hypotheses = [self._hypothesis(node, score, finished=True) for score, node in self.ended]
        if len(hypotheses) < self.config.beam:
            for node in self.beam:
                last = self.history[node]
                hypotheses.append(self._hypothesis(node, self._score(last.log_probability, last.step), finished=False))
        maps: Mapping[Kind, Tensor] = {}
        if self.recording and self.encoder_maps is not None:
            maps = self.recording.maps(self.encoder_maps, hypotheses[0].node if hypotheses[0].finished else None)
        return SearchResult(tuple(hypotheses[: self.config.beam]), tuple(self.history), maps)

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
    prefixes: Sequence[Sequence[int]] | None = None,
    on_step: OnStep | None = None,
    keep_maps: bool = False,
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
        prefixes: Tokens with which the translation of each sentence begins. Their log-probabilities are the model's:
            they count in the score like all others.
        on_step: Called after every step for each sentence that still runs, with its number and its best hypothesis so
            far. The result is the same without it.
        keep_maps: Whether a single sentence keeps the attention weights of its best hypothesis: the same as a forced
            pass computes. Only a causal decoder without hooks, on a CPU, has them during its search.

    Returns:
        One result for each sentence, in order; empty for a sentence given up.

    Raises:
        DecodingStopped: `should_stop` returned True.
        PrefixError: A prefix is no beginning of a translation of its sentence; see `check_prefix`.
    """
    beam, device = config.beam, source.device
    mask = padding_mask(source, special.pad)
    kinds: tuple[Kind, ...] = ("encoder",) if keep_maps else ()
    with capture_maps(model, kinds) as captured:
        decoder = IncrementalDecoder(model, model.encode(source, mask), mask, beams=beam)
    limits = length_limits(decoder.cache.source_lengths, config.extra_length, model.config.max_length)
    sentences = [_Sentence(number, limit, config, special.eos) for number, limit in enumerate(limits)]
    running = list(sentences)
    if constraint:
        for sentence in sentences:
            sentence.states[0] = constraint.start(sentence.number, sentence.limit)
    for sentence, prefix in zip(sentences, prefixes or [()] * len(sentences), strict=True):
        check_prefix(prefix, sentence.limit, special, model.config.vocab_size, constraint, sentence.states[0])
        sentence.prefix = prefix
        if captured and _keeps_maps(model, decoder, limits, beam):
            sentence.encoder_maps = captured["encoder"]
        if on_step or sentence.encoder_maps is not None:
            sentence.recording = Recording(decoder.cache.source_lengths[sentence.number], beam)
    never = torch.tensor(special.never_generated, device=device)
    never_early = torch.tensor([*special.never_generated, special.eos], device=device)
    tokens = torch.full((len(source) * beam, 1), special.bos, device=device)  # (R, 1)
    totals = torch.full((len(source), beam), -torch.inf, device=device)  # (B, k) log-probabilities
    totals[:, 0] = 0.0  # all beams start alike, so only one of them counts
    for step in range(1, max(limits) + 1):
        if should_stop():
            raise DecodingStopped(f"stopped before step {step}")
        numbers = tuple(sentence.number for sentence in running for _ in range(beam))
        with row_context(Rows(decoder.length, numbers, tuple(range(beam)) * len(running))):
            weights: list[Tensor] | None = [] if running[0].recording else None
            logits = decoder.step(tokens, weights)  # (R, V)
        first_token = special.forced_bos if step == 1 else -1
        too_early = step <= config.min_length and constraint is None
        forced = [each.prefix[step - 1] if step <= len(each.prefix) else -1 for each in running]
        nevers = never_early if too_early else never
        logits, log_p = _log_probabilities(running, logits, nevers, first_token, forced, constraint)
        next_beam = NextBeam(logits, log_p, totals, special.eos, config.alternatives)
        for number, sentence in enumerate(running):
            sentence.record()  # of the step before, while the device computes this one
            if sentence.recording and weights is not None:
                sentence.recording.read(weights, slice(number * beam, (number + 1) * beam))
        moved, only_possible = False, constraint is not None or max(first_token, *forced) >= 0
        for sentence, candidates in zip(running, next_beam.read(), strict=True):
            kept = sentence.grow(step, candidates, only_possible)
            moved |= [candidates.beams[rank] for rank in kept] != list(range(beam))
            if constraint:
                sentence.follow(constraint, candidates, kept)
            sentence.given_up = is_given_up(sentence.number)
        going = [i for i, sentence in enumerate(running) if not (sentence.given_up or sentence.over(step))]
        if on_step:
            for i in going:
                on_step(running[i].number, running[i].draft(step))
        if not going:
            break
        rows, tokens, totals = next_beam.rows, next_beam.tokens, next_beam.totals
        if len(going) < len(running):
            running = [running[i] for i in going]
            remaining = decoder.keep_sentences(going)
            rows, tokens, totals, moved = rows[remaining], tokens[remaining], totals[remaining], True
        if moved:
            decoder.reorder(rows.flatten())
        tokens = tokens.reshape(-1, 1)
    return [sentence.result() for sentence in sentences]


def _keeps_maps(model: Transformer, decoder: IncrementalDecoder, limits: Sequence[int], beam: int) -> bool:
    """Return whether a search computes the weights of a forced pass, and they take little memory."""
    (limit, *others), config, step = limits, model.config, decoder.fused_step
    heads, sources = config.num_layers * config.num_heads, decoder.cache.source_lengths[0]
    few = 4 * beam * heads * limit * (limit // 2 + sources) <= _MAX_MAP_BYTES
    return few and not others and config.causal and step is not None and step.is_applicable()


def _log_probabilities(
    running: list[_Sentence],
    logits: Tensor,
    never: Tensor,
    first_token: int,
    forced: list[int],
    constraint: Constraint | None,
) -> tuple[Tensor, Tensor]:
    """Return logits, changed in place, and log-probabilities (R, V), minus infinity for tokens that may not come.

    Those are the ids of `never`, all but one that is `given` (-1 for none), what the constraint forbids, and in each
    sentence all but the one that is `forced` (-1 for none), whatever `never` says.
    """
    # Before the fill: the probability of a forbidden token is lost, not shared among the others.
    log_p = torch.log_softmax(logits, dim=-1, dtype=torch.float32)  # (R, V)
    before = (logits.clone(), log_p.clone()) if max(forced) >= 0 else ()
    logits, log_p = (values.index_fill_(1, never, -torch.inf) for values in (logits, log_p))
    if before:
        tokens = torch.tensor(forced, device=logits.device).repeat_interleave(len(logits) // len(running))  # (R,)
        logits, log_p = (only_forced(tokens, *both) for both in zip(before, (logits, log_p), strict=True))
    if first_token >= 0:
        logits, log_p = (nothing_but(first_token, values) for values in (logits, log_p))
    if constraint:
        states = [state for each in running for state in each.states]
        forbidden = forbidden_tokens(constraint, states, logits.device)  # (R, V)
        logits, log_p = (values.masked_fill_(forbidden, -torch.inf) for values in (logits, log_p))
    return logits, log_p
