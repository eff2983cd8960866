"""Find the circuit of a task: which heads, networks and edges carry what tells clean from corrupted sentences.

Methods: edge attribution patching (`eap`, Syed et al. 2023), with integrated gradients over the embedded source
(`eap-ig`, Hanna et al. 2024), with the gradients of the flow (`flow`), activation patching (`patching`: exact and
slow), and `random` scores as a control.

Shape legend: B pairs of a batch, N nodes (senders), R receivers, E edges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import get_args

import torch
from torch import Tensor

from transformer_core.analysis.circuit.edge_scores import direct_scores, gradient_scores
from transformer_core.analysis.circuit.masked_run import Rest, masked_logits
from transformer_core.analysis.circuit.pairs import Batch, MinimalPair, donors_of, metric_of, read_pairs
from transformer_core.analysis.circuit.passes import Pass, Step, both_passes, run_pass
from transformer_core.analysis.circuit.result import Circuit, Method
from transformer_core.analysis.circuit.task import read_task
from transformer_core.analysis.circuit.wiring import LOGITS, Sublayer, Wiring
from transformer_core.analysis.minimal_pairs import PatchingError
from transformer_core.analysis.teacher_forced_run import stop_check
from transformer_core.hooks.points import has_hooks, hook_points
from transformer_core.model.transformer import Transformer
from transformer_core.translator import Translator

METHODS: tuple[Method, ...] = get_args(Method)
MAX_NODES = 1_200  # of a model; the number of edges grows with its square
_ROWS = 64  # patched runs in one batch


def circuit(
    translator: Translator,
    pairs: str | Sequence[MinimalPair | tuple[str, str]],
    *,
    method: Method = "eap-ig",
    steps: int = 5,
    edges: bool = True,
    seed: int = 0,
    should_stop: Callable[[], bool] | None = None,
) -> Circuit:
    """Score all nodes and edges of a model on minimal pairs.

    Args:
        translator: The model, without active edits.
        pairs: Name of a task that ships, such as `number.en-de`; or clean and corrupted sentences. Pairs of unequal
            numbers of tokens are left out, and counted.
        method: See the module.
        steps: Of `eap-ig`: points between the two embedded sentences.
        edges: Whether to score edges, not nodes alone. Exact ones take a run for each edge and pair.
        seed: Of `random`.
        should_stop: Called before every batch.

    Raises:
        PatchingError: No pair is left.
        ValueError: The method is unknown, `steps` is below 1, a sentence is empty, or the model has too many nodes, is
            edited or in training mode.
        DataError: There is no task of this name.
        SourceTooLong: See `Translator.encode`.
        DecodingStopped: `should_stop` returned True.
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}, but must be one of {', '.join(METHODS)}")
    if steps < 1:
        raise ValueError(f"steps is {steps}, but must be at least 1")
    model, wiring = translator.model, Wiring(translator.config.num_layers, translator.config.num_heads)
    if len(wiring.senders) > MAX_NODES:
        raise ValueError(f"the model has {len(wiring.senders):,} nodes, but at most {MAX_NODES:,} are allowed")
    if model.training or has_hooks(*hook_points(model).values()):
        raise ValueError("the model is edited, or in training mode")
    if isinstance(pairs, str):
        pairs = read_task(pairs)
    listed = [each if isinstance(each, MinimalPair) else MinimalPair(*each) for each in pairs]
    kept, batches, skipped = read_pairs(translator, wiring, listed)
    if not kept:
        meaning = {"length": "with unequal numbers of tokens", "same": "with equal translations"}
        reasons = ", ".join(f"{count} {meaning[reason]}" for reason, count in skipped.items())
        raise PatchingError(f"no pair is left: {reasons or 'none was given'}", next(iter(skipped), "same"))  # type: ignore[arg-type]
    by_gradients = partial(gradient_scores, steps=steps if method == "eap-ig" else 0, frozen=method == "flow")
    score: _Scorer = _by_patching if method == "patching" else by_gradients
    check, donors = stop_check(should_stop), donors_of(batches, kept)
    generator = torch.Generator().manual_seed(seed)
    metrics, by_node, by_edge, null = [], [], [], []
    for batch in batches:
        check()
        clean, corrupted = both_passes(model, wiring, batch)
        metrics.append(torch.stack([metric_of(each.logits, batch.answers) for each in (clean, corrupted)], dim=1))
        if method == "random":
            by_node.append(torch.randn(len(batch.numbers), len(wiring.senders), generator=generator))
            by_edge.append(torch.randn(len(batch.numbers), int(wiring.exists.sum()), generator=generator))
            continue
        edge_scores, nodes = score(model, wiring, clean, corrupted, batch, not edges)
        by_node.append(nodes.cpu())
        if edge_scores is not None:
            by_edge.append(edge_scores[:, wiring.exists].cpu())
        rows = [at for at, number in enumerate(batch.numbers) if number in donors]
        if rows:
            check()
            ids = torch.stack([donors[batch.numbers[at]] for at in rows])
            part = replace(batch.part(rows), corrupted=ids)
            null.append(score(model, wiring, *both_passes(model, wiring, part), part, True)[1].cpu())
    order = torch.tensor([number for batch in batches for number in batch.numbers]).argsort()
    empty = torch.zeros(len(order), 0)
    return Circuit(
        method=method,
        pairs=tuple(kept),
        skipped=dict(skipped),
        metrics=torch.cat(metrics)[order].cpu(),
        nodes=torch.cat(by_node)[order],
        edges=torch.cat(by_edge)[order] if by_edge else empty,
        null=torch.cat(null) if null else torch.zeros(0, len(wiring.senders)),
        wiring=wiring,
        translator=translator,
        batches=tuple(batches),
    )


