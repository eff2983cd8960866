"""Batches by hand and of a prepared corpus; the plan of an epoch: which batches, in which order, how much padding."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.core.tiny import SPECIAL
from transformer_core.data import Corpus, DataError, make_batch, plan_epoch, prepare, preparing
from transformer_core.data.batches import batch_of_rows
from transformer_core.data.plan import bucket_widths
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


LENGTHS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=80)


def plan(lengths: list[tuple[int, int]], tokens: int, longest: int, seed: int = 1, epoch: int = 0) -> list[list[int]]:
    return [batch.tolist() for batch in plan_epoch(np.array(lengths, dtype=np.int64), tokens, longest, seed, epoch)]


@given(LENGTHS, st.integers(2, 120), st.integers(1, 45), st.integers(0, 3), st.sampled_from([(), (8, 16, 48, 128)]))
def test_the_plan_is_the_one_made_pair_by_pair(
    lengths: list[tuple[int, int]], tokens: int, longest: int, epoch: int, widths: tuple[int, ...]
) -> None:
    usable = [i for i, pair in enumerate(lengths) if max(pair) <= longest and max(pair) + 1 <= tokens]
    assume(usable)
    expected = slow_plan(lengths, tokens, longest, 1, epoch, widths)
    assert sorted(i for batch in expected for i in batch) == usable, "every pair that fits, once"
    assert all(len(batch) * (1 + max(max(lengths[i]) for i in batch)) <= tokens for batch in expected)
    for dtype in (np.uint16, np.int32, np.int64):
        compact: Any = np.array(lengths, dtype=dtype)
        got = plan_epoch(compact, tokens, longest, 1, epoch, widths)
        assert [batch.tolist() for batch in got] == expected


@given(st.integers(1, 5000))
def test_few_widths_that_waste_little(longest: int) -> None:
    widths = bucket_widths(longest)
    assert widths == sorted(set(widths))
    assert widths[-1] >= longest
    assert all(width % 8 == 0 for width in widths)
    assert all(after - before <= max(8, before * 0.125 + 8) for before, after in pairwise(widths))
    assert len(bucket_widths(257)) <= 18


def test_epochs_and_seeds_differ() -> None:
    lengths = [(i % 7 + 1, i % 5 + 1) for i in range(200)]
    first = plan(lengths, 60, 40, seed=1, epoch=0)
    for other in (plan(lengths, 60, 40, seed=1, epoch=1), plan(lengths, 60, 40, seed=2, epoch=0)):
        assert first != other
        assert {frozenset(b) for b in first} != {frozenset(b) for b in other}  # other company, not only another order


def test_pairs_of_similar_lengths_share_a_batch() -> None:
    rng = np.random.default_rng(0)
    lengths: npt.NDArray[np.int64] = rng.integers(1, 60, size=(2000, 1)) + rng.integers(0, 4, size=(2000, 2))
    batches = plan_epoch(lengths, 1000, 100, seed=1, epoch=0)
    real = int((lengths[:, 1] + 1).sum())
    padded = sum(len(batch) * int(lengths[batch, 1].max() + 1) for batch in batches)
    assert real / padded > 0.95
    order = [int(lengths[batch, 1].mean()) for batch in batches]
    assert order != sorted(order)  # but batches come in a drawn order


@pytest.mark.parametrize(("tokens", "longest"), [(5, 40), (100, 4)])
def test_nothing_left_to_train_on(tokens: int, longest: int) -> None:
    with pytest.raises(DataError, match=f"no pair has at most {longest} tokens and fits into a batch of {tokens}"):
        plan([(5, 3), (2, 9)], tokens, longest)


def slow_plan(
    lengths: list[tuple[int, int]],
    batch_tokens: int,
    max_tokens: int,
    seed: int,
    epoch: int,
    widths: tuple[int, ...] = (),
) -> list[list[int]]:
    """The readable twin of `plan_epoch`, pair by pair, and the order that saved trainings go by."""

    def padded(index: int) -> int:
        longest = max(lengths[index]) + 1
        return next((width for width in widths if width >= longest), longest)

    rng = np.random.default_rng((seed, epoch))
    usable = [i for i, pair in enumerate(lengths) if max(pair) <= max_tokens and max(pair) + 1 <= batch_tokens]
    shuffled = rng.permutation(np.array(usable)).tolist()
    order = sorted(shuffled, key=lambda i: (lengths[i][1], lengths[i][0]))  # stable
    batches: list[list[int]] = []
    for index in order:
        together = [*batches[-1], index] if batches else []
        if together and max(map(padded, together)) * len(together) <= batch_tokens:
            batches[-1].append(index)
        else:
            batches.append([index])
    return [batches[i] for i in rng.permutation(len(batches))]
