"""Matched controls of the effects of heads.

Any change of a head has an effect, noise included. So the loss without a head is compared with that by a control,
paired by sentence: a random vector as long as the change, or the head's output on other sentences. A head survives the
control if its removal costs more than the random vector (two-sided paired t-test over sentences). All heads are
corrected by Benjamini and Hochberg (1995): survivors are counted, so the share of false ones matters. Noise may harm
more than absence, so a head that does not survive may still be of use.

Shape legend: N sentences, K kinds of attention, L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer_core.analysis.word_weights import BoolArray
from transformer_core.atlas.record import Effects
from transformer_core.atlas.statistics import FALSE_DISCOVERIES, Bootstrap, corrected, paired_test
from transformer_core.attention_maps import KINDS, Kind

if TYPE_CHECKING:
    from transformer_core.translator import Translator

CONTROL_DRAWS = 4  # of a sentence
CONTROLS = {"zero": ("random", "resample"), "mean": ("random-mean", "resample")}  # the first one decides


def survivors(effects: Effects, change: str) -> dict[Kind, BoolArray]:
    """Tell which heads, (L, H) of each kind, survive the control; empty for an atlas without controls."""
    name = f"{change}/{CONTROLS[change][0]}"
    differences = effects.differences.get(name, {})
    return {kind: (each.value > 0) & (effects.q[name][kind] <= FALSE_DISCOVERIES) for kind, each in differences.items()}


def survivor_report(
    translator: Translator,
    pairs: Iterable[tuple[str, str]],
    *,
    progress: Callable[[Sequence[tuple[str, str]]], Iterable[tuple[str, str]]] = iter,
) -> dict[str, dict[str, Any]]:
    """Measure the effect of `mean` and its random control alone, a third of the work of `effects`.

    Returns the entries of a checkpoint's metrics: for each kind the number of heads that survive the control, in all
    and by layer; (L, H) tables of the effect, and of its difference to the control, in nats per token.

    Pairs that are empty or too long are skipped. Raises ValueError when none is left. `progress` wraps them.
    """
    from transformer_core.analysis.effects.head_effects import head_effects, mean_outputs
    from transformer_core.analysis.teacher_forced_run import fits

    read = [pair for pair in pairs if fits(translator, *pair)]
    if not read:
        raise ValueError("there are no sentences to measure effects on")
    means = mean_outputs(translator, read)
    sums, tokens = [], []
    for seed, pair in enumerate(progress(read)):
        both = [
            head_effects(translator, *pair, change=change, means=means, draws=CONTROL_DRAWS, seed=seed).effects
            for change in ("mean", "random")
        ]
        sums.append([[each[kind].cpu().double().sum(dim=2).numpy() for kind in KINDS] for each in both])
        tokens.append(both[0]["cross"].shape[2])
    effects, controls = np.stack(sums, axis=1)  # (N, K, L, H)
    by_part = {"effect": effects, "difference": effects - controls}
    tables = {name: Bootstrap(len(read)).ratio(each, tokens) for name, each in by_part.items()}
    survive = (tables["difference"].value > 0) & (corrected(paired_test(effects - controls)) <= FALSE_DISCOVERIES)
    report: dict[str, dict[str, Any]] = {}
    for number, kind in enumerate(KINDS):
        by_layer = survive[number].sum(axis=1).tolist()
        report[kind] = {"surviving": sum(by_layer), "surviving_by_layer": by_layer}
        for name, each in tables.items():
            for ending, table in {"": each.value, "_low": each.low, "_high": each.high}.items():
                report[kind][f"{name}{ending}"] = table[number].round(5).tolist()
    return report