_Scorer = Callable[[Transformer, Wiring, Pass, Pass, Batch, bool], tuple[Tensor | None, Tensor]]


@torch.no_grad()
def _by_patching(
    model: Transformer, wiring: Wiring, clean: Pass, corrupted: Pass, batch: Batch, nodes_only: bool
) -> tuple[Tensor | None, Tensor]:
    """Patch every node, and every edge, in a run of its own; edges into the logits share the whole difference out."""
    nodes = _patched_nodes(model, wiring, clean, corrupted, batch)
    if nodes_only:
        return None, nodes
    edges = nodes.new_zeros(len(nodes), *wiring.exists.shape)
    edges[:, wiring.exists] = _patched_edges(model, wiring, clean, corrupted, batch, wiring.exists.nonzero())
    edges[:, :, wiring.receivers.index(LOGITS)] = direct_scores(model, wiring, clean, corrupted, batch.answers)
    return edges, nodes


@torch.no_grad()
def exact_edges(
    result: Circuit, edges: Sequence[tuple[str, str]], *, should_stop: Callable[[], bool] | None = None
) -> Tensor:
    """Measure edges, each patched alone (path patching): (P, K) of what the metric loses, in nats.

    Args:
        result: The circuit; its pairs count.
        edges: K senders and receivers, such as `("cross.6.3", "logits")` and `("encoder.6.1", "cross.6.8.keys")`.
        should_stop: Called before every batch.

    Raises:
        ValueError: The model has no such edge.
        DecodingStopped: `should_stop` returned True.
    """
    wiring, model, check = result.wiring, result.translator.model, stop_check(should_stop)
    known = set(result.edge_names)
    if wrong := [edge for edge in edges if tuple(edge) not in known]:
        raise ValueError(f"{wrong[0]} is no edge of this model")
    places = torch.tensor([(wiring.senders.index(a), wiring.receivers.index(b)) for a, b in edges], dtype=torch.long)
    places = places.view(-1, 2)
    lost = dict[int, Tensor]()
    for batch in result.batches:
        check()
        rows = _patched_edges(model, wiring, *both_passes(model, wiring, batch), batch, places, check)
        lost |= dict(zip(batch.numbers, rows.cpu(), strict=True))
    return torch.stack([lost[number] for number in sorted(lost)])


def _patched_edges(
    model: Transformer,
    wiring: Wiring,
    clean: Pass,
    corrupted: Pass,
    batch: Batch,
    places: Tensor,
    check: Callable[[], None] = lambda: None,
) -> Tensor:
    """Return (B, K) of what the metric loses with each edge, (K, 2) of sender and receiver, from the corrupted run."""
    rows = []
    for at in range(len(batch.numbers)):
        rest = Rest(corrupted.source[at : at + 1], tuple(each.output[at : at + 1] for each in corrupted.steps))
        for part in torch.split(places, _ROWS):
            check()
            masks = torch.ones(len(part), *wiring.exists.shape, dtype=torch.bool)
            masks[torch.arange(len(part)), part[:, 0], part[:, 1]] = False
            source, inputs, answers = (
                each[at : at + 1].expand(len(part), *each.shape[1:])
                for each in (clean.source, batch.inputs, batch.answers)
            )
            rows.append(metric_of(masked_logits(model, wiring, source, inputs, rest, masks), answers))
    return metric_of(clean.logits, batch.answers)[:, None] - torch.cat(rows).view(len(batch.numbers), -1)


def _patched_nodes(model: Transformer, wiring: Wiring, clean: Pass, corrupted: Pass, batch: Batch) -> Tensor:
    """Return (B, N) of what the metric loses with each node from the corrupted run."""
    metrics = [metric_of(corrupted.logits, batch.answers)]  # all that the source changes
    for step in corrupted.steps:
        for head in range(len(wiring.outputs_of(step.sublayer))):

            def put(sublayer: Sublayer, output: Tensor, step: Step = step, head: int = head) -> Tensor:
                if sublayer != step.sublayer:
                    return output
                if not sublayer.is_attention:
                    return step.output
                changed = output.clone()
                changed[:, head] = step.output[:, head]
                return changed

            run = run_pass(model, wiring, clean.source, batch.inputs, replace=put)
            metrics.append(metric_of(run.logits, batch.answers))
    return (metric_of(clean.logits, batch.answers) - torch.stack(metrics)).T
