"""The automaton generates all trees and nothing else: compared with every sequence of symbols that there is."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.core.parsing.symbols import EOS, TABLE, is_tree, trees
from transformer_core.parsing.automaton import BracketAutomaton, State, least_symbols
from transformer_core.parsing.vocabulary import NotAParser, learn_vocabularies


def generated(automaton: BracketAutomaton, state: State, so_far: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """All that can be generated from a state on; every path ends with `</s>`, or this fails."""
    allowed = automaton.allowed_ids(state)
    assert allowed, so_far
    rows = []
    for token in allowed:
        if token == EOS:
            rows.append(so_far)
        else:
            rows += generated(automaton, automaton.advance(state, token), (*so_far, token))
    return rows


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("bounds", [{}, {"max_depth": 1}, {"max_depth": 2}, {"max_opens": 1}, {"max_opens": 2}])
def test_exactly_the_trees_within_the_limit_are_generated(words: int, bounds: dict[str, int]) -> None:
    limit = 7
    automaton = BracketAutomaton(TABLE, [words], **bounds)
    result = generated(automaton, automaton.start(0, limit))
    wanted = list(trees(words, limit - 1, **bounds))
    assert sorted(result) == sorted(wanted)
    assert wanted


@pytest.mark.parametrize("words", [1, 2, 3])
def test_the_smallest_limit_leaves_one_bracket_and_less_is_an_error(words: int) -> None:
    automaton = BracketAutomaton(TABLE, [words])
    result = generated(automaton, automaton.start(0, least_symbols(words)))
    assert sorted(result) == sorted(trees(words, words + 2))
    with pytest.raises(ValueError, match=f"a tree over {words} words cannot have {words + 2} symbols"):
        automaton.start(0, words + 2)
    with pytest.raises(ValueError, match="a tree over 0 words"):
        BracketAutomaton(TABLE, [0]).start(0, 10)


@given(st.integers(1, 12), st.integers(0, 30), st.data())
def test_any_walk_ends_in_a_tree_and_the_mask_equals_the_ids(words: int, extra: int, data: st.DataObject) -> None:
    automaton = BracketAutomaton(TABLE, [3, words], max_depth=4, max_opens=3)
    limit = least_symbols(words) + extra
    state, walked = automaton.start(1, limit), list[int]()
    while True:
        allowed = automaton.allowed_ids(state)
        mask = automaton.allowed(state)
        assert mask.shape == (TABLE.size,)
        assert mask.dtype == torch.bool
        assert set(mask.nonzero().flatten().tolist()) == allowed
        token = data.draw(st.sampled_from(sorted(allowed)))
        if token == EOS:
            break
        walked.append(token)
        state = automaton.advance(state, token)
    assert is_tree(walked, words, max_depth=4, max_opens=3)
    assert len(walked) + 1 <= limit


def test_the_words_of_a_source_are_counted_in_its_tokens() -> None:
    pairs = [("the cat isn't here .", "(S XX XX )S"), ("a b 1/2 U.S. --", "(S XX )S")]
    tokenizer = learn_vocabularies(lambda: pairs * 20, 40)
    texts = ["the cat", "isn't", "( ) .", "\u6771\u4eac x", "a b 1/2 U.S. -- the-cat"]
    sources = [tokenizer.source.encode(text).ids for text in texts]
    assert max(len(ids) - len(text.split()) for ids, text in zip(sources, texts, strict=True)) > 3
    automaton = BracketAutomaton.from_sources(tokenizer, sources)
    assert automaton.words == [len(text.split()) for text in texts]
    with pytest.raises(NotAParser):
        BracketAutomaton.from_sources(tokenizer.source, sources)
