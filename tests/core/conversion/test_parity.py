"""Converted models against transformers, with random weights: states, every attention, logits, texts."""

from __future__ import annotations

import pytest

from tests.core.conversion.families import TWINS
from tests.core.conversion.parity import check_tensors, check_texts, compare_texts
from tests.core.conversion.twins import Twin

pytestmark = pytest.mark.parametrize("twin", TWINS, indirect=True)


@pytest.mark.parametrize("lengths", [(1,), (5, 2, 9), (40, 3)], ids=str)
def test_states_attention_and_logits(twin: Twin, lengths: tuple[int, ...]) -> None:
    check_tensors(twin, lengths)


@pytest.mark.parametrize("beam", [1, 4])
def test_texts(twin: Twin, beam: int) -> None:
    check_texts(compare_texts(twin, 16, beam=beam))


@pytest.mark.slow
@pytest.mark.parametrize("beam", [1, 4])
def test_many_texts(twin: Twin, beam: int) -> None:
    check_texts(compare_texts(twin, 200, beam=beam))
