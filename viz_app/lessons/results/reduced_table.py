"""Table 3 in small: scores of our own models of its rows, and which differences are significant.

The numbers come from `python -m transformer_core variations`; only the rules by which they are read are fixed here.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from transformer_core.paper.flops import parameters
from transformer_core.paper.presets import preset
from transformer_core.paper.table3 import ROWS, Results, VariationsError
from viz_app.lessons.results.paper_results import TABLE_3
from viz_app.lessons.small_models import SMALL

RESULTS = SMALL / "table3.json"

Measure = Literal["bleu", "perplexity"]
Verdict = Literal["same", "other", "noise"]
MEASURES: tuple[Measure, ...] = ("bleu", "perplexity")

# Vocabularies for which parameters are counted: the 37,000 tokens that Section 5.1 tells, and the 40,960 rows, with
# biases in the attention, of the authors' code of 2017, which give the printed numbers.
_PRINTED, _CODE = 37_000, 40_960
_log = logging.getLogger(__name__)


@cache
def parameter_millions(name: str) -> tuple[float, float]:
    """Count millions of parameters of a preset of the paper's size by both conventions."""
    model = preset(name).model
    printed = parameters(model.replace(vocab_size=_PRINTED, attention_biases=False))
    code = parameters(model.replace(vocab_size=_CODE, attention_biases=True))
    return printed / 1e6, code / 1e6


@dataclass(frozen=True)
class ReducedResult:
    """Score of one row.

    Args:
        mean: Of all seeds.
        deviation: Standard deviation of the seeds; None where there is only one.
        seeds: The value of each.
        band: Lowest and highest value that may be base's with luck; None while no row has two seeds.
        verdict: Whether it differs from base as in the paper (same), the other way (other), or no more than luck may do
            (noise); None for base, and where the band is None.
    """

    mean: float
    deviation: float | None
    seeds: tuple[float, ...]
    band: tuple[float, float] | None
    verdict: Verdict | None


def load_results(path: Path = RESULTS) -> Results | None:
    """Load the results that ship with the app; None while they are missing or damaged, which is logged."""
    try:
        results = Results.load(path)
    except VariationsError as error:
        _log.warning("Table 3 in small: %s", error)
        return None
    if not any(run.row == "base" for run in results.runs):
        _log.warning("Table 3 in small: %s has no run of base to compare with", path)
        return None
    return results


@dataclass(frozen=True)
class SeedNoise:
    """Variation among seeds.

    Args:
        deviation: Standard deviation among the seeds of a row, pooled over all rows: of BLEU in points; of perplexity
            as of its logarithm, nats per token, since it differs by factors.
        degrees: Of freedom: seeds less rows.
    """

    deviation: float
    degrees: int

    def around_mean(self, seeds: int) -> float:
        """Return half the 95 % interval of the mean of `seeds` runs."""
        return self._quantile * self.deviation / math.sqrt(seeds)

    def width(self, seeds: int, of_base: int) -> float:
        """Return the largest difference of two means that is not significant at 5 %."""
        return self._quantile * self.deviation * math.sqrt(1 / seeds + 1 / of_base)

    @property
    def _quantile(self) -> float:
        """Standard deviations within which 19 of 20 differences lie by chance: Student's t."""
        from scipy.special import stdtrit  # scipy.stats.t.ppf without the second that scipy.stats takes to import

        return float(stdtrit(self.degrees, 0.975))


def seed_noise(results: Results, measure: Measure) -> SeedNoise | None:
    """Estimate the variation among seeds; None while no row has two."""
    squares, degrees = 0.0, 0
    for row in ROWS:
        values = _values(results, row, measure)
        if len(values) > 1:
            mean = sum(values) / len(values)
            squares += sum((value - mean) ** 2 for value in values)
            degrees += len(values) - 1
    return SeedNoise(math.sqrt(squares / degrees), degrees) if degrees else None


def mean_interval(results: Results, row: str, measure: Measure) -> tuple[float, float] | None:
    """Return the 95 % interval of a row's mean; None without an estimate of the variation."""
    values, noise = _values(results, row, measure), seed_noise(results, measure)
    if not values or noise is None:
        return None
    mean, half = sum(values) / len(values), noise.around_mean(len(values))
    return _plain(mean - half, measure), _plain(mean + half, measure)


def reduced_result(results: Results, row: str, measure: Measure) -> ReducedResult | None:
    """Summarise our models of a row; None where the row was not trained."""
    spread = results.spread(row, measure)
    if spread is None:
        return None
    seeds = tuple(float(getattr(run, measure)) for run in results.runs if run.row == row)
    values, base = _values(results, row, measure), _values(results, "base", measure)
    usual = seed_noise(results, measure)
    if usual is None or row == "base":
        return ReducedResult(spread.mean, spread.deviation, seeds, None, None)
    width = usual.width(len(values), len(base))
    middle = sum(base) / len(base)
    band = (_plain(middle - width, measure), _plain(middle + width, measure))
    return ReducedResult(spread.mean, spread.deviation, seeds, band, _verdict(row, measure, values, middle, width))


def _values(results: Results, row: str, measure: Measure) -> Sequence[float]:
    """Return the values of all seeds of a row for comparison: BLEU, or the logarithm of perplexity."""
    values = [float(getattr(run, measure)) for run in results.runs if run.row == row]
    return [math.log(value) for value in values] if measure == "perplexity" else values


def _plain(value: float, measure: Measure) -> float:
    return math.exp(value) if measure == "perplexity" else value


def _verdict(row: str, measure: Measure, values: Sequence[float], base: float, width: float) -> Verdict:
    """Compare the direction of our difference to base with the paper's."""
    difference = sum(values) / len(values) - base
    if abs(difference) <= width:
        return "noise"
    printed = {line.preset: float(getattr(line, measure)) for line in TABLE_3}
    theirs = printed[row] - printed["base"]
    return "same" if difference * theirs > 0 else "other"
