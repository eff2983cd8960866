"""On a CUDA device (pytest -m gpu): the searches and maps of the CPU, and one wait for each step."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.core.tiny import SPECIAL, padded, sentence_pairs, tiny_model
from transformer_core.attention_maps import KINDS
from transformer_core.config import DecodingConfig
from transformer_core.decoding.beam import beam_search
from transformer_core.decoding.greedy import greedy_search
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.translator import TeacherForcedInput, Translator

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]


def test_a_batch_of_128_on_the_gpu_equals_the_cpu(learned: Translator) -> None:
    encodings = [learned.encode(source) for source, _ in sentence_pairs()[::3]] + [learned.encode("A child.")] * 8
    assert len(encodings) == 128
    expected = learned.search([each.ids for each in encodings], beam=4)
    pairs = [
        TeacherForcedInput(encoding, results.hypotheses[0].ids, results.hypotheses[0].finished)
        for encoding, results in zip(encodings, expected, strict=True)
    ]
    maps = learned.attention_batch(pairs)
    try:
        learned.model.cuda()
        results = learned.search([each.ids for each in encodings], beam=4)
        maps_there = learned.attention_batch(pairs)
    finally:
        learned.model.cpu()
    assert [each.hypotheses[0].ids for each in results] == [each.hypotheses[0].ids for each in expected]
    for one, other in zip(maps_there, maps, strict=True):
        for kind in KINDS:
            assert one.weights(kind).base is None, "keeps pinned memory"
            np.testing.assert_allclose(one.weights(kind), other.weights(kind), atol=1e-4)


@pytest.mark.parametrize("beam", [0, 4], ids=["greedy", "beam of 4"])
def test_a_step_waits_once(monkeypatch: pytest.MonkeyPatch, beam: int) -> None:
    """As CUDA itself reports it; sentences leave the batch on the way."""
    model, source = tiny_model(seed=3).cuda(), padded([5, 3, 9, 9]).cuda()
    waits: list[int] = []
    step = IncrementalDecoder.step

    def search() -> None:
        if beam:
            beam_search(model, source, SPECIAL, DecodingConfig(beam=beam, extra_length=6))
        else:
            greedy_search(model, source, SPECIAL, extra_length=6)

    search()  # what is tried out once in a process
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")

        def counted(self: IncrementalDecoder, tokens: Tensor) -> Tensor:
            waits.append(sum("synchroniz" in str(each.message) for each in caught))
            return step(self, tokens)

        monkeypatch.setattr(IncrementalDecoder, "step", counted)
        torch.cuda.set_sync_debug_mode("warn")
        try:
            search()
        finally:
            torch.cuda.set_sync_debug_mode("default")
    assert len(waits) > 3
    assert all(after - before == 1 for before, after in itertools.pairwise(waits))
