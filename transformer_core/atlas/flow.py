"""Measurements of the flow: each head's share of it, cuts of the edges that it names, and graphs of them.

Edges are cut in the model itself, where nothing is frozen: their weights become 0. Or only a graph of edges stays, and
the rest of each row's weight brings the head's mean output over all sentences. Edges are ordered by flow; by gradient x
weight, the estimate of attribution patching; by attention weight; or drawn. A cut takes the edges that speak most for
the token; a graph takes the largest, whatever their sign.

Shape legend: N sentences, T target tokens, K kinds of attention, L layers, H heads, E edges, R rows of a pass, V
variants, d_v width of a head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.effects.head_effects import MeanOutputs, by_kind, head_effects
from transformer_core.analysis.flow.backward import POINTS, contributions
from transformer_core.analysis.flow.cut import CUT, first, in_row, of_layers, on_maps
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, fits, teacher_forced_run
from transformer_core.atlas.effects import CHUNK, mean_outputs_of, rank_correlation
from transformer_core.atlas.record import Estimate, Flows
from transformer_core.atlas.resumable_map import Results, ResumableMap, cut, joined
from transformer_core.atlas.statistics import Bootstrap
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.hooks.hook_sites import Site
from transformer_core.hooks.points import capture, edit
from transformer_core.translator import Translator

ORDERS = ("flow", "gradient", "attention", "random")
KEPT = (0.01, 0.05, 0.1, 0.2)
TOKENS = 2  # of a sentence, drawn
_MOMENTS = 6  # 1, x, y, x x, y y, x y


def measure_flow(runner: ResumableMap, pairs: Sequence[Sequence[str]], bootstrap: Mapping[str, int]) -> Flows:
    """Measure shares of flow, cuts and graphs on given translations.

    Args:
        runner: Runs the stages.
        pairs: Sentences and translations.
        bootstrap: `draws` and `seed`.

    Raises:
        ValueError: No sentence can be read.
    """
    means, seed = mean_outputs_of(runner, pairs), bootstrap.get("seed", 0)
    items = [[group, means, seed + CHUNK * number] for number, group in enumerate(cut(pairs, CHUNK))]
    results = runner.run(chunk_flows, items, "sentences x 5")
    sizes, effects = joined(results, "sizes"), joined(results, "effects")  # (N, K, L, H)
    whole, nothing, rows = joined(results, "whole"), joined(results, "nothing"), joined(results, "rows")
    explained, drawing = joined(results, "explained"), Bootstrap(len(sizes), **bootstrap)
    share = drawing.ratio(sizes, sizes.sum(axis=(1, 2, 3)))
    moments = joined(results, "moments")
    ours, theirs = (drawing.ratios(each, np.ones(len(each))) for each in (sizes, effects))
    ranks = [rank_correlation(a.ravel(), b.ravel()) for a, b in zip(ours, theirs, strict=True)]
    of_means = rank_correlation(sizes.sum(axis=0).ravel(), effects.sum(axis=0).ravel())
    drawn = _pearson(drawing.ratios(moments, moments[:, 0]))

    def curves(values: Any) -> dict[str, Estimate]:  # (N, orders, shares)
        return {order: drawing.ratio(values[:, number], explained) for number, order in enumerate(ORDERS)}

    return Flows(
        sentences=len(sizes),
        skipped=len(pairs) - len(sizes),
        tokens=int(explained.sum()),
        share={
            kind: Estimate(value=share.value[number], low=share.low[number], high=share.high[number])
            for number, kind in enumerate(KINDS)
        },
        cut_shares=CUT,
        cut=curves(whole[:, None, None] - rows[:, : len(ORDERS)]),
        kept_shares=KEPT,
        kept=curves(rows[:, len(ORDERS) :]),
        whole=drawing.ratio(whole, explained),
        nothing=drawing.ratio(nothing, explained),
        with_effect=drawing.correlation(drawn, float(_pearson(moments.sum(axis=0)))),
        heads_with_effect=drawing.correlation(np.array(ranks), of_means),
    )


def _pearson(moments: Any) -> Any:
    """Compute Pearson's correlation from sums: (..., 6) -> (...)."""
    n, x, y, xx, yy, xy = np.moveaxis(moments, -1, 0)
    below = np.sqrt((n * xx - x * x) * (n * yy - y * y))
    return np.divide(n * xy - x * y, below, out=np.zeros_like(below), where=below > 0)


