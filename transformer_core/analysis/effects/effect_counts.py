"""Number of heads with an effect on the log-probability of given translations, over many sentences.

Mean-ablation: each head gives its mean output, whatever it reads. The effect of the head is the log-probability that a
token loses. Sentences are drawn with replacement: a head has an effect where its 95 % interval excludes 0. Of many
heads without any effect, about one in twenty will seem to have one.

Shape legend: N sentences, L layers, H heads, D draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.attention_maps import KINDS, Kind

if TYPE_CHECKING:
    from transformer_core.translator import Translator

DRAWS = 2_000
_INTERVAL = (2.5, 97.5)  # percent

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class MeanEffects:
    """Effects of all heads of a kind, in nats per token; above 0 the head helps.

    Args:
        effect: (L, H) over all tokens of all sentences.
        low: (L, H) lower end of its 95 % interval over sentences.
        high: (L, H) upper end.
    """

    effect: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def changes(self) -> npt.NDArray[np.bool_]:
        """(L, H) whether the interval excludes 0."""
        return np.asarray((self.low > 0) | (self.high < 0))


def with_intervals(effects: FloatArray, lengths: Sequence[int], *, draws: int = DRAWS, seed: int = 0) -> MeanEffects:
    """Compute effects per token and their intervals.

    Args:
        effects: (N, L, H) nats, summed over the tokens of each sentence.
        lengths: (N,) tokens of each sentence.
        draws: Number of resampled sets of N sentences.
        seed: Of the draws.
    """
    drawn = np.random.default_rng(seed).multinomial(len(lengths), np.full(len(lengths), 1 / len(lengths)), size=draws)
    tokens = np.asarray(lengths, dtype=np.float64)
    sums = np.einsum("dn,nlh->dlh", drawn.astype(np.float64), effects)
    low, high = np.percentile(sums / (drawn @ tokens)[:, None, None], _INTERVAL, axis=0)
    return MeanEffects(effects.sum(axis=0) / tokens.sum(), low, high)


def mean_effects(
    translator: Translator,
    pairs: Iterable[tuple[str, str]],
    *,
    progress: Callable[[Sequence[tuple[str, str]]], Iterable[tuple[str, str]]] = iter,
) -> dict[Kind, MeanEffects]:
    """Measure the mean-ablation effect of every head on given translations.

    Args:
        translator: The model.
        pairs: Sources and translations; skipped where empty or too long.
        progress: Wraps the pairs in a progress bar.

    Raises:
        ValueError: There is no sentence.
    """
    from transformer_core.analysis.effects.head_effects import head_effects, mean_outputs
    from transformer_core.analysis.teacher_forced_run import fits

    read = [pair for pair in pairs if fits(translator, *pair)]
    if not read:
        raise ValueError("there are no sentences to measure effects on")
    means = mean_outputs(translator, read)
    found: dict[Kind, list[FloatArray]] = {kind: [] for kind in KINDS}
    lengths = []
    for source, target in progress(read):
        effects = head_effects(translator, source, target, change="mean", means=means).effects
        for kind, values in effects.items():
            found[kind].append(values.cpu().double().sum(dim=2).numpy())
        lengths.append(effects[KINDS[0]].shape[2])
    return {kind: with_intervals(np.stack(values), lengths) for kind, values in found.items()}


def effect_report(effects: Mapping[Kind, MeanEffects]) -> dict[str, dict[str, Any]]:
    """Return the entries of a checkpoint's metrics: for each kind counts, and (L, H) tables in nats per token."""
    return {
        kind: {
            **effect_counts({kind: each})[kind],
            "effect": each.effect.round(5).tolist(),
            "effect_low": each.low.round(5).tolist(),
            "effect_high": each.high.round(5).tolist(),
        }
        for kind, each in effects.items()
    }


def effect_counts(effects: Mapping[Kind, MeanEffects]) -> dict[str, dict[str, Any]]:
    """Count the heads of each kind that change the log-probability, in all and by layer."""
    return {
        kind: {"changing": int(each.changes.sum()), "changing_by_layer": each.changes.sum(axis=1).tolist()}
        for kind, each in effects.items()
    }
