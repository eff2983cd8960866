"""Decoding step by step, with its cache, against full decoding."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.core.tiny import SPECIAL, inputs_for, padded, tiny_model
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.model.masks import padding_mask


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
