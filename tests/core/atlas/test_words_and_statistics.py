"""Sums over words against a literal loop; tests and intervals against scipy and a second bootstrap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from transformer_core.analysis.word_weights import blank_words, by_words, membership
from transformer_core.atlas.effects import rank_correlation
from transformer_core.atlas.statistics import Bootstrap, corrected, sign_test
from transformer_core.text.tokenizer import Encoding, Tokenizer


@given(st.integers(0, 10_000))
def test_word_sums_are_those_of_a_literal_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    queries, keys = rng.integers(1, 7, size=2)
    words, others = rng.integers(1, 5, size=2)
    of_query, of_key = rng.integers(-1, words, size=queries), rng.integers(-1, others, size=keys)  # -1: of no word
    weights = rng.random((2, queries, keys))
    result = by_words(weights, of_query[:, None] == np.arange(words), of_key[:, None] == np.arange(others))
    for head in range(2):
        for word in range(words):
            rows = [row for row in range(queries) if of_query[row] == word]
            for other in range(others):
                total = sum(weights[head, row, key] for row in rows for key in range(keys) if of_key[key] == other)
                if rows:
                    assert result[head, word, other] == pytest.approx(total / len(rows))
                else:
                    assert math.isnan(result[head, word, other])


def test_a_token_belongs_to_the_word_of_its_last_character(tokenizer: Tokenizer) -> None:
    text = "My friend doesn't like the big dog."
    encoding = tokenizer.encode(text)
    words = [(0, 2), (3, 9), (10, 14), (14, 17), None, (18, 22), (23, 26), (27, 30), (31, 34), (34, 35)]
    result = membership(encoding, words)
    for token, (begin, end) in enumerate(encoding.spans):
        owners = [n for n, word in enumerate(words) if end > begin and word and word[0] <= end - 1 < word[1]]
        assert np.flatnonzero(result[token]).tolist() == owners
    assert result.sum(axis=0)[4] == 0
    assert blank_words(" a  bc\td ") == [(1, 2), (4, 6), (7, 8)]
    assert membership(Encoding((1,), ("▁",), ((0, 0),), (False,)), [(0, 1)]).sum() == 0


def test_the_sign_test_is_scipys_binomial_test() -> None:
    rng = np.random.default_rng(1)
    differences = rng.integers(-2, 4, size=(30, 5)).astype(float)
    differences[:, 4] = 0.0
    differences[3, 0] = np.nan
    for two_sided in (False, True):
        result = sign_test(differences, two_sided=two_sided)
        for column in range(4):
            better, worse = (differences[:, column] > 0).sum(), (differences[:, column] < 0).sum()
            side = "two-sided" if two_sided else "greater"
            expected = stats.binomtest(int(better), int(better + worse), alternative=side).pvalue
            assert result[column] == pytest.approx(expected)
        assert result[4] == 1.0


def test_the_correction_is_benjamini_and_hochbergs() -> None:
    p = np.array([[0.01, 0.04, np.nan], [0.03, 0.5, 0.005]])
    # Ranked .005 .01 .03 .04 .5, times 5 / rank, then the least from the right.
    assert corrected(p) == pytest.approx(np.array([[0.025, 0.05, np.nan], [0.05, 0.5, 0.025]]), nan_ok=True)
    assert np.isnan(corrected(np.full(2, np.nan))).all()


def test_intervals_cover_the_truth_and_are_those_of_resampling() -> None:
    rng = np.random.default_rng(2)
    covered = 0
    for seed in range(200):
        counts = rng.integers(1, 5, size=80)
        hits = rng.binomial(counts, 0.3)
        result = Bootstrap(80, 400, seed).ratio(hits[:, None], counts)
        covered += bool(result.low[0] <= 0.3 <= result.high[0])
    assert 0.88 < covered / 200 < 0.99
    drawn = rng.integers(80, size=(4_000, 80))
    ends = np.percentile(hits[drawn].sum(axis=1) / counts[drawn].sum(axis=1), [2.5, 97.5])
    assert [result.low[0], result.high[0]] == pytest.approx(ends, abs=0.012)
    nothing = Bootstrap(3, 100).ratio(np.zeros((3, 2)), np.zeros(3))
    assert np.isnan(nothing.value).all() and np.isnan(nothing.low).all()


def test_the_interval_of_a_correlation_holds_its_value_and_covers_it() -> None:
    """144 heads with noise on every sentence; percentiles of the draws would leave the value out."""
    rng = np.random.default_rng(4)
    truth = rng.normal(0, 1, (2, 144))
    truth[1] += 2 * truth[0]
    result, percentiles = [], []
    for seed in range(60):
        sides = truth[:, None] + rng.normal(0, 2, (2, 80, 144))
        drawing = Bootstrap(80, 200, seed)
        ratios = zip(*(drawing.ratios(side, np.ones(80)) for side in sides), strict=True)
        draws = np.array([rank_correlation(*each) for each in ratios])
        result.append(drawing.correlation(draws, rank_correlation(*sides.mean(axis=1))))
        percentiles.append(np.percentile(draws, 97.5))
    assert all(each.low <= each.value <= each.high <= 1 for each in result)
    assert sum(bool(each.value > end) for each, end in zip(result, percentiles, strict=True)) > 15
    mean = np.mean([each.value for each in result])
    covered = sum(bool(each.low <= mean <= each.high) for each in result)
    assert covered > 0.8 * 60, "of what as many other sentences would give; about nine in ten"
    exact = Bootstrap(5, 100).correlation(np.linspace(0.5, 1, 100), 1.0)
    assert exact.low < exact.high == 1


def test_rank_correlation_is_scipys() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.integers(0, 6, size=(2, 40)).astype(float)
    assert rank_correlation(one, other) == pytest.approx(stats.spearmanr(one, other).statistic)
    assert rank_correlation(np.ones(4), np.arange(4.0)) == 0.0
