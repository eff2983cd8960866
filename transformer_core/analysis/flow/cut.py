"""Cut edges of attention in the model itself, where nothing is frozen: those with the most flow, beside others.

Shape legend: L layers, H heads, Q queries, K keys, E edges, C cuts, R random orders, V variants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.flow.result import Flow
from transformer_core.analysis.teacher_forced_run import changed_log_p, stop_check
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.hooks.hook_sites import Site
from transformer_core.hooks.points import edit
from transformer_core.short_repr import ShortRepr
from transformer_core.translator import Translator

CUT = (0.005, 0.01, 0.02, 0.05)  # shares of the edges


@dataclass(frozen=True, kw_only=True, eq=False)
class Cuts(ShortRepr):
    """Change of a token's log-probability, in nats, when the weights of some edges become 0.

    Args:
        edges: Number of edges that no mask forbids; in the decoder up to the token.
        shares: (C,) of them that are cut.
        log_p: Log-probability with all edges.
        flow: (C,) without the edges whose flow speaks most for the token.
        attention: (C,) without the edges of the largest weights.
        random: (R, C) without random ones.
    """

    edges: int
    shares: tuple[float, ...]
    log_p: float
    flow: Tensor
    attention: Tensor
    random: Tensor


def cut_edges(
    translator: Translator,
    flow: Flow,
    shares: Sequence[float] = CUT,
    *,
    random_orders: int = 3,
    seed: int = 0,
    should_stop: Callable[[], bool] | None = None,
) -> Cuts:
    """Cut the first edges in the order of flow, of attention weight, and of random numbers, and run the model.

    Args:
        translator: The model of the flow.
        flow: Of the token.
        shares: Of the edges, above 0 and at most 1; one edge is cut at least.
        random_orders: Number of random orders.
        seed: Of the random orders.
        should_stop: See `Translator.translate`.

    Raises:
        ValueError: A share is not above 0 and at most 1.
        DecodingStopped: `should_stop` returned True.
    """
    if wrong := [share for share in shares if not 0 < share <= 1]:
        raise ValueError(f"share is {wrong[0]}, but must be above 0 and at most 1")
    run, layers = flow.run, range(translator.config.num_layers)
    weights = {
        kind: torch.cat([run.captured[hook_point_name(kind, layer, "weights")] for layer in layers]).cpu()
        for kind in KINDS
    }  # (L, H, Q, K)
    live = {kind: weights[kind] > 0 for kind in KINDS}
    for kind in KINDS[1:]:
        live[kind][:, :, flow.position + 1 :] = False

    def row(values: Mapping[Kind, Tensor]) -> Tensor:  # -> (E,)
        return torch.cat([values[kind][live[kind]] for kind in KINDS])

    attention, generator = row(weights), torch.Generator().manual_seed(seed)
    orders = [row({kind: torch.from_numpy(flow.maps[kind]) for kind in KINDS}), attention]
    orders += [torch.rand(len(attention), generator=generator) for _ in range(random_orders)]
    counts = [max(1, round(share * len(attention))) for share in shares]
    cuts = [order.argsort(descending=True, stable=True)[:count] for order in orders for count in counts]  # V

    def without(group: Sequence[Tensor]) -> AbstractContextManager[None]:
        kept = torch.ones(len(group), len(attention), dtype=torch.bool)
        for each, cut in zip(kept, group, strict=True):
            each[cut] = False
        masks = dict[Kind, Tensor]()  # (V, L, H, Q, K)
        parts = torch.split(kept, [int(live[kind].sum()) for kind in KINDS], dim=1)
        for kind, part in zip(KINDS, parts, strict=True):
            masks[kind] = torch.ones(len(group), *live[kind].shape, dtype=torch.bool)
            masks[kind][:, live[kind]] = part
            masks[kind] = masks[kind].to(run.source.device)

        def masked(weights: Tensor, site: Site) -> Tensor:
            assert site.kind is not None and site.layer is not None
            return weights * masks[site.kind][:, site.layer]

        return edit(translator, "weights", masked)

    log_p = changed_log_p(translator, run, cuts, without, stop_check(should_stop))[:, flow.position].cpu()
    whole = float(run.log_p[flow.position])
    changes = (log_p - whole).view(-1, len(counts))
    return Cuts(
        edges=len(attention),
        shares=tuple(shares),
        log_p=whole,
        flow=changes[0],
        attention=changes[1],
        random=changes[2:],
    )
