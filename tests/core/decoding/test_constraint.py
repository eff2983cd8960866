"""Constrained search against every tree; forced beginnings against everything that can be written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
import torch

from tests.core.decoding import slow_search
from tests.core.parsing.symbols import EOS, TABLE, is_tree, trees
from tests.core.tiny import SPECIAL, tiny_model
from transformer_core import DecodingConfig, Transformer, Translator
from transformer_core.config import SpecialIds
from transformer_core.data import make_batch
from transformer_core.decoding.beam import SearchResult, beam_search
from transformer_core.decoding.constraint import Constraint, PrefixError, forbidden_tokens
from transformer_core.decoding.greedy import greedy_search
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


def go_on(
    model: Transformer,
    sources: list[list[int]],
    prefixes: Sequence[Sequence[int]],
    constraint: Constraint | None = None,
    special: SpecialIds = SPECIAL,
    **options: float,
) -> list[SearchResult]:
    batch = make_batch(sources, [[] for _ in sources], special)
    config = DecodingConfig.from_dict({"extra_length": 4, **options})
    return beam_search(model, batch.source, special, config, constraint=constraint, prefixes=prefixes)


@pytest.mark.parametrize("prefix", [(), (4,), (5, 4), (5, 5, 4), (4, SPECIAL.eos)])
@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_a_wide_beam_finds_everything_that_begins_so(prefix: tuple[int, ...], alpha: float) -> None:
    """Two words and `</s>`, at most four tokens. Scores count the forced tokens like all others."""
    model = tiny_model(seed=2, vocab_size=6)
    (result,) = go_on(model, [[4]], [prefix], beam=32, alpha=alpha, extra_length=3)
    everything = slow_search.everything(model, [4], alpha, limit=4)
    expected = [h for h in everything if h.tokens[: len(prefix)] == prefix]
    assert expected
    got = [(*h.ids, SPECIAL.eos) if h.finished else h.ids for h in result.hypotheses]
    assert got == [h.tokens for h in expected]
    assert [h.score for h in result.hypotheses] == pytest.approx([h.score for h in expected], abs=1e-4)
    for ours, theirs in zip(result.hypotheses, expected, strict=True):
        assert ours.log_probabilities == pytest.approx(theirs.logs, abs=1e-4)


def test_each_sentence_of_a_batch_has_its_own_beginning() -> None:
    """Also a token that no search would generate, and one that ends the translation sooner than allowed."""
    model, sources = tiny_model(seed=3, vocab_size=10), [[4, 5, 6], [7], [8, 4], [9, 9]]
    prefixes: list[tuple[int, ...]] = [(5, SPECIAL.unk, 6), (), (9,), (4, SPECIAL.eos)]
    together = go_on(model, sources, prefixes, beam=3, min_length=3)
    for source, prefix, result in zip(sources, prefixes, together, strict=True):
        best = result.hypotheses[0]
        written = (*best.ids, SPECIAL.eos) if best.finished else best.ids
        assert written[: len(prefix)] == prefix
        logs = [slow_search.next_logs(model, source, written[:t])[token] for t, token in enumerate(written)]
        assert best.log_probabilities == pytest.approx(logs, abs=1e-4)
        (alone,) = go_on(model, [source], [prefix], beam=3, min_length=3)
        assert [h.ids for h in alone.hypotheses] == [h.ids for h in result.hypotheses]
        for step, token in enumerate(prefix):  # one candidate a step, with nothing beside it
            (node,) = (node for node in result.history if node.step == step + 1)
            assert node.token == token
            assert [each for each, _ in node.alternatives] == [token]


def test_a_given_first_token_stays_free() -> None:
    special, model = SPECIAL.replace(forced_bos=7), tiny_model(seed=3, vocab_size=10)
    (result,) = go_on(model, [[4, 5]], [(7, 5)], special=special)
    best = result.hypotheses[0]
    assert best.ids[:2] == (7, 5)
    expected = slow_search.next_logs(model, [4, 5], (7,))[5]
    assert best.log_probabilities[:2] == pytest.approx((0.0, expected), abs=1e-4)
    with pytest.raises(PrefixError, match="token 0 of the prefix has the id 5"):
        go_on(model, [[4, 5]], [(5,)], special=special)


@pytest.mark.parametrize("prefix", [(99,), (-1,), (SPECIAL.pad,), (4, SPECIAL.bos), (SPECIAL.eos, 4)])
def test_tokens_that_cannot_stand_there(prefix: tuple[int, ...]) -> None:
    with pytest.raises(PrefixError, match="which cannot stand there"):
        go_on(tiny_model(vocab_size=10), [[4]], [prefix])


def test_no_longer_than_the_translation_may_be() -> None:
    model = tiny_model(vocab_size=10)
    (result,) = go_on(model, [[4]], [(5,) * 5])  # one token and four more
    assert result.hypotheses[0].ids == (5,) * 5
    with pytest.raises(PrefixError, match="the prefix has 6 tokens, but this translation may have at most 5"):
        go_on(model, [[4]], [(5,) * 6])


def test_a_tree_goes_on_from_the_beginning_of_one() -> None:
    model, words = tiny_model(seed=3, vocab_size=TABLE.size), 2
    label = next(iter(TABLE.opening))
    prefix = (TABLE.opening[label], TABLE.word)
    (result,) = go_on(model, [[4, 5]], [prefix], BracketAutomaton(TABLE, [words]), beam=200, extra_length=6)
    expected = {tree for tree in trees(words, 7) if tree[:2] == prefix}
    assert {each.ids for each in result.hypotheses if each.finished} == expected
    assert len(expected) == 3
    for bad in [(TABLE.word,), (TABLE.opening[label], TABLE.closing[label])]:
        with pytest.raises(PrefixError, match="breaks the constraint"):
            go_on(model, [[4, 5]], [bad], BracketAutomaton(TABLE, [words]))


@pytest.mark.parametrize("beam", [1, 4])
def test_text_or_ids(learned: Translator, beam: int) -> None:
    source, begun = "The teacher sees a house.", "Die Frau"
    translation = learned.translate(source, prefix=begun, beam=beam)
    ids = learned.encode_target(begun).ids
    assert translation.text.startswith(begun)
    assert translation.hypotheses[0].ids[: len(ids)] == ids
    forced = learned.teacher_force(source, translation.text)
    assert translation.scores == pytest.approx(forced.scores, abs=1e-4)
    assert translation.scores[0] < -1  # by itself the model begins otherwise
    assert learned.translate(source, prefix=ids, beam=beam).text == translation.text
    plain, with_prefix = learned.translate_batch([source, source], prefixes=["", begun], beam=beam)
    assert plain.text == learned.translate(source, beam=beam).text
    assert with_prefix.text == translation.text
    assert torch.tensor(with_prefix.scores).allclose(torch.tensor(translation.scores), atol=1e-4)


def test_nothing_begins_the_translation_of_nothing(learned: Translator) -> None:
    with pytest.raises(PrefixError, match="an empty sentence"):
        learned.translate("", prefix="Die")
    assert learned.translate("", prefix="").text == ""
    with pytest.raises(ValueError, match="argument 2 is"):
        learned.translate_batch(["A child.", "A child."], prefixes=["Ein"])
