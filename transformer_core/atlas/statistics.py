"""Intervals and tests of the atlas. The units are sentences, since the words of a sentence depend on one another.

Shape legend: N sentences, D draws.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from transformer_core.atlas.record import Estimate, FloatArray
from transformer_core.extras import extra

DRAWS = 1_000
FALSE_DISCOVERIES = 0.05  # false discovery rate
MIN_GAIN = 0.10  # of a role, above the baseline
MIN_PLACES = 50  # of a role
_INTERVAL = (2.5, 97.5)  # percent
_COLUMNS = 2_048  # of a batch, which bounds memory


class Bootstrap:
    """Bootstrap of N sentences, drawn D times with replacement; every number of a part uses the same draws.

    Args:
        sentences: N, at least 1.
        draws: D.
        seed: Of the draws.
    """

    def __init__(self, sentences: int, draws: int = DRAWS, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        drawn = rng.multinomial(sentences, np.full(sentences, 1 / sentences), size=draws)
        self._drawn = drawn.astype(np.float64)  # (D, N)

    def ratio(self, sums: npt.ArrayLike, counts: npt.ArrayLike) -> Estimate:
        """Divide sums by counts, such as hits by queries.

        Args:
            sums: (N, ...) of each sentence.
            counts: (N, ...) that broadcasts from the left: (N,) counts for all.

        Returns:
            NaN where nothing was counted. Intervals skip draws without any count.
        """
        top = np.asarray(sums, dtype=np.float64)
        below = np.asarray(counts, dtype=np.float64)
        below = np.broadcast_to(below.reshape(*below.shape, *(1,) * (top.ndim - below.ndim)), top.shape)
        shape = top.shape[1:]
        top, below = top.reshape(len(top), -1), below.reshape(len(top), -1)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = top.sum(axis=0) / below.sum(axis=0)
            ends = [
                self._ends(top[:, start : start + _COLUMNS], below[:, start : start + _COLUMNS])
                for start in range(0, top.shape[1], _COLUMNS)
            ]
        low, high = np.concatenate(ends, axis=1) if ends else np.empty((2, 0))
        return Estimate(value=value.reshape(shape), low=low.reshape(shape), high=high.reshape(shape))

    def of(self, draw_values: FloatArray, value: FloatArray) -> Estimate:
        """Return an estimate from its values in all draws, (D, ...), such as correlations."""
        low, high = np.nanpercentile(draw_values, _INTERVAL, axis=0)
        return Estimate(value=np.asarray(value), low=np.asarray(low), high=np.asarray(high))

    def correlation(self, draw_values: FloatArray, value: float) -> Estimate:
        """Return a bias-corrected estimate from its values in all draws, (D,).

        Drawing sentences adds noise, which lowers a correlation. So the draws are moved, on Fisher's scale, until their
        median is the value.
        """
        draws, center = (np.arctanh(np.clip(each, 1e-9 - 1, 1 - 1e-9)) for each in (draw_values, value))
        low, high = np.tanh(np.percentile(draws, _INTERVAL) + center - np.median(draws))
        return Estimate(value=np.array(value), low=np.array(min(low, value)), high=np.array(max(high, value)))

    def ratios(self, sums: FloatArray, counts: FloatArray) -> FloatArray:
        """Return the ratio of every draw: (N, ...) sums and (N,) or (N, ...) counts -> (D, ...)."""
        below = self._drawn @ counts.reshape(len(counts), -1)  # (D, 1) or (D, ...)
        flat = self._drawn @ sums.reshape(len(sums), -1) / below
        return np.asarray(flat.reshape(-1, *sums.shape[1:]))

    def _ends(self, top: FloatArray, below: FloatArray) -> FloatArray:
        """Return the ends of the intervals, (2, columns)."""
        ratios = (self._drawn @ top) / (self._drawn @ below)
        empty = np.isnan(ratios).all(axis=0)
        ratios[:, empty] = 0.0
        ends = np.nanpercentile(ratios, _INTERVAL, axis=0)
        ends[:, empty] = np.nan
        return np.asarray(ends)


def sign_test(differences: FloatArray, *, two_sided: bool = False) -> FloatArray:
    """Compute exact p-values of the sign test: sentences with a positive against a negative difference.

    Args:
        differences: (N, ...) of each sentence; 0 and NaN count for neither side.
        two_sided: Whether a negative difference is a finding too.

    Returns:
        (...), 1 where all differences are 0.
    """
    with extra("atlas"):
        from scipy.stats import binom

    better, worse = (differences > 0).sum(axis=0), (differences < 0).sum(axis=0)
    if two_sided:
        return np.asarray(np.minimum(1.0, 2 * binom.cdf(np.minimum(better, worse), better + worse, 0.5)))
    return np.asarray(binom.sf(better - 1, better + worse, 0.5))


def paired_test(differences: FloatArray) -> FloatArray:
    """Compute two-sided p-values of the paired t-test: (N, ...) -> (...), 1 where differences do not vary.

    A sign test would take a difference of shape, such as skew, for one of the mean.
    """
    with extra("atlas"):
        from scipy.stats import ttest_1samp

    varies = len(differences) > 1 and np.ptp(differences, axis=0) > 0
    with np.errstate(all="ignore"):
        return np.where(varies, ttest_1samp(differences, 0.0, axis=0).pvalue, 1.0)


def corrected(p: FloatArray) -> FloatArray:
    """Correct p-values as one family (Benjamini and Hochberg 1995); NaN stays NaN."""
    with extra("atlas"):
        from scipy.stats import false_discovery_control

    q = np.full(p.shape, np.nan)
    tested = np.isfinite(p)
    if tested.any():
        q[tested] = false_discovery_control(np.clip(p[tested], 0.0, 1.0))
    return q
