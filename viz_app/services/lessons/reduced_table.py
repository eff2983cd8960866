"""Table 3 in small: what our own models of its rows reached, and which differences are more than luck.

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

from transformer_core.flops import parameters
from transformer_core.presets import preset
from transformer_core.variations import ROWS, Results, VariationsError
from viz_app.services.lessons.paper_results import TABLE_3
from viz_app.services.small import SMALL

RESULTS = SMALL / "table3.json"

Measure = Literal["bleu", "perplexity"]
Verdict = Literal["same", "other", "noise"]
MEASURES: tuple[Measure, ...] = ("bleu", "perplexity")

# Vocabularies for which parameters are counted: the 37,000 pieces that Section 5.1 tells, and the 40,960 rows, with
# biases in the attention, of the authors' code of 2017, which give the printed numbers.
_TOLD, _CODE = 37_000, 40_960
_SURE = 2.0  # a difference counts from so many standard deviations of it on

_log = logging.getLogger(__name__)


@cache
def counted(name: str) -> tuple[float, float]:
    """Millions of parameters of a preset of the paper's size by both conventions."""
    model = preset(name).model
    told = parameters(model.replace(vocab_size=_TOLD, attention_biases=False))
    code = parameters(model.replace(vocab_size=_CODE, attention_biases=True))
    return told / 1e6, code / 1e6


@dataclass(frozen=True)
class Ours:
    """One number of one row.

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


def load(path: Path = RESULTS) -> Results | None:
    """The results that ship with the app; None while they are missing or damaged, which is logged."""
    try:
        found = Results.load(path)
    except VariationsError as error:
        _log.warning("Table 3 in small: %s", error)
        return None
    if not any(run.row == "base" for run in found.runs):
        _log.warning("Table 3 in small: %s has no run of base to compare with", path)
        return None
    return found


def noise(results: Results, measure: Measure) -> float | None:
    """How far two seeds of a model lie apart: the standard deviation within the rows, pooled over them.

    Of BLEU in points; of perplexity as of its logarithm, nats per piece, since it differs by factors. None while no row
    has two seeds.
    """
    squares, degrees = 0.0, 0
    for row in ROWS:
        values = _values(results, row, measure)
        if len(values) > 1:
            mean = sum(values) / len(values)
            squares += sum((value - mean) ** 2 for value in values)
            degrees += len(values) - 1
    return math.sqrt(squares / degrees) if degrees else None


def ours(results: Results, row: str, measure: Measure) -> Ours | None:
    """What our models of a row reached; None where the row was not trained."""
    spread = results.spread(row, measure)
    if spread is None:
        return None
    seeds = tuple(float(getattr(run, measure)) for run in results.runs if run.row == row)
    values, base = _values(results, row, measure), _values(results, "base", measure)
    usual = noise(results, measure)
    if usual is None or row == "base":
        return Ours(spread.mean, spread.deviation, seeds, None, None)
    width = _SURE * usual * math.sqrt(1 / len(values) + 1 / len(base))
    middle = sum(base) / len(base)
    band = (_plain(middle - width, measure), _plain(middle + width, measure))
    return Ours(spread.mean, spread.deviation, seeds, band, _verdict(row, measure, values, middle, width))


def _values(results: Results, row: str, measure: Measure) -> Sequence[float]:
    """The values of all seeds of a row as they are compared: BLEU as it is, perplexity as its logarithm."""
    found = [float(getattr(run, measure)) for run in results.runs if run.row == row]
    return [math.log(value) for value in found] if measure == "perplexity" else found


def _plain(value: float, measure: Measure) -> float:
    return math.exp(value) if measure == "perplexity" else value


def _verdict(row: str, measure: Measure, values: Sequence[float], base: float, width: float) -> Verdict:
    """Whether our difference to base goes where the paper's goes."""
    difference = sum(values) / len(values) - base
    if abs(difference) <= width:
        return "noise"
    printed = {line.preset: float(getattr(line, measure)) for line in TABLE_3}
    theirs = printed[row] - printed["base"]
    return "same" if difference * theirs > 0 else "other"
