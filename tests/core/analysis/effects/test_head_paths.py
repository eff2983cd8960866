"""Paths between heads: against models edited by hand with hooks of torch.nn, and finite differences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.core.analysis.models import heads, make_translator, of_shapes, sublayers
from tests.core.torch_twins import module_values
from transformer_core import Tokenizer, Translator
from transformer_core.analysis.ablation import Head, hook_point_name
from transformer_core.analysis.effects import head_paths
from transformer_core.analysis.effects.head_paths import (
    HEAD_INPUTS,
    Edge,
    EdgeEffects,
    attribution_patching,
    path_patching,
)
from transformer_core.analysis.minimal_pairs import Direction, Pair, read_pair
from transformer_core.attention_maps import Kind
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.hooks.points import Captured
from transformer_core.model.layers import FeedForward

pytestmark = pytest.mark.usefixtures("any_difference")
ROOT = Path(__file__).parents[4]
CLEAN, CORRUPTED, LONGER = "The man sees a house.", "The man sees a horse.", "The man sees my friend today."
ANSWERS = ("Der Mann sieht ein Haus heute.", "Der Mann sieht eine Tür heute.")
SHAPES: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "attention_biases": True},
    {"residual": False},
    {"window": 3},
    {"attention": "additive"},
]


def pair_of(translator: Translator, direction: Direction = "noise") -> Pair:
    return read_pair(translator, CLEAN, CORRUPTED, answers=ANSWERS, direction=direction)


def module_name(kind: Kind, layer: int) -> str:
    return hook_point_name(kind, layer, "weights").removesuffix(".weights")


class ByHand:
    """A model of a pair, edited with forward hooks of torch.nn alone."""

    def __init__(self, translator: Translator, direction: Direction) -> None:
        self.translator, self.model, special = translator, translator.model, translator.tokenizer.special
        ids = [translator.encode_target(text).ids for text in ANSWERS]
        at = next(place for place, (a, b) in enumerate(zip(*ids, strict=False)) if a != b)
        self.answers, self.inputs = (ids[0][at], ids[1][at]), torch.tensor([[special.bos, *ids[0][:at]]])
        texts = (CORRUPTED, CLEAN) if direction == "denoise" else (CLEAN, CORRUPTED)
        self.source, other = (torch.tensor([[*translator.encode(text).ids, special.eos]]) for text in texts)
        self.own, self.donors = self.recorded(self.source), self.recorded(other)
        self.start = self.metric(self.source)

    @torch.no_grad()
    def metric(self, source: Tensor) -> float:
        logits = self.model(source, self.inputs, None)[0, -1]
        return float(logits[self.answers[0]] - logits[self.answers[1]])

    def recorded(self, source: Tensor) -> dict[str, Tensor]:
        """Inputs of every W^O, and outputs of every network."""
        with module_values(self.model, nn.Linear, FeedForward) as values:
            self.metric(source)
        ends = ("w_o in", "feed_forward out")
        return {name.partition(" ")[0]: value for name, value in values.items() if name.endswith(ends)}

    def run_with(self, values: dict[str, Tensor]) -> tuple[dict[str, Tensor], float]:
        """Outputs of projections with these values in the place of recorded ones, and the metric."""
        with ExitStack() as stack:
            for name, value in values.items():
                module = self.model.get_submodule(name)
                stack.enter_context(hooked(
                    module.register_forward_pre_hook(lambda _, inputs, value=value: (value,))
                    if name.endswith("w_o")
                    else module.register_forward_hook(lambda _, inputs, output, value=value: value)
                ))  # fmt: skip
            with module_values(self.model, nn.Linear) as seen:
                metric = self.metric(self.source)
        return {name.partition(" ")[0]: value for name, value in seen.items() if name.endswith(" out")}, metric

    def effect(self, edge: Edge, share: float = 1.0) -> float:
        """The metric with `share` of the sender's change at the receiver's input, minus the plain one."""
        width = self.translator.config.d_v
        sender, receiver, point = edge.ends
        name, slot = f"{module_name(*sender[:2])}.w_o", slice(sender[2] * width, (sender[2] + 1) * width)
        changed = self.own[name].clone()
        changed[..., slot] += share * (self.donors[name] - changed)[..., slot]
        projected, metric = self.run_with(self.own | {name: changed})
        if receiver is None:
            return metric - self.start
        address = f"{module_name(*receiver[:2])}.w_{point[0]}"
        projection = self.model.get_submodule(address)
        wide = projection.out_features // self.translator.config.num_heads  # type: ignore[operator]
        mine = slice(receiver[2] * wide, (receiver[2] + 1) * wide)

        def put(_module: nn.Module, _inputs: Any, output: Tensor) -> Tensor:
            value = output.clone()
            value[..., mine] = projected[address][..., mine]
            return value

        with hooked(projection.register_forward_hook(put)):
            return self.metric(self.source) - self.start


@contextmanager
def hooked(handle: Any) -> Iterator[None]:
    try:
        yield
    finally:
        handle.remove()


def some(edges: list[Edge]) -> list[Edge]:
    """A few edges of every kind of sender, receiver and input."""
    kinds: dict[Any, list[Edge]] = {}
    for edge in edges:
        sender, receiver, point = edge.ends
        kinds.setdefault((sender[0], receiver and receiver[:2], point), []).append(edge)
    return [edge for group in kinds.values() for edge in group[:: max(1, len(group) // 3)]]


@of_shapes(SHAPES)
@pytest.mark.parametrize("direction", ["denoise", "noise"])
def test_a_patched_edge_is_a_model_edited_by_hand(translator: Translator, direction: Direction) -> None:
    pair, by_hand = pair_of(translator, direction), ByHand(translator, direction)
    edges = some(list(attribution_patching(translator, pair)))
    result = path_patching(translator, pair, edges)
    assert list(result) == edges and len(edges) > 30
    assert pair.start == pytest.approx(by_hand.start, abs=1e-5)
    for edge in edges:
        assert result[edge] == pytest.approx(by_hand.effect(edge), abs=2e-5), edge.names
    if translator.config.residual:
        assert max(map(abs, result.values())) > 0.01  # or there would be nothing to compare


def test_batches_change_nothing(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = pair_of(translator)
    whole = attribution_patching(translator, pair)
    exact = path_patching(translator, pair, list(whole)[:9])
    monkeypatch.setattr(head_paths, "rows_at_once", lambda *_: 4)
    assert attribution_patching(translator, pair) == pytest.approx(whole, abs=1e-5)
    assert path_patching(translator, pair, list(exact)) == pytest.approx(exact, abs=1e-5)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_edges_are_those_that_something_passes(tokenizer: Tokenizer, norm: str) -> None:
    """Brute force: freeze all heads, change one, and see which projections change."""
    translator = make_translator(tokenizer, norm=norm)
    by_hand, expected = ByHand(translator, "noise"), set[Edge]()
    width = translator.config.d_v
    projections = {
        f"{module_name(*place)}.w_{name[0]}": (place, name) for place in sublayers(translator) for name in HEAD_INPUTS
    }

    plain, start = by_hand.run_with(by_hand.own)
    for sender in heads(translator):
        name = f"{module_name(*sender[:2])}.w_o"
        changed = by_hand.own[name].clone()
        changed[..., sender[2] * width : (sender[2] + 1) * width] += 3.0
        values, metric = by_hand.run_with(by_hand.own | {name: changed})
        for each, (place, read) in projections.items():
            if (values[each] - plain[each]).abs().max() > 1e-5:
                expected |= {
                    Edge(str(sender), f"{Head(*place, head)}.{read}") for head in range(translator.config.num_heads)
                }
        if abs(metric - start) > 1e-6:
            expected.add(Edge(str(sender)))
    assert set(attribution_patching(translator, pair_of(translator))) == expected


@of_shapes([{}, {"norm": "pre", "attention_biases": True}])
def test_estimates_are_the_slope_of_a_small_change(translator: Translator) -> None:
    """With a donor that is hardly different, an estimate is the effect; it is a central difference by hand."""
    pair, by_hand, small = pair_of(translator), ByHand(translator, "noise"), 0.02
    own, other = pair.receiver.captured, pair.donor.captured
    near = Captured()
    for address in own:
        near.calls[address] = [own[address] + small * (other[address] - own[address])]
    estimates = attribution_patching(translator, replace(pair, donor=replace(pair.donor, captured=near)))
    edges = some(list(estimates))
    slopes = {edge: (by_hand.effect(edge, small) - by_hand.effect(edge, -small)) / (2 * small) for edge in edges}
    largest = max(map(abs, slopes.values()))
    assert largest > 0.01
    for edge, slope in slopes.items():
        assert estimates[edge] / small == pytest.approx(slope, abs=0.03 * largest), edge.names


def test_most_strong_estimates_of_a_shipped_model_have_the_right_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    translator = Translator.load(ROOT / "checkpoints" / "en-de", device="cpu")
    pair = read_pair(translator, "The child plays.", "The children play.")
    estimates = attribution_patching(translator, pair)
    between = sorted((each for each in estimates if each.receiver != "logits"), key=lambda each: -abs(estimates[each]))[
        :40
    ]
    exact = path_patching(translator, pair, between)
    assert sum(estimates[edge] * exact[edge] > 0 for edge in between) > 0.8 * len(between)


def test_edges_to_the_logits_are_exact(translator: Translator) -> None:
    pair = pair_of(translator)
    direct = [edge for edge in attribution_patching(translator, pair) if edge.receiver == "logits"]
    assert {edge.sender for edge in direct} == {str(head) for head in heads(translator) if head[0] != "encoder"}
    estimates, exact = attribution_patching(translator, pair), path_patching(translator, pair, direct)
    assert {edge: estimates[edge] for edge in direct} == pytest.approx(exact, abs=1e-5)


CROSS, IN_ENCODER = "cross.2.1", "encoder.1.2"
GRAPH = EdgeEffects({
    Edge(CROSS): 2.0,
    Edge(IN_ENCODER, f"{CROSS}.values"): -3.0,
    Edge("encoder.1.3", f"{CROSS}.keys"): 0.5,
    Edge(IN_ENCODER, "cross.1.1.keys"): 4.0,  # leads nowhere
})  # fmt: skip


def test_a_graph_has_only_strong_edges_that_lead_to_the_logits() -> None:
    assert list(GRAPH.graph(1.0).items()) == [(Edge(IN_ENCODER, f"{CROSS}.values"), -3.0), (Edge(CROSS), 2.0)]
    assert len(GRAPH.graph(0.1)) == 3 and not GRAPH.graph(2.5)  # the edge to the logits is too weak


def test_the_graph_for_graphviz() -> None:
    lines = GRAPH.graph(1.0).dot().splitlines()
    assert lines[0] == "digraph heads {" and lines[-1] == "}"
    edges = [result.groups() for line in lines if (result := re.fullmatch(r'"(.+)" -> "(.+)" \[label="(.+)"\]', line))]
    assert edges == [("encoder.1.2", "cross.2.1", "values -3.00"), ("cross.2.1", "logits", " +2.00")]
    assert repr(GRAPH).splitlines()[0] == "EdgeEffects of 4 edges" and len(repr(GRAPH)) < 200


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        (("encoder.1.1",), "is no edge of this model"),  # reaches the logits only through other heads
        (("cross.2.1", "cross.2.2.queries"), "is no edge of this model"),
        (("decoder.2.1", "cross.2.2.keys"), "is no edge of this model"),
        (("encoder.1.1", "encoder.8.1.values"), "is no edge of this model"),
        *(
            (ends, "such as cross")
            for ends in (("cross.1.1", "decoder.2.1"), ("cross.1",), ("cross.1.1", "cross.2.keys"))
        ),
    ],
)
def test_no_edge_of_this_model(translator: Translator, ends: tuple[str, ...], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        path_patching(translator, pair_of(translator), [Edge(*ends)])


def test_a_model_of_too_many_heads(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_paths, "MAX_HEADS", 23)
    with pytest.raises(ValueError, match="has 24 heads, but at most 23"):
        attribution_patching(translator, pair_of(translator))


def test_it_stops(translator: Translator) -> None:
    pair = pair_of(translator)
    with pytest.raises(DecodingStopped):
        attribution_patching(translator, pair, should_stop=lambda: True)
    with pytest.raises(DecodingStopped):
        path_patching(translator, pair, [Edge(CROSS)], should_stop=lambda: True)
