"""Beam searches for the browser tests of the explorer: made by a formula, so no trained model is needed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.browser import explorer_samples as samples
from transformer_core.attention_maps import AttentionMaps
from transformer_core.config import DecodingConfig, LengthPenalty
from transformer_core.decoding.beam import SearchResult, _Sentence, length_penalty
from transformer_core.decoding.candidates import Candidates
from viz_app.serving.models.search_tree import branch_ends, path_to, search_tree

EOS = 0
TOKENS = ("</s>", *samples.SENTENCE[1], "▁Eine", "▁rennt", "▁<b>fett</b>")


def made_up(steps: int, *, beam: int = 3, kind: LengthPenalty = "gnmt", seed: int = 5) -> tuple[Any, DecodingConfig]:
    """A translation, as far as its search is concerned, of at most so many steps, and the settings of the search."""
    config = DecodingConfig(beam=beam, alpha=0.6, length_penalty=kind)
    sentence = _Sentence(0, steps, config, EOS)
    generator = np.random.default_rng(seed)
    totals = [0.0]
    for step in range(1, steps + 1):
        candidates = []
        for row, total in enumerate(totals):
            own = np.log(generator.dirichlet(np.full(len(TOKENS), 0.3)) + 1e-4)
            own[EOS] = -8.0 if step < steps - 3 else own[EOS] + 2.0
            candidates += [(total + float(own[p]), float(own[p]), row, p) for p in range(len(TOKENS))]
        best = sorted(candidates, key=lambda candidate: -candidate[0])[: 2 * beam]
        sums, logs, rows, tokens = map(list, zip(*best, strict=True))
        none: list[Any] = [[]] * len(totals)
        kept = sentence.grow(step, Candidates(sums, logs, none, rows, tokens, none), only_possible=False)
        sentence.record()
        totals = [sums[rank] for rank in kept]
        if sentence.over(step):
            break
    result: SearchResult = sentence.result()
    return SimpleNamespace(source="made up", hypotheses=result.hypotheses, history=result.history), config


def tokenizer() -> Any:
    return SimpleNamespace(token=lambda number: TOKENS[number], special=SimpleNamespace(eos=EOS))


def tree_of(translation: Any, config: DecodingConfig, shown: int) -> dict[str, Any]:
    return search_tree(translation, tokenizer(), config, shown)


def maps_of(translation: Any, number: int) -> AttentionMaps:
    """Maps of a branch."""
    path = path_to(translation.history, branch_ends(translation)[number])
    tokens = [TOKENS[node.token] for node in path if node.token != EOS]
    few = {"layers": 1, "heads": 1} if len(tokens) > 99 else {}  # so that a test need not wait for megabytes
    return samples.sample(samples.SENTENCE[0], tokens, seed=number, finished=path[-1].token == EOS, **few)


def ranked(translation: Any, alpha: float, kind: LengthPenalty) -> list[int]:
    """Branches that are finished, or returned unfinished, best first."""
    rows = []
    for branch, end in enumerate(branch_ends(translation)):
        node = translation.history[end]
        if branch < len(translation.hypotheses) or node.status == "finished":
            score = node.log_probability / length_penalty(node.step, alpha, kind)
            rows.append((node.token != EOS, -score, branch))
    return [branch for _, _, branch in sorted(rows)]
