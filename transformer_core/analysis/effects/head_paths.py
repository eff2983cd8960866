"""Paths between heads: path patching, attribution patching of all edges at once, and the graph of the strong ones.

A sender's output comes from the donor's run; all other heads and all feed-forward networks keep the outputs of the
receiver's run. So its change arrives along the residual connections alone, through their LayerNorms. `path_patching`
puts what arrives at the queries, keys or values of one other head in their place, and runs on (Wang et al. 2023;
Goldowsky-Dill et al. 2023). `attribution_patching` multiplies the change of that head's output by the gradient at it
(Syed et al. 2023); its attention is computed anew, since the softmax is far from linear (AtP*, Kramár et al. 2024).

Shape legend: R rows, H heads, n source or target positions, V = vocab_size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from transformer_core.analysis.ablation import all_heads, hook_point_name
from transformer_core.analysis.effects.head_gradients import head_gradients
from transformer_core.analysis.minimal_pairs import Pair, next_logits
from transformer_core.analysis.teacher_forced_run import SUBLAYERS, batches, rows_at_once, stop_check
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.head import Head, head_named
from transformer_core.hooks.hook_sites import Site
from transformer_core.hooks.points import edit
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layers import AddAndNorm, DecoderLayer, EncoderLayer
from transformer_core.translator import Translator

HeadInput = Literal["queries", "keys", "values"]
HEAD_INPUTS: tuple[HeadInput, ...] = get_args(HeadInput)
LOGITS = "logits"
MAX_HEADS = 1_200  # of a model; the number of edges grows with its square


class Edge(NamedTuple):
    """Way from the output of a head to another head, or to the logits, along the residual connections.

    Args:
        sender: Name of a head, such as `encoder.6.1`.
        receiver: Queries, keys or values of another head, such as `cross.6.8.keys`; or `logits`.
    """

    sender: str
    receiver: str = LOGITS

    @property
    def ends(self) -> tuple[Head, Head | None, str]:
        """Sender, receiver and the input where it arrives; None and "" for the logits. Raises ValueError for others."""
        name, _, point = self.receiver.rpartition(".")
        if self.receiver == LOGITS:
            return head_named(self.sender), None, ""
        if point not in HEAD_INPUTS:
            raise ValueError(f"receiver is {self.receiver!r}, but must be such as cross.6.8.keys, or {LOGITS}")
        return head_named(self.sender), head_named(name), point

    @property
    def names(self) -> tuple[str, str, str]:
        """Sender, receiver and input, as a table writes them."""
        _, receiver, point = self.ends
        return self.sender, str(receiver or LOGITS), point

    @property
    def exists(self) -> bool:
        """Whether the receiver reads a residual stream above the sender."""
        (kind, layer, _), receiver, point = self.ends
        if receiver is None:
            return kind != "encoder"
        other, above, _ = receiver
        if other == "cross" and point != "queries":  # of the encoder's output
            return kind == "encoder"
        return (kind == "encoder") == (other == "encoder") and (layer, kind == "cross") < (above, other == "cross")


class EdgeEffects(dict[Edge, float]):
    """Effects of edges on the metric of a pair, in nats."""

    def graph(self, least: float) -> EdgeEffects:
        """Return the edges of at least this absolute effect from which others lead to the logits, the largest first."""
        strong = sorted((edge for edge in self if abs(self[edge]) >= least), key=lambda edge: -abs(self[edge]))
        reached = {LOGITS}
        while new := {edge.sender for edge in strong if edge.names[1] in reached} - reached:
            reached |= new
        return EdgeEffects({edge: self[edge] for edge in strong if edge.names[1] in reached})

    def dot(self) -> str:
        """Return the edges in the language of Graphviz."""
        rows = ((*edge.names, effect) for edge, effect in self.items())
        lines = (
            f'"{sender}" -> "{receiver}" [label="{name} {effect:+.2f}"]' for sender, receiver, name, effect in rows
        )
        return "\n".join(["digraph heads {", "rankdir=BT", *lines, "}\n"])

    def __repr__(self) -> str:
        largest = sorted(self, key=lambda edge: -abs(self[edge]))[:3]
        return f"EdgeEffects of {len(self):,} edges" + "".join(f"\n{edge.names} {self[edge]:+.2f}" for edge in largest)


@torch.no_grad()
def path_patching(
    translator: Translator, pair: Pair, edges: Sequence[Edge], *, should_stop: Callable[[], bool] | None = None
) -> EdgeEffects:
    """Measure the effect of patching each edge alone: the metric of the patched run minus the receiver's.

    Args:
        translator: The model, without active edits.
        pair: Two runs; see `read_pair`.
        edges: Each takes a row of a pass.
        should_stop: Called before every batch.

    Raises:
        ValueError: The model has no such edge.
        DecodingStopped: `should_stop` returned True.
    """
    heads, effects = {*all_heads(translator), None}, EdgeEffects()
    if wrong := [edge for edge in edges if not edge.exists or not {*edge.ends[:2]} <= heads]:
        raise ValueError(f"{wrong[0]} is no edge of this model")
    for group in batches(edges, _rows(translator, pair), stop_check(should_stop)):
        with ExitStack() as stack:
            for kind, layer, arrived in _carried(translator, pair, [edge.ends[0] for edge in group]):
                for name, new in arrived.items():
                    receivers = {at: edge.ends[1] for at, edge in enumerate(group) if edge.ends[2] == name}
                    here = {at: head.head for at, head in receivers.items() if head and head[:2] == (kind, layer)}
                    if here:
                        put = partial(_put, new=new, rows=list(here), heads=list(here.values()))
                        stack.enter_context(edit(translator.model, hook_point_name(kind, layer, name), put))
            source = pair.receiver.source.expand(len(group), -1)
            through = pair.metric(next_logits(translator, source, pair.divergence.prefix))
        direct = pair.metric(arrived["logits"])  # they come last
        for edge, *metrics in zip(group, through.tolist(), direct.tolist(), strict=True):
            effects[edge] = metrics[edge.receiver == LOGITS] - pair.start
    return effects


def attribution_patching(
    translator: Translator, pair: Pair, *, should_stop: Callable[[], bool] | None = None
) -> EdgeEffects:
    """Estimate the effects of all edges to first order; those to the logits are exact.

    It takes two forward passes, which `pair` has, and one of them once more with a backward pass. Beside them, each
    change passes LayerNorms and the attention that it arrives at. AtP*'s GradDrop is not done: effects may cancel.

    Args:
        translator: The model, without active edits.
        pair: Two runs; see `read_pair`.
        should_stop: Called before every batch.

    Raises:
        ValueError: The model has more than `MAX_HEADS` heads.
        DecodingStopped: `should_stop` returned True.
    """
    run, heads, effects = pair.receiver, all_heads(translator), EdgeEffects()
    if len(heads) > MAX_HEADS:
        raise ValueError(f"the model has {len(heads):,} heads, but at most {MAX_HEADS:,} are allowed")
    prefix, stop = pair.divergence.prefix, stop_check(should_stop)
    slopes = head_gradients(translator, lambda: pair.metric(next_logits(translator, run.source, prefix)[0]))
    for group in batches(heads, _rows(translator, pair), stop):
        for kind, layer, arrived in _carried(translator, pair, group):
            if "logits" in arrived:
                direct = (pair.metric(arrived["logits"]) - pair.start).tolist()
                effects |= {
                    edge: each for edge, each in zip(map(Edge, map(str, group)), direct, strict=True) if edge.exists
                }
                continue
            outputs, gradient = slopes[kind, layer]
            inputs = {
                name: run.captured[hook_point_name(kind, layer, name)].expand_as(new) for name, new in arrived.items()
            }
            receivers = [Head(kind, layer, head) for head in range(outputs.shape[1])]
            for name in HEAD_INPUTS:
                with torch.no_grad():
                    queries, keys, values = (inputs | {name: arrived[name]}).values()
                    changed = _attention(translator, kind, layer).compute_heads(queries, keys, values, None)
                row_effects = ((changed - outputs) * gradient).sum(dim=(2, 3)).tolist()  # (R, H, n, d_v) -> (R, H)
                for sender, row in zip(group, row_effects, strict=True):
                    edges = (Edge(str(sender), f"{receiver}.{name}") for receiver in receivers)
                    effects |= {edge: each for edge, each in zip(edges, row, strict=True) if edge.exists}
    return effects


@torch.no_grad()
def _carried(
    translator: Translator, pair: Pair, senders: Sequence[Head]
) -> Iterator[tuple[Kind, int, dict[str, Tensor]]]:
    """Carry the change of one sender in each row along the residual connections.

    Yields:
        Kind and layer of each attention with its queries, keys and values, (R, H, n, d_k | d_v); last, the next
        logits, (R, V).
    """
    model, captured, x = translator.model, pair.receiver.captured, torch.empty(0)
    for name, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
        memory, x = x, captured[f"{name}.embeddings"].expand(len(senders), -1, -1)
        for number, layer in enumerate(stack.layers):
            assert isinstance(layer, EncoderLayer | DecoderLayer)
            for kind in KINDS[:1] if name == "encoder" else KINDS[1:]:
                attention, address = _attention(translator, kind, number), hook_point_name(kind, number, "head_outputs")
                add_norm = layer.get_submodule(f"{SUBLAYERS[kind]}_add_norm")
                assert isinstance(add_norm, AddAndNorm)
                read = add_norm.norm(x) if add_norm.pre_norm else x
                queries, (keys, values) = (
                    attention.project_queries(read),
                    attention.project_keys_and_values(memory if kind == "cross" else read),
                )
                yield kind, number, dict(zip(HEAD_INPUTS, (queries, keys, values), strict=True))
                outputs = captured[address].repeat(len(senders), 1, 1, 1)  # (R, H, n, d_v)
                for row, (*place, head) in enumerate(senders):
                    if place == [kind, number]:
                        outputs[row, head] = pair.donor.captured[address][0, head]
                out = attention.w_o(outputs.transpose(1, 2).flatten(2))
                x = add_norm(x, lambda _, out=out: out)
            out = layer.feed_forward.w_2(captured[f"{name}.layers.{number}.feed_forward.activations"])
            x = layer.feed_forward_add_norm(x, lambda x, out=out: out.expand_as(x))
        x = stack.norm(x)
    yield "decoder", number + 1, {"logits": model.logits(x[:, -1:])[:, 0].float()}


def _attention(translator: Translator, kind: Kind, layer: int) -> MultiHeadAttention:
    stack = translator.model.encoder if kind == "encoder" else translator.model.decoder
    return stack.layers[layer].get_submodule(SUBLAYERS[kind])  # type: ignore[return-value]


def _put(value: Tensor, _site: Site, *, new: Tensor, rows: list[int], heads: list[int]) -> Tensor:
    changed = value.clone()
    changed[rows, heads] = new[rows, heads]
    return changed


def _rows(translator: Translator, pair: Pair) -> int:
    return rows_at_once(translator.config, pair.receiver.source.shape[1], len(pair.divergence.prefix) + 1)
