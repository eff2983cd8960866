"""How many heads matter? Those without which given translations become more or less probable, over many sentences.

Each head gives its mean output instead of its own, so it says the same whatever it reads (mean-ablation). What a
token's log-probability loses by that is the effect of the head. Sentences are drawn with replacement: a head changes
the log-probability where the 95 % interval of its effect excludes 0. Of many heads without any effect, about one in
twenty will seem to have one.

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
    """Of all heads of a kind, in nats per token; above 0 the head helps.

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
        """(L, H) whether the head changes the log-probability: its interval excludes 0."""
        return np.asarray((self.low > 0) | (self.high < 0))


def with_intervals(effects: FloatArray, lengths: Sequence[int], *, draws: int = DRAWS, seed: int = 0) -> MeanEffects:
    """Effects per token and their intervals.

    Args:
        effects: (N, L, H) nats, of each sentence the sum over its tokens.
        lengths: (N,) tokens of each sentence.
        draws: How often N sentences are drawn with replacement.
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
    """The effect of every head on given translations, beside its mean output over the same sentences.

    Args:
        translator: The model.
        pairs: Sources and translations; one that is empty or too long is left out.
        progress: Shows how far it is.

    Raises:
        ValueError: There is no sentence.
    """
    from transformer_core.analysis.effects.head_effects import head_effects, mean_outputs

    read = [pair for pair in pairs if _fits(translator, pair)]
    if not read:
        raise ValueError("there are no sentences to measure effects on")
    means = mean_outputs(translator, read)
    found: dict[Kind, list[FloatArray]] = {kind: [] for kind in KINDS}
    lengths = []
    for source, target in progress(read):
        effects = head_effects(translator, source, target, change="mean", means=means).effects
        for kind, values in effects.items():
            found[kind].append(values.double().sum(dim=2).cpu().numpy())
        lengths.append(effects[KINDS[0]].shape[2])
    return {kind: with_intervals(np.stack(values), lengths) for kind, values in found.items()}


def effect_report(effects: Mapping[Kind, MeanEffects]) -> dict[str, dict[str, Any]]:
    """What the metrics of a checkpoint hold of each kind: the counts, and the tables, (L, H) in nats per token."""
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
    """How many heads of each kind change the log-probability, by layer too."""
    return {
        kind: {"changing": int(each.changes.sum()), "changing_by_layer": each.changes.sum(axis=1).tolist()}
        for kind, each in effects.items()
    }


def _fits(translator: Translator, pair: tuple[str, str]) -> bool:
    from transformer_core.translator import SourceTooLong

    try:
        translator.encode_target(pair[1])
        return len(translator.encode(pair[0])) > 0
    except SourceTooLong:
        return False
