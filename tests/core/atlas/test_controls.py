"""Effects against matched controls, on data in which the truth is known.

The data have the shape of the shipped German model's on tatoeba-test: 144 heads, the mean of four draws of the control
varies over sentences 4.5 times as much as its mean, with skew 0.65, and heads share a part of it. Run with `-s` for the
numbers.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy

from tests.core.tiny import sentence_pairs
from transformer_core.analysis.effects.head_effects import head_effects, mean_outputs
from transformer_core.atlas.controls import CONTROL_DRAWS, CONTROLS, survivor_report, survivors
from transformer_core.atlas.record import Effects, Estimate
from transformer_core.atlas.statistics import FALSE_DISCOVERIES, corrected, paired_test, sign_test
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.translator import Translator

PAIRS = sentence_pairs()[:30]
HEADS = 144
DRAWS = 4


def skewed(rng: np.random.Generator, sentences: int, draws: int = 1) -> np.ndarray:
    """(draws, N, heads) with mean 0, deviation 1 and skew."""
    shape = 9.5
    own = (rng.gamma(shape, size=(draws, sentences, HEADS)) - shape) / shape**0.5
    shared = (rng.gamma(shape, size=(draws, sentences, 1)) - shape) / shape**0.5
    return np.asarray(0.93**0.5 * own + 0.07**0.5 * shared)


def controls(rng: np.random.Generator, sentences: int, draws: int) -> np.ndarray:
    """(draws, N, heads): for each head a mean of 1, a part of the sentence, and one of the draw."""
    return np.asarray(1 + 10.0**0.5 * skewed(rng, sentences) + 40.0**0.5 * skewed(rng, sentences, draws))


def test_the_paired_test_is_scipys_and_that_of_sign_flips() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(0.2, 1, (2, 40, 3))
    result = paired_test(one - other)
    assert result == pytest.approx(scipy.stats.ttest_rel(one, other).pvalue)
    flips = rng.choice([-1.0, 1.0], size=(20_000, 40))
    means = abs(flips @ (one - other)) / 40
    assert result == pytest.approx((means >= abs((one - other).mean(axis=0))).mean(axis=0), abs=0.02)
    nothing = np.zeros((5, 2))
    assert paired_test(nothing).tolist() == paired_test(nothing[:1] + 1).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("sentences", [100, 1_000])
@pytest.mark.parametrize("against", [1, DRAWS])
def test_a_second_draw_of_the_control_is_found_in_5_percent(sentences: int, against: int) -> None:
    """One draw against the mean of four has the same mean and another shape, which a test of signs would find."""
    rng, sets = np.random.default_rng(1), 100 if sentences == 100 else 40
    alarms, any_alarm, by_sign = [], [], []
    for _ in range(sets):
        drawn = controls(rng, sentences, DRAWS + against)
        differences = drawn[:against].mean(axis=0) - drawn[against:].mean(axis=0)
        p = paired_test(differences)
        alarms.append((p <= 0.05).mean())
        any_alarm.append((corrected(p) <= FALSE_DISCOVERIES).any())
        by_sign.append((sign_test(differences, two_sided=True) <= 0.05).mean())
    share, family = np.mean(alarms), np.mean(any_alarm)
    sys.stdout.write(
        f"\n{sentences} sentences, {against} against {DRAWS} draws: {share:.1%} of heads at p <= 0.05; "
        f"a corrected false alarm in {family:.0%} of {sets} sets (sign test: {np.mean(by_sign):.1%} of heads)"
    )
    assert 0.04 < share < 0.06
    assert family <= 0.05 + 2 * (0.05 * 0.95 / sets) ** 0.5


def test_heads_that_cost_3_times_the_control_are_found() -> None:
    rng, sets, planted = np.random.default_rng(2), 40, HEADS // 4
    result, wrong = [], []
    for _ in range(sets):
        drawn = controls(rng, 1_000, 2 * DRAWS)
        control, effect = drawn[:DRAWS].mean(axis=0), drawn[DRAWS:].mean(axis=0)
        effect[:, :planted] *= 3  # and so its deviation: as hard as any
        differences = effect - control
        clear = (corrected(paired_test(differences)) <= FALSE_DISCOVERIES) & (differences.mean(axis=0) > 0)
        result.append(clear[:planted].mean())
        wrong.append(clear[planted:].sum() / max(1, clear.sum()))
    right, false = np.mean(result), np.mean(wrong)
    sys.stdout.write(f"\n1,000 sentences: {right:.1%} of the planted heads found; {false:.1%} of the found are false")
    assert right >= 0.8
    assert false <= 0.05


def test_a_head_survives_only_where_its_removal_costs_more() -> None:
    """Noise that costs more than the removal is a difference, but no survival."""
    value = np.array([[0.2, -0.2, 0.2]])
    nats: dict[Kind, Estimate] = {"cross": Estimate(value=value, low=value - 0.1, high=value + 0.1)}
    name = f"mean/{CONTROLS['mean'][0]}"
    effects = Effects(
        sentences=1, skipped=0, tokens=1, changes={}, q={name: {"cross": np.array([[0.01, 0.01, 0.06]])}}, gradient={},
        agreement={}, classes={}, class_tokens={}, lengths={}, length_bounds={}, differences={name: nats},
    )  # fmt: skip
    assert survivors(effects, "mean")["cross"].tolist() == [[True, False, False]]
    assert survivors(effects, "zero") == {}


def by_hand(translator: Translator, change: str) -> np.ndarray:
    """(N, K, L, H) of each pair: by `head_effects`, the random vector as long as what `mean` takes away."""
    given = {"change": change, "means": mean_outputs(translator, PAIRS), "draws": CONTROL_DRAWS}
    rows = [head_effects(translator, *pair, **given, seed=seed).effects for seed, pair in enumerate(PAIRS)]  # type: ignore[arg-type]
    return np.array([[each[kind].double().sum(dim=2).numpy() for kind in KINDS] for each in rows])


def test_report_of_effects_and_surviving_heads(learned: Translator) -> None:
    """All 24 heads are one family."""
    too_long = " ".join(["a"] * 5000)
    report = survivor_report(learned, [*PAIRS, (too_long, "x"), ("a", too_long), ("", "x")])
    mean, random = by_hand(learned, "mean"), by_hand(learned, "random")
    tokens = sum(len(learned.encode_target(target).ids) + 1 for _, target in PAIRS)  # and </s>
    q = scipy.stats.false_discovery_control(scipy.stats.ttest_rel(mean, random).pvalue, axis=None).reshape(
        mean.shape[1:]
    )
    survive = (q <= 0.05) & (mean.sum(0) > random.sum(0))
    assert 0 < survive.sum() < survive.size
    for number, kind in enumerate(KINDS):
        one = report[kind]
        assert one["surviving_by_layer"] == survive[number].sum(axis=1).tolist()
        assert one["surviving"] == survive[number].sum()
        assert np.array(one["effect"]) == pytest.approx(mean.sum(0)[number] / tokens, abs=2e-5)
        assert np.array(one["difference"]) == pytest.approx((mean - random).sum(0)[number] / tokens, abs=2e-5)
        for name in ("effect", "difference"):
            low, value, high = (np.array(one[f"{name}{end}"]) for end in ("_low", "", "_high"))
            assert (low <= value).all() and (value <= high).all()
    with pytest.raises(ValueError, match="no sentences"):
        survivor_report(learned, [("", "x")])
