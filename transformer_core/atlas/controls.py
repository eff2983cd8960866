"""Matched controls of the effects of heads.

Any change of a head has an effect, noise included. So the loss without a head is compared with that by a control,
paired by sentence: a random vector as long as the change, or the head's output on other sentences. A head survives the
control if its removal costs more than the random vector (two-sided paired t-test over sentences). All heads are
corrected by Benjamini and Hochberg (1995): survivors are counted, so the share of false ones matters. Noise may harm
more than absence, so a head that does not survive may still be of use.
"""

from __future__ import annotations

from transformer_core.analysis.word_weights import BoolArray
from transformer_core.atlas.record import Effects
from transformer_core.atlas.statistics import FALSE_DISCOVERIES
from transformer_core.attention_maps import Kind

CONTROLS = {"zero": ("random", "resample"), "mean": ("random-mean", "resample")}  # the first one decides


def survivors(effects: Effects, change: str) -> dict[Kind, BoolArray]:
    """Tell which heads, (L, H) of each kind, survive the control; empty for an atlas without controls."""
    name = f"{change}/{CONTROLS[change][0]}"
    found = effects.differences.get(name, {})
    return {kind: (each.value > 0) & (effects.q[name][kind] <= FALSE_DISCOVERIES) for kind, each in found.items()}
