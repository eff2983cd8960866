"""How many heads matter: intervals worked out by hand, and effects that are those of each sentence."""

from __future__ import annotations

import numpy as np
import pytest

from transformer_core.analysis.effects.effect_counts import effect_counts, effect_report, mean_effects, with_intervals
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.attention_maps import KINDS
from transformer_core.translator import Translator

PAIRS = [
    ("My friend buys the green door.", "Mein Freund kauft die grüne Tür."),
    ("A cup.", "Eine Tasse Tee."),
    ("The man sees a house today.", "Der Mann sieht ein Haus heute."),
]


def test_intervals_of_two_sentences_by_hand() -> None:
    """Drawn twice with replacement: the first alone and the second alone with a chance of 1/4 each, else both.

    Sentences of 1 and 3 tokens. Head 1 gives 1 and 6 nats: 1/1, 6/3 = 2, or 7/4. Head 2 loses 1 and gains 3: -1, 1,
    or 2/4. Head 3 is always 0.
    """
    effects = np.array([[[1.0, -1.0, 0.0]], [[6.0, 3.0, 0.0]]])
    found = with_intervals(effects, [1, 3])
    np.testing.assert_allclose(found.effect, [[7 / 4, 2 / 4, 0]])
    np.testing.assert_allclose(found.low, [[1, -1, 0]])
    np.testing.assert_allclose(found.high, [[2, 1, 0]])
    assert found.changes.tolist() == [[True, False, False]]
    assert with_intervals(-effects, [1, 3]).changes.tolist() == [[True, False, False]], "a head may also do harm"
    assert effect_counts({"cross": found})["cross"] == {"changing": 1, "changing_by_layer": [1]}


def test_an_interval_is_that_of_the_mean_over_many_sentences() -> None:
    """Against the normal distribution, with sentences of one token: 1.96 standard errors on either side."""
    drawn = np.random.default_rng(4).normal(0.3, 1.0, size=(400, 1, 1))
    found = with_intervals(drawn, [1] * 400)
    error = 1.96 * drawn.std() / np.sqrt(400)
    assert found.low == pytest.approx(drawn.mean() - error, abs=0.01)
    assert found.high == pytest.approx(drawn.mean() + error, abs=0.01)


def test_effects_are_those_of_every_sentence(learned: Translator) -> None:
    too_long = " ".join(["a"] * 5000)
    found = mean_effects(learned, [*PAIRS, (too_long, "x"), ("a", too_long), ("", "x")])
    each = [head_effects(learned, *pair, change="mean", others=PAIRS).effects for pair in PAIRS]
    for kind in KINDS:
        tokens = sum(one[kind].shape[2] for one in each)
        expected = sum(one[kind].sum(dim=2).numpy() for one in each) / tokens
        assert found[kind].effect == pytest.approx(expected, abs=1e-5)
        assert (found[kind].low <= found[kind].effect + 1e-9).all() and (
            found[kind].effect <= found[kind].high + 1e-9
        ).all()
    report = effect_report(found)
    for kind in KINDS:
        assert report[kind]["changing"] == sum(report[kind]["changing_by_layer"])
        assert np.array(report[kind]["effect_low"]) == pytest.approx(found[kind].low, abs=1e-5)
    with pytest.raises(ValueError, match="no sentences"):
        mean_effects(learned, [("", "x")])
