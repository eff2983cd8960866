"""The nearest power of the length to the length penalty of Wu et al."""

from __future__ import annotations

import math

import pytest

from transformer_core.config import DecodingConfig
from transformer_core.decoding.beam import length_penalty
from transformer_core.model_export.search import penalty_notes, power, search_notes


@pytest.mark.parametrize("alpha", [0.3, 0.6, 1.0, 2.0])
def test_the_power_changes_as_much_from_19_to_21_tokens(alpha: float) -> None:
    decoding = DecodingConfig(alpha=alpha, length_penalty="gnmt")
    nearest = power(decoding)
    ours = math.log(length_penalty(21, alpha, "gnmt") / length_penalty(19, alpha, "gnmt"))
    theirs = math.log(length_penalty(21, nearest, "power") / length_penalty(19, nearest, "power"))
    assert theirs == pytest.approx(ours, rel=2e-3)
    assert str(power(decoding)) in penalty_notes(decoding)[0]


def test_that_only_trees_are_generated_is_said() -> None:
    (note,) = search_notes(DecodingConfig(constrained=True))
    assert "only trees" in note


def test_nothing_is_said_where_nothing_differs() -> None:
    assert search_notes(DecodingConfig()) == []
    assert power(DecodingConfig(alpha=0.7, length_penalty="power")) == 0.7
    for decoding in (DecodingConfig(length_penalty="power"), DecodingConfig(alpha=0.0), DecodingConfig(beam=1)):
        assert penalty_notes(decoding) == []
