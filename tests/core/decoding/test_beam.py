"""Searches against searches without a cache and looking at everything; their history, edits within, cached steps."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from tests.core.decoding import slow_search
from tests.core.decoding.slow_search import greedy
from tests.core.tiny import SPECIAL, inputs_for, padded, tiny_model
from transformer_core import DecodingConfig, Transformer
from transformer_core.data import make_batch
from transformer_core.decoding.beam import DecodingStopped, SearchResult, beam_search, length_penalty
from transformer_core.decoding.draft import Draft, OnStep
from transformer_core.decoding.forced_maps import capture_maps
from transformer_core.decoding.greedy import greedy_search
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.hooks.points import Rows, Site, edit
from transformer_core.model.masks import padding_mask

SOURCES = st.lists(st.lists(st.integers(4, 9), min_size=1, max_size=4), min_size=1, max_size=3)
NEVER = (SPECIAL.pad, SPECIAL.bos, SPECIAL.unk)


def search(
    model: Transformer, sources: list[list[int]], on_step: OnStep | None = None, **options: float
) -> list[SearchResult]:
    batch = make_batch(sources, [[] for _ in sources], SPECIAL)
    config = DecodingConfig.from_dict({"extra_length": 4, **options})
    return beam_search(model, batch.source, SPECIAL, config, on_step=on_step)


def test_length_penalty_by_hand() -> None:
    assert length_penalty(1, 0.6) == 1.0
    assert length_penalty(7, 1.0) == 2.0
    assert length_penalty(7, 0.5) == pytest.approx(math.sqrt(2))
    assert length_penalty(100, 0.0) == 1.0
    assert length_penalty(9, 0.5, "power") == 3.0
    assert length_penalty(1, 0.6, "power") == 1.0
    assert length_penalty(100, 0.0, "power") == 1.0


@settings(max_examples=25)
@given(SOURCES, st.integers(0, 50), st.integers(1, 5), st.sampled_from([0.0, 0.6, 1.5]))
def test_against_a_search_without_a_cache(sources: list[list[int]], seed: int, beam: int, alpha: float) -> None:
    model = tiny_model(seed=seed, vocab_size=10)
    for source, result in zip(sources, search(model, sources, beam=beam, alpha=alpha), strict=True):
        expected = slow_search.beam(model, source, beam, alpha, limit=len(source) + 4)
        assert len(result.hypotheses) == len(expected)
        for ours, theirs in zip(result.hypotheses, expected, strict=True):
            tokens = (*ours.ids, SPECIAL.eos) if ours.finished else ours.ids
            assert tokens == theirs.tokens
            assert ours.score == pytest.approx(theirs.score, abs=1e-4)
            assert ours.log_probability == pytest.approx(theirs.total, abs=1e-4)
            assert ours.log_probabilities == pytest.approx(theirs.logs, abs=1e-4)


@settings(max_examples=25)
@given(SOURCES, st.integers(0, 50), st.integers(1, 5), st.sampled_from([0.0, 0.6, 1.5]))
def test_drafts_are_the_best_so_far(sources: list[list[int]], seed: int, beam: int, alpha: float) -> None:
    model = tiny_model(seed=seed, vocab_size=10)
    drafts: list[list[Draft]] = [[] for _ in sources]
    results = search(model, sources, lambda number, draft: drafts[number].append(draft), beam=beam, alpha=alpha)
    assert results == search(model, sources, beam=beam, alpha=alpha)
    for source, of_sentence in zip(sources, drafts, strict=True):
        expected = slow_search.beam_steps(model, source, beam, alpha, limit=len(source) + 4)
        assert len(of_sentence) == len(expected) - 1  # after the last step it has the result
        for draft, (ended, living) in zip(of_sentence, expected, strict=False):
            best = max(ended + living, key=lambda hypothesis: hypothesis.score)
            assert (*draft.ids, SPECIAL.eos)[: len(best.tokens)] == best.tokens and draft.finished == best.finished
            batch = make_batch([source], [list(draft.ids)], SPECIAL)
            read = batch.inputs[:, : len(best.tokens)]
            with capture_maps(model) as maps:
                model(batch.source, read, padding_mask(batch.source, SPECIAL.pad))
            assert len(draft.rows()) == len(best.tokens)
            for position, (own, cross) in enumerate(draft.rows()):
                assert_close(own, maps["decoder"][:, 0, :, position, : position + 1], atol=1e-5, rtol=1e-5)
                assert_close(cross, maps["cross"][:, 0, :, position], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("least", [1, 2])
def test_no_translation_is_shorter_than_allowed(least: int) -> None:
    """All translations without the short ones; each keeps its probability."""
    model = tiny_model(seed=1, vocab_size=6)
    (result,) = search(model, [[4]], beam=32, alpha=0.6, extra_length=3, min_length=least)
    everything = slow_search.everything(model, [4], 0.6, limit=4)
    expected = [h for h in everything if len(h.tokens) - h.finished >= least]
    assert len(expected) < len(everything)
    got = [(*h.ids, SPECIAL.eos) if h.finished else h.ids for h in result.hypotheses]
    assert got == [h.tokens for h in expected]
    assert [h.score for h in result.hypotheses] == pytest.approx([h.score for h in expected], abs=1e-4)


@given(SOURCES, st.integers(0, 50))
def test_one_beam_is_greedy(sources: list[list[int]], seed: int) -> None:
    model = tiny_model(seed=seed, vocab_size=10)
    source = make_batch(sources, [[] for _ in sources], SPECIAL).source
    greedy = greedy_search(model, source, SPECIAL, extra_length=4)
    assert [list(result.hypotheses[0].ids) for result in search(model, sources, beam=1)] == greedy


@settings(max_examples=20)
@given(SOURCES, st.integers(0, 50), st.integers(1, 4), st.integers(0, 4))
def test_history_is_the_search_tree(sources: list[list[int]], seed: int, beam: int, alternatives: int) -> None:
    model = tiny_model(seed=seed, vocab_size=10)
    for source, result in zip(sources, search(model, sources, beam=beam, alternatives=alternatives), strict=True):
        nodes = result.history
        for index, node in enumerate(nodes):
            before = nodes[node.parent] if node.parent >= 0 else None
            assert node.parent < index
            assert before is None or before.status == "kept"
            assert node.step == (before.step if before else 0) + 1
            so_far = before.log_probability if before else 0.0
            assert node.log_probability == pytest.approx(so_far + node.token_log_probability, abs=1e-4)
            assert node.token not in NEVER
            assert (node.status == "finished") <= (node.token == SPECIAL.eos)
            if node.token == SPECIAL.eos:
                assert node.status != "kept"
        for step in range(1, max(node.step for node in nodes) + 1):
            of_step = [node for node in nodes if node.step == step]
            totals = [node.log_probability for node in of_step]
            assert totals == sorted(totals, reverse=True)
            kept = [node for node in of_step if node.status == "kept"]
            assert len(kept) <= beam
            worst = min(node.log_probability for node in kept)
            assert all(n.log_probability <= worst for n in of_step if n.status == "pruned" and n.token != SPECIAL.eos)
        for hypothesis in result.hypotheses:
            path, at = [], hypothesis.node
            while at >= 0:
                path.append(nodes[at])
                at = nodes[at].parent
            path.reverse()
            ids = [node.token for node in path]
            assert (ids[:-1] if hypothesis.finished else ids) == list(hypothesis.ids)
            assert tuple(node.token_log_probability for node in path) == hypothesis.log_probabilities
            for t, shown in enumerate(hypothesis.alternatives):
                logs = slow_search.next_logs(model, source, hypothesis.ids[:t])
                likeliest = sorted((log for token, log in enumerate(logs) if token not in NEVER), reverse=True)
                assert [log for _, log in shown] == pytest.approx(likeliest[: alternatives + 1], abs=1e-4)
                assert all(log == pytest.approx(logs[token], abs=1e-4) for token, log in shown)


def test_a_search_can_be_stopped() -> None:
    model = tiny_model(vocab_size=10)
    source = make_batch([[4, 5]], [[]], SPECIAL).source
    asked = 0

    def at_the_third() -> bool:
        nonlocal asked
        asked += 1
        return asked == 3

    with pytest.raises(DecodingStopped, match="before step 3"):
        beam_search(model, source, SPECIAL, DecodingConfig(beam=2), at_the_third)


def test_a_vocabulary_smaller_than_the_beam() -> None:
    model = tiny_model(vocab_size=5)  # one word and `</s>`
    (result,) = search(model, [[4]], beam=4, extra_length=2)
    assert 1 <= len(result.hypotheses) <= 4
    assert all(set(h.ids) <= {4} for h in result.hypotheses)
    assert all(math.isfinite(h.score) for h in result.hypotheses)


# --- edits during the search ------------------------------------------------------------------------------------------

ADDRESS = "decoder.layers.1.cross_attention.head_outputs"


def test_an_edit_is_told_which_sentence_and_beam_each_row_is() -> None:
    model = tiny_model(vocab_size=10)
    told: list[tuple[int, Rows]] = []

    def note(value: Tensor, site: Site) -> None:
        told.append((len(value), site.rows))

    with edit(model, ADDRESS, note):
        search(model, [[4, 5, 6], [7]], beam=2, extra_length=3)
    for offset, (rows, told_rows) in enumerate(told):
        assert told_rows.query_offset == offset
        assert told_rows.sentences is not None
        assert told_rows.beams is not None
        assert len(told_rows.sentences) == len(told_rows.beams) == rows
        assert told_rows.beams == (0, 1) * (rows // 2)
    assert told[0][1].sentences == (0, 0, 1, 1)
    # The shorter sentence reaches its limit first; what is left is still called sentence 0.
    assert told[-1][1].sentences == (0, 0)


def test_sentences_that_end_early_leave_the_batch() -> None:
    """At every step the decoder reads the sentences that a search one by one has not ended yet, and no other row."""
    sources = [[4, 5], [6, 7, 8, 9], [5]]
    source = make_batch(sources, [[]] * 3, SPECIAL).source
    several_lengths = 0
    for seed in range(20):
        model = tiny_model(seed=seed, vocab_size=10)
        steps: list[tuple[int, tuple[int, ...]]] = []

        def read(value: Tensor, site: Site, steps: list[tuple[int, tuple[int, ...]]] = steps) -> None:
            assert site.rows.sentences is not None
            steps.append((len(value), site.rows.sentences))

        with edit(model, "decoder.embeddings", read):
            greedy_search(model, source, SPECIAL, extra_length=8)
        lengths = [len(greedy(model, ids, limit=len(ids) + 8).tokens) for ids in sources]  # </s> included
        alive = [tuple(i for i, length in enumerate(lengths) if length > step) for step in range(max(lengths))]
        assert steps == [(len(sentences), sentences) for sentences in alive]
        several_lengths += len(set(lengths)) > 1
    assert several_lengths


@torch.no_grad()
def test_special_tokens_are_never_written() -> None:
    model = tiny_model(vocab_size=10)
    model.embedding.weight[[SPECIAL.pad, SPECIAL.bos, SPECIAL.unk]] *= 100  # now the likeliest, or the unlikeliest
    source = make_batch([[4, 5, 6]], [[]], SPECIAL).source
    for sign in (1, -1):
        model.embedding.weight[[SPECIAL.pad, SPECIAL.bos, SPECIAL.unk]] *= sign
        (ids,) = greedy_search(model, source, SPECIAL)
        assert not set(ids) & {SPECIAL.pad, SPECIAL.bos, SPECIAL.unk, SPECIAL.eos}


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3, *[st.integers(0, 2)] * 3), min_size=1, max_size=6))
@torch.no_grad()
def test_reordered_beams_go_on_from_their_new_past(choices: list[tuple[int, ...]]) -> None:
    """Each step, row i takes the past of a drawn row of its sentence; full decoding of the same tokens must agree."""
    model = tiny_model()
    source, _, mask = inputs_for([6, 3], 1)
    copied = source.repeat_interleave(3, 0)
    copied_mask = padding_mask(copied, SPECIAL.pad)
    memory = model.encode(copied, copied_mask)
    decoder = IncrementalDecoder(model, model.encode(source, mask), mask, beams=3, capacity=1)
    written = torch.full((6, 1), SPECIAL.bos)
    logits = decoder.step(written)
    for step, choice in enumerate(choices):
        rows = torch.tensor([*choice[:3], *(3 + c for c in choice[3:])])
        tokens = padded([1] * 6, seed=step)
        decoder.reorder(rows)
        written = torch.cat((written[rows], tokens), dim=1)
        logits = decoder.step(tokens)
    expected = model.logits(model.decode(written, memory, copied_mask))[:, -1]
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_no_mask_is_kept_without_padding() -> None:
    """Attention without a mask is faster."""
    model, (source, _, mask) = tiny_model(), inputs_for([1, 2, 3], 1)
    decoder = IncrementalDecoder(model, model.encode(source, mask), mask, beams=1)
    for sentences, padding in (([1, 2], True), ([1], False), ([0], False)):
        decoder.keep_sentences(sentences)
        assert (decoder.cache.source_mask is not None) == padding
