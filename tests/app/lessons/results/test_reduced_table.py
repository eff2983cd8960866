"""Differences from base that are more than luck, against values worked out by hand."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from tests.core.variation_runs import made_up
from transformer_core.paper.table3 import Results, Run
from viz_app.lessons.results.paper_results import TABLE_3
from viz_app.lessons.results.reduced_table import (
    MEASURES,
    ReducedResult,
    SeedNoise,
    load_results,
    reduced_result,
    seed_noise,
)
from viz_app.lessons.small_models import SMALL

TOKENS = 2_338_849  # target tokens of the text, by its meta.json


def run(row: str, seed: int, bleu: float, perplexity: float = 10.0) -> Run:
    return made_up(row, seed, bleu=bleu, perplexity=perplexity)


def results(*runs: Run) -> Results:
    result = Results({})
    for each in runs:
        result = result.with_run(each)
    return result


def test_noise_is_pooled_over_the_rows_with_several_seeds() -> None:
    # Base 9, 10, 11: squares 1 + 0 + 1, two degrees of freedom; N = 2 with 4, 7: 2 * 1.5², one more; big tells nothing.
    result = results(*(run("base", seed, 8.0 + seed) for seed in (1, 2, 3)), run("big", 1, 30.0))
    assert seed_noise(result, "bleu") == SeedNoise(pytest.approx(1.0), 2)  # type: ignore[arg-type]
    result = result.with_run(run("table3-c-n2", 1, 4.0)).with_run(run("table3-c-n2", 2, 7.0))
    assert seed_noise(result, "bleu") == SeedNoise(pytest.approx(math.sqrt((2 + 4.5) / 3)), 3)  # type: ignore[arg-type]
    assert seed_noise(results(run("base", 1, 9.0), run("big", 1, 30.0)), "bleu") is None


def test_noise_of_perplexity_is_that_of_its_logarithm() -> None:
    result = results(run("base", 1, 9.0, math.exp(2.0)), run("base", 2, 9.0, math.exp(2.4)))
    assert seed_noise(result, "perplexity") == SeedNoise(pytest.approx(0.2 * math.sqrt(2)), 1)  # type: ignore[arg-type]


def test_a_row_is_called_like_the_paper_only_beyond_the_band() -> None:
    """Base 9, 10, 11; a row with one seed may lie 4.3027 * 1 * sqrt(1 / 3 + 1) = 4.968 beside 10 by luck."""
    base = [run("base", seed, 8.0 + seed) for seed in (1, 2, 3)]
    for bleu, verdict in ((5.02, "same"), (5.04, "noise"), (14.96, "noise"), (14.98, "other")):
        result = reduced_result(results(*base, run("table3-c-n2", 1, bleu)), "table3-c-n2", "bleu")
        assert result is not None
        assert result.verdict == verdict  # the paper: 23.7 against 25.8
        assert result.band == pytest.approx((10 - 4.9683, 10 + 4.9683), abs=1e-4)
        assert (result.mean, result.deviation, result.seeds) == (bleu, None, (bleu,))
    result = reduced_result(results(*base, run("big", 1, 20.0)), "big", "bleu")
    assert result is not None and result.verdict == "same"  # the paper: 26.4 against 25.8
    result = reduced_result(results(*base, run("table3-a-h16", 1, 20.0)), "table3-a-h16", "bleu")
    assert result is not None and result.verdict == "other"  # the paper: no difference


def test_what_the_readme_calls_significant() -> None:
    """Its table has the verdicts that the lesson shows, and what it says in words follows from them."""
    results = load_results()
    assert results is not None
    readme = (SMALL / "README.md").read_text(encoding="utf-8").partition("## Table 3 in small")[2]
    words = {"same": "same direction", "other": "opposite direction", "noise": "not significant", None: ""}
    for line in TABLE_3:
        actual = [reduced_result(results, line.preset, measure) for measure in MEASURES[::-1]]
        verdicts = " | ".join(words[each.verdict] for each in actual if each)
        row = re.search(rf"\| `{line.preset}` \|.*", readme)
        assert row and f"| {verdicts} | {line.perplexity:.2f} | {line.bleu:.1f} |" in row[0]


def test_what_the_prose_says_about_dropout() -> None:
    """No sentence came twice, and without dropout base is better, unlike in the paper."""
    results = load_results()
    assert results is not None
    assert all(2 * run.target_tokens < TOKENS for run in results.runs)
    for measure in MEASURES:
        result = reduced_result(results, "table3-d-dropout0", measure)
        assert result is not None and result.verdict == "other"


def test_the_more_seeds_the_narrower() -> None:
    """Student's t of textbooks: 12.706 for 1 degree of freedom, 2.228 for 10, 2.042 for 30, 1.987 for 90."""
    for degrees, quantile in ((1, 12.706), (10, 2.228), (30, 2.042), (90, 1.987)):
        assert SeedNoise(0.5, degrees).width(2, 2) == pytest.approx(0.5 * quantile, abs=3e-4)
    assert SeedNoise(0.5, 10).width(1, 1) == pytest.approx(0.5 * 2.228 * math.sqrt(2), abs=4e-4)


def test_of_perplexity_less_is_better_but_the_same_way_is_the_same_way() -> None:
    base = [run("base", seed, 9.0, 10.0 * factor) for seed, factor in ((1, 0.99), (2, 1 / 0.99))]
    for perplexity, verdict in ((13.0, "same"), (7.5, "other"), (10.1, "noise")):
        result = reduced_result(results(*base, run("table3-c-n2", 1, 9.0, perplexity)), "table3-c-n2", "perplexity")
        assert result is not None and result.verdict == verdict  # the paper: 6.11 against 4.92
        assert result.band is not None
        assert result.band[0] * result.band[1] == pytest.approx(100.0)  # as far below as above, by their ratio


def test_base_and_what_nobody_trained() -> None:
    result = results(run("base", 1, 9.0), run("base", 2, 11.0))
    assert reduced_result(result, "base", "bleu") == ReducedResult(10.0, math.sqrt(2), (9.0, 11.0), None, None)
    assert reduced_result(result, "big", "bleu") is None
    single = results(run("base", 1, 9.0), run("big", 1, 11.0))
    assert reduced_result(single, "big", "bleu") == ReducedResult(11.0, None, (11.0,), None, None)


def test_a_file_that_is_missing_damaged_or_without_base_is_none(tmp_path: Path) -> None:
    assert load_results(tmp_path / "none.json") is None
    (tmp_path / "damaged.json").write_text("{", encoding="utf-8")
    assert load_results(tmp_path / "damaged.json") is None
    results(run("big", 1, 9.0)).save(tmp_path / "partial.json")
    assert load_results(tmp_path / "partial.json") is None
    results(run("base", 1, 9.0)).save(tmp_path / "good.json")
    assert load_results(tmp_path / "good.json") == results(run("base", 1, 9.0))
