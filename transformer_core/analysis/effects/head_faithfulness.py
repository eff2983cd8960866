"""Does the log-probability fall where the effects of single heads say it should? Heads switched off together.

Effects do not add up, so that heads that each help alone need not be those that a translation needs most together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from transformer_core.analysis.ablation import all_heads
from transformer_core.analysis.attribution.agreement import Faithfulness
from transformer_core.analysis.effects.cumulative_ablation import log_p_without, random_order
from transformer_core.analysis.effects.head_effects import HeadEffects
from transformer_core.analysis.teacher_forced_run import rows_at_once
from transformer_core.attention_maps import KINDS
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.progress import expect

if TYPE_CHECKING:
    from transformer_core.translator import Translator

MAX = 12
DRAWS = 4


def head_faithfulness(
    translator: Translator,
    found: HeadEffects,
    *,
    most: int = MAX,
    draws: int = DRAWS,
    seed: int = 0,
    should_stop: Callable[[], bool] | None = None,
) -> Faithfulness:
    """Switch off the heads of the largest effects together, and as many at random.

    This is the comprehensiveness of DeYoung et al. (2020), for heads in the place of words.

    Args:
        translator: The model that the effects are of.
        found: Effects of any change; heads are ordered by their effect on the whole translation, helpful ones first.
        most: K, how many heads are off at most.
        draws: Random orders.
        seed: Of the draws.
        should_stop: Called before every batch.

    Returns:
        (K,) nats each: by how much the log-probability of the whole translation falls without the first 1, 2, ..., K.

    Raises:
        DecodingStopped: `should_stop` returned True.
    """

    def check() -> None:
        if should_stop is not None and should_stop():
            raise DecodingStopped

    heads = all_heads(translator)
    most = min(most, len(heads))
    totals = torch.cat([found.effects[kind].sum(dim=2).flatten() for kind in KINDS])
    falling = [heads[number] for number in totals.argsort(descending=True, stable=True).tolist()]
    orders = [falling, falling[::-1], *(random_order(heads, seed + draw) for draw in range(draws))]
    sets = [[], *(order[:count] for order in orders for count in range(1, most + 1))]
    run = found.run
    expect(should_stop, -(-len(sets) // rows_at_once(translator.config, run.source.shape[1], run.inputs.shape[1])))
    log_p = log_p_without(translator, run, sets, check)
    falls = (log_p[0] - log_p[1:]).view(len(orders), most)
    return Faithfulness(first=falls[0], last=falls[1], random=falls[2:].mean(dim=0))
