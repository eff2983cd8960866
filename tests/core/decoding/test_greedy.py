"""Greedy search over batches against a search without a cache, sentence by sentence."""

from __future__ import annotations

import torch
from torch import Tensor

from tests.core.decoding.slow_search import greedy
from tests.core.tiny import SPECIAL, tiny_model
from transformer_core.data import make_batch
from transformer_core.decoding.greedy import greedy_search
from transformer_core.hooks.points import Site, edit


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
