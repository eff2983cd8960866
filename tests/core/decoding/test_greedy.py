"""Greedy search over batches, and decoding step by step with its cache, against full decoding."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.core.decoding.slow_search import greedy
from tests.core.tiny import SPECIAL, inputs_for, padded, tiny_model
from transformer_core.data import make_batch
from transformer_core.decoding.greedy import greedy_search
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.hooks.points import Site, edit
from transformer_core.model.masks import padding_mask


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
