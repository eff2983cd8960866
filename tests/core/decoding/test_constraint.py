"""Constrained search against every tree that there is, scored with full passes; and without a constraint as before."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from tests.core.decoding import slow_search
from tests.core.parsing.symbols import EOS, TABLE, is_tree, trees
from tests.core.tiny import SPECIAL, tiny_model
from transformer_core.config import DecodingConfig
from transformer_core.data import make_batch
from transformer_core.decoding.beam import SearchResult, beam_search
from transformer_core.decoding.constraint import forbidden_tokens
from transformer_core.decoding.greedy import greedy_search
from transformer_core.model.transformer import Transformer
from transformer_core.parsing.automaton import BracketAutomaton

SOURCES, WORDS = [[4, 5, 6], [7], [8, 4]], [3, 1, 2]
EXTRA = 4  # at most 7, 5 and 6 symbols with </s>


def search(model: Transformer, constraint: BracketAutomaton | None, **options: float) -> list[SearchResult]:
    source = make_batch(SOURCES, [[]] * 3, SPECIAL).source
    config = DecodingConfig.from_dict({"extra_length": EXTRA, **options})
    return beam_search(model, source, SPECIAL, config, constraint=constraint)


def tree_scores(model: Transformer, source: list[int], words: int, alpha: float) -> dict[tuple[int, ...], float]:
    """Each tree within the limit and its score, the probability of symbols that are forbidden not shared out."""
    values = {}
    for ids in trees(words, len(source) + EXTRA - 1):
        written = (*ids, EOS)
        logs = tuple(slow_search.next_logs(model, source, written[:t])[token] for t, token in enumerate(written))
        values[ids] = slow_search.Found(written, logs, alpha).score
    return values


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_a_wide_beam_finds_all_trees_in_order(alpha: float) -> None:
    model = tiny_model(seed=3, vocab_size=TABLE.size)
    results = search(model, BracketAutomaton(TABLE, WORDS), beam=200, alpha=alpha)
    for source, words, result in zip(SOURCES, WORDS, results, strict=True):
        scores = tree_scores(model, source, words, alpha)
        finished = [each for each in result.hypotheses if each.finished]
        assert {each.ids for each in finished} == set(scores)
        for each in finished:
            assert each.score == pytest.approx(scores[each.ids], abs=1e-4)
        assert all(better.score >= worse.score for better, worse in pairwise(finished))


@pytest.mark.parametrize("seed", range(6))
def test_every_beam_ends_with_a_tree(seed: int) -> None:
    model = tiny_model(seed=seed, vocab_size=TABLE.size)
    for beam in (1, 2, 5):
        for words, result in zip(WORDS, search(model, BracketAutomaton(TABLE, WORDS), beam=beam), strict=True):
            assert result.hypotheses[0].finished
            assert is_tree(result.hypotheses[0].ids, words)
            logs = [log for node in result.history for _, log in node.alternatives]
            assert min(logs) > -torch.inf  # what may not come is no alternative


@pytest.mark.parametrize("seed", range(6))
def test_greedy_search_is_a_beam_of_one(seed: int) -> None:
    model = tiny_model(seed=seed, vocab_size=TABLE.size)
    source = make_batch(SOURCES, [[]] * 3, SPECIAL).source
    results = greedy_search(model, source, SPECIAL, EXTRA, BracketAutomaton(TABLE, WORDS))
    beams = search(model, BracketAutomaton(TABLE, WORDS), beam=1)
    assert [tuple(ids) for ids in results] == [result.hypotheses[0].ids for result in beams]
    assert all(is_tree(ids, words) for ids, words in zip(results, WORDS, strict=True))


def test_without_a_constraint_the_same_model_generates_no_trees() -> None:
    """So that the tests above say something."""
    free = [search(tiny_model(seed=seed, vocab_size=TABLE.size), None, beam=2) for seed in range(6)]
    assert not any(is_tree(r.hypotheses[0].ids, words) for some in free for r, words in zip(some, WORDS, strict=True))


def test_a_constraint_that_forbids_nothing_changes_nothing() -> None:
    class Anything:
        def start(self, sentence: int, limit: int) -> int:
            return 0

        def advance(self, state: int, token: int) -> int:
            return state + 1

        def allowed(self, state: int) -> torch.Tensor:
            return torch.ones(12, dtype=torch.bool)

    model = tiny_model(seed=5, vocab_size=12)
    source = make_batch(SOURCES, [[]] * 3, SPECIAL).source
    config = DecodingConfig(extra_length=EXTRA, beam=3)
    free = beam_search(model, source, SPECIAL, config)
    assert beam_search(model, source, SPECIAL, config, constraint=Anything()) == free
    assert greedy_search(model, source, SPECIAL, 4, Anything()) == greedy_search(model, source, SPECIAL, 4)


def test_a_row_that_is_dead_may_have_anything() -> None:
    automaton = BracketAutomaton(TABLE, [1])
    state = automaton.start(0, 9)
    result = forbidden_tokens(automaton, [state, None], torch.device("cpu"))
    assert (~result).nonzero().tolist() == [[0, 5], [0, 7], *([1, i] for i in range(TABLE.size))]