def chunk_flows(translator: Translator, item: Any) -> Results:
    """Sum over the tokens of each readable sentence.

    sizes and effects (K, L, H), moments of a head's flow and effect (6,). Over the drawn tokens, log-probabilities:
    whole, nothing, rows (2 x orders, shares) of cuts and graphs; and the number of these tokens, explained.
    """
    pairs, given, seed = item
    means, config = by_kind(translator, torch.tensor(given)), translator.config
    heads = len(KINDS), config.num_layers, config.num_heads
    shapes: dict[str, tuple[int, ...]] = {
        "sizes": heads, "effects": heads, "moments": (_MOMENTS,), "whole": (), "nothing": (),
        "rows": (2 * len(ORDERS), len(CUT)), "explained": (),
    }  # fmt: skip
    arrays: dict[str, list[Any]] = {name: [] for name in shapes}
    for number, (source, target) in enumerate(pairs):
        if not source.strip() or not target.strip() or not fits(translator, source, target):
            continue
        run = teacher_forced_run(translator, source, target, points=POINTS)
        positions = torch.arange(len(run.outputs), device=run.outputs.device)
        parts = [part.edges for part in contributions(translator.model, run, positions, run.outputs)]
        edges = {kind: torch.cat([part[kind] for part in parts]) for kind in KINDS}  # (T, L, H, Q, K)
        effects = head_effects(translator, source, target).effects
        flow = torch.stack([edges[kind].sum(dim=(3, 4)) for kind in KINDS], dim=1).cpu().double()  # (T, K, L, H)
        effect = torch.stack([effects[kind].movedim(2, 0) for kind in KINDS], dim=1).cpu().double()
        products = (torch.ones_like(flow), flow, effect, flow * flow, effect * effect, flow * effect)
        arrays["moments"].append([float(each.sum()) for each in products])
        arrays["effects"].append(effect.sum(dim=0).numpy())
        sizes = [edges[kind].abs().sum(dim=(0, 3, 4)) for kind in KINDS]
        arrays["sizes"].append(torch.stack(sizes).cpu().double().numpy())
        generator = torch.Generator().manual_seed(seed + number)
        drawn = torch.randperm(len(run.outputs), generator=generator)[:TOKENS].tolist()
        measured = torch.stack([
            _variants(translator, run, at, {kind: edges[kind][at] for kind in KINDS}, means, generator) for at in drawn
        ]).sum(dim=0)  # fmt: skip
        arrays["whole"].append(float(measured[0]))
        arrays["nothing"].append(float(measured[1]))
        arrays["rows"].append(measured[2:].view(shapes["rows"]).numpy())
        arrays["explained"].append(len(drawn))
    return {name: np.array(arrays[name], np.float64).reshape(-1, *shape) for name, shape in shapes.items()}


def _variants(
    translator: Translator,
    run: TeacherForcedRun,
    at: int,
    flow: Mapping[Kind, Tensor],
    means: MeanOutputs,
    generator: torch.Generator,
) -> Tensor:
    """Return log-probabilities of a token: of the whole model, with no edge, of cuts and of graphs, order by order."""
    inputs, token = run.inputs[:, : at + 1], int(run.outputs[at])
    weights, gradients = _gradients(translator, run, inputs, token)
    live = {kind: weights[kind] > 0 for kind in KINDS}  # not masked
    here = slice(at + 1)
    ends: dict[Kind, Any] = {"encoder": ..., "decoder": (..., here, here), "cross": (..., here, slice(None))}
    attention = in_row(weights, live)
    drawn = torch.rand(len(attention), generator=generator).to(attention)
    ours = in_row({kind: flow[kind][ends[kind]] for kind in KINDS}, live)
    values = (ours, attention * in_row(gradients, live), attention, drawn)
    none = torch.zeros_like(attention, dtype=torch.bool)[None]
    cuts, graphs = [first(each, CUT) for each in values], [first(each.abs(), KEPT) for each in values]
    rows = torch.cat([~none, none, *(~each for each in cuts), *graphs])  # (V, E)
    filled = torch.arange(len(rows), device=rows.device) >= 2 + len(ORDERS) * len(CUT)
    filled[1] = True
    return _log_p(translator, run, inputs, token, on_maps(rows, live), filled, means)


def _gradients(
    translator: Translator, run: TeacherForcedRun, inputs: Tensor, token: int
) -> tuple[dict[Kind, Tensor], dict[Kind, Tensor]]:
    """Return all weights, (L, H, Q, K) of each kind, and the gradients of a token's log-probability at them."""
    layers = range(translator.config.num_layers)
    with torch.enable_grad(), capture(translator, "weights", grad=True) as seen:
        log_p = translator.model(run.source, inputs, run.source_mask)[0, -1].float().log_softmax(dim=0)[token]
    names = [hook_point_name(kind, layer, "weights") for kind in KINDS for layer in layers]
    gradients = dict(zip(names, torch.autograd.grad(log_p, [seen[name] for name in names]), strict=True))
    return of_layers(seen, translator.config.num_layers), of_layers(gradients, translator.config.num_layers)


@torch.no_grad()
def _log_p(
    translator: Translator,
    run: TeacherForcedRun,
    inputs: Tensor,
    token: int,
    masks: Mapping[Kind, Tensor],
    filled: Tensor,
    means: MeanOutputs,
) -> Tensor:
    """Return (V,) log-probabilities of a token in float64; each row of the batch has its own edges.

    Args:
        translator: The model.
        run: The sentence.
        inputs: (1, n) ids that the decoder reads before the token.
        token: Its id.
        masks: Kind -> (V, L, H, Q, K), True for the edges of each variant.
        filled: (V,) whether the weight of other edges brings the head's mean output.
        means: Of every head.
    """
    removed = dict[tuple[Kind, int], Tensor]()

    def cut_edges(weights: Tensor, site: Site) -> Tensor:
        assert site.kind is not None and site.layer is not None
        mask = masks[site.kind][:, site.layer]
        removed[site.kind, site.layer] = (weights * ~mask).sum(dim=-1, keepdim=True) * filled[:, None, None, None]
        return weights * mask

    def fill(outputs: Tensor, site: Site) -> Tensor:
        assert site.kind is not None and site.layer is not None
        return outputs + removed[site.kind, site.layer] * means[site.kind][site.layer]

    rows = len(filled)
    with edit(translator, "weights", cut_edges), edit(translator, "head_outputs", fill):
        source, mask = run.source.expand(rows, -1), run.source_mask.expand(rows, -1, -1, -1)
        states = translator.model.decode(inputs.expand(rows, -1), translator.model.encode(source, mask), mask)
        logits = translator.model.logits(states[:, -1:])[:, 0].float()
    return logits.log_softmax(dim=1)[:, token].cpu().double()
