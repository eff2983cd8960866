"""The plan of an epoch: what its batches hold, in which order, and how much of them is padding."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.core.data.slow_plan import slow_plan
from transformer_core.data import DataError, plan_epoch
from transformer_core.data.plan import bucket_widths

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
    with pytest.raises(
        DataError, match=f"no pair has at most {longest} tokens and fits into a batch of {tokens} tokens"
    ):
        plan([(5, 3), (2, 9)], tokens, longest)
