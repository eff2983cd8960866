"""Find the first difference of two beam searches, and score in double precision."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from transformer_core.config import DecodingConfig, SpecialIds
from transformer_core.decoding.beam import Hypothesis, Node, SearchResult, length_penalty
from transformer_core.model.masks import padding_mask
from transformer_core.model.transformer import Transformer


def first_difference(alone: SearchResult, together: SearchResult, decoding: DecodingConfig) -> tuple[str, float]:
    """Find the first difference of two searches, and the gap of the candidates there, in nats or scores.

    Returns:
        `step` where another candidate is kept or ends, `end` where only one of them goes on, `order` where the same
        hypotheses are ranked differently; and the largest distance of two candidates of a rank, in the search alone.
    """
    ours, theirs = _by_step(alone.history), _by_step(together.history)
    for step in range(1, max(len(ours), len(theirs)) + 1):
        if step not in ours or step not in theirs:
            return "end", _stop_gap(alone if step in theirs else together, step - 1, decoding)
        a, b = ours[step], theirs[step]
        chosen = [{(path, n.status) for path, n in each.items() if n.status != "pruned"} for each in (a, b)]
        if chosen[0] != chosen[1]:
            ranks = [(x, y) for x, y in zip(a, b, strict=False) if x != y]
            return "step", max(
                (abs(a[x].log_probability - a.get(y, b[y]).log_probability) for x, y in ranks), default=math.inf
            )
    scores = {each.ids: each.score for each in alone.hypotheses}
    gaps = (
        abs(x.score - scores.get(y.ids, y.score))
        for x, y in zip(alone.hypotheses, together.hypotheses, strict=False)
        if x.ids != y.ids
    )
    return "order", max(gaps, default=math.inf)


def _by_step(history: Sequence[Node]) -> dict[int, dict[tuple[int, ...], Node]]:
    """For each step its candidates, best first, by all their tokens."""
    paths: list[tuple[int, ...]] = []
    nodes: dict[int, dict[tuple[int, ...], Node]] = {}
    for node in history:
        paths.append((*(paths[node.parent] if node.parent >= 0 else ()), node.token))
        nodes.setdefault(node.step, {})[paths[-1]] = node
    return nodes


def _stop_gap(result: SearchResult, step: int, decoding: DecodingConfig) -> float:
    """By how much the search was over: the worst finished hypothesis kept, against the best that goes on."""

    def score(node: Node) -> float:
        return node.log_probability / length_penalty(node.step, decoding.alpha, decoding.length_penalty)

    ended = sorted((score(n) for n in result.history if n.status == "finished" and n.step <= step), reverse=True)
    kept = [score(n) for n in result.history if n.status == "kept" and n.step == step]
    if len(ended) < decoding.beam or not kept:
        return math.inf  # nothing that rounding could turn
    return abs(ended[decoding.beam - 1] - max(kept))


@torch.no_grad()
def score_in_double(
    model: Transformer, source: Sequence[int], hypothesis: Hypothesis, special: SpecialIds, decoding: DecodingConfig
) -> float:
    """The score of a hypothesis by a model in double precision, from one forced pass.

    Args:
        model: In double precision.
        source: Ids without `</s>`.
        hypothesis: Of that source.
        special: Ids of the special tokens.
        decoding: The length penalty.
    """
    device = model.embedding.weight.device
    written = [*hypothesis.ids, *([special.eos] if hypothesis.finished else [])]
    sources = torch.tensor([[*source, special.eos]], device=device)  # (1, S)
    inputs = torch.tensor([[special.bos, *written[:-1]]], device=device)  # (1, T)
    logits = model(sources, inputs, *(padding_mask(ids, special.pad) for ids in (sources, inputs)))
    log_p = torch.log_softmax(logits[0], dim=-1)  # (T, V)
    total = float(log_p.gather(1, torch.tensor(written, device=device)[:, None]).sum())
    return total / length_penalty(len(written), decoding.alpha, decoding.length_penalty)
