"""Batches worked by hand, and those of a prepared corpus."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.core.tiny import SPECIAL
from transformer_core.data import Corpus, make_batch, prepare, preparing
from transformer_core.data.batches import batch_of_rows
from transformer_core.text.tokenizer import Tokenizer


def test_a_batch_worked_by_hand() -> None:
    batch = make_batch([[7, 8], [9]], [[5], [4, 6, 5]], SPECIAL)
    assert batch.source.tolist() == [[7, 8, 2], [9, 2, 0]]
    assert batch.inputs.tolist() == [[1, 5, 0, 0], [1, 4, 6, 5]]
    assert batch.outputs.tolist() == [[5, 2, 0, 0], [4, 6, 5, 2]]


def test_a_batch_of_a_fixed_shape_worked_by_hand() -> None:
    batch = batch_of_rows(
        *(np.array([7, 8, 9], np.int32), np.array([2, 1])), *(np.array([5, 4, 6], np.int32), np.array([1, 2])),
        SPECIAL, shape=(3, 4),
    )  # fmt: skip
    assert batch.source.tolist() == [[7, 8, 2, 0], [9, 2, 0, 0], [2, 0, 0, 0]]
    assert batch.inputs.tolist() == [[1, 5, 0, 0], [1, 4, 6, 0], [1, 0, 0, 0]]
    assert batch.outputs.tolist() == [[5, 2, 0, 0], [4, 6, 2, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("by_position", [True, False])
@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("indices", [[3, 200], [359, 0, 100, 99, 101, 0]])
def test_batches_of_a_corpus_are_its_pairs(
    tokenizer: Tokenizer,
    pairs_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    indices: list[int],
    shards: int,
    by_position: bool,
) -> None:
    monkeypatch.setattr(preparing, "PAIRS_PER_SHARD", 360 // shards)
    monkeypatch.setattr("transformer_core.data.corpus._BY_POSITION", by_position and hasattr(os, "pread"))
    prepare([pairs_file], tmp_path, tokenizer)
    corpus = Corpus(tmp_path)
    assert corpus.meta["shards"] == shards
    batch = corpus.batch(np.array(indices))
    pairs = [corpus.pair(index) for index in indices]
    expected = make_batch([source for source, _ in pairs], [target for _, target in pairs], SPECIAL)
    for got, wanted in zip(batch.ids, expected.ids, strict=True):
        assert torch.equal(got, wanted)
    for row, index in enumerate(indices):
        source, target = (ids.tolist() for ids in corpus.pair(index))
        assert batch.source[row, : len(source) + 1].tolist() == [*source, 2]
        assert batch.inputs[row, : len(target) + 1].tolist() == [1, *target]
        assert batch.outputs[row, : len(target) + 1].tolist() == [*target, 2]
