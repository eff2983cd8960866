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
    run = flow.run
    weights = of_layers(run.captured, translator.config.num_layers)
    live = {kind: weights[kind] > 0 for kind in KINDS}
    for kind in KINDS[1:]:
        live[kind][:, :, flow.position + 1 :] = False

    attention, generator = in_row(weights, live), torch.Generator().manual_seed(seed)
    flows = {kind: torch.from_numpy(flow.maps[kind]).to(attention) for kind in KINDS}
    orders = [in_row(flows, live), attention]
    orders += [torch.rand(len(attention), generator=generator).to(attention) for _ in range(random_orders)]
    kept = ~torch.cat([first(order, shares) for order in orders])  # (V, E)

    def without(group: Sequence[Tensor]) -> AbstractContextManager[None]:
        masks = on_maps(torch.stack(list(group)), live)

        def cut(weights: Tensor, site: Site) -> Tensor:
            assert site.kind is not None and site.layer is not None
            return weights * masks[site.kind][:, site.layer]

        return edit(translator, "weights", cut)

    log_p = changed_log_p(translator, run, list(kept), without, stop_check(should_stop))[:, flow.position].cpu()
    whole = float(run.log_p[flow.position])
    changes = (log_p - whole).view(len(orders), -1)
    return Cuts(
        edges=len(attention),
        shares=tuple(shares),
        log_p=whole,
        flow=changes[0],
        attention=changes[1],
        random=changes[2:],
    )


def of_layers(values: Mapping[str, Tensor], layers: int) -> dict[Kind, Tensor]:
    """Join values at the weights of all layers, by address: kind -> (L, H, Q, K)."""
    return {
        kind: torch.cat([values[hook_point_name(kind, layer, "weights")].detach() for layer in range(layers)])
        for kind in KINDS
    }


def in_row(values: Mapping[Kind, Tensor], live: Mapping[Kind, Tensor]) -> Tensor:
    """Return the values of all live edges, (E,); arguments are kind -> (L, H, Q, K)."""
    return torch.cat([values[kind][live[kind]] for kind in KINDS])


def first(values: Tensor, shares: Sequence[float]) -> Tensor:
    """Mark the largest values, as many as each share, and one at least: (E,) -> (C, E)."""
    order = values.argsort(descending=True, stable=True)
    marks = torch.zeros(len(shares), len(values), dtype=torch.bool, device=values.device)
    for mark, share in zip(marks, shares, strict=True):
        mark[order[: max(1, round(share * len(order)))]] = True
    return marks


def on_maps(rows: Tensor, live: Mapping[Kind, Tensor]) -> dict[Kind, Tensor]:
    """Put rows of live edges, (V, E), on maps where all others are True: kind -> (V, L, H, Q, K)."""
    maps = {kind: rows.new_ones(len(rows), *live[kind].shape) for kind in KINDS}
    parts = torch.split(rows, [int(live[kind].sum()) for kind in KINDS], dim=1)
    for kind, part in zip(KINDS, parts, strict=True):
        maps[kind][:, live[kind]] = part
    return maps
