"""Edges of a circuit: against models edited by hand with hooks of torch.nn, and finite differences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import torch
from captum.attr import LayerIntegratedGradients
from torch import Tensor, nn

from tests.core.analysis.models import make_translator, of_shapes
from tests.core.torch_twins import module_values
from transformer_core import Tokenizer, Translator
from transformer_core.analysis.circuit import MinimalPair, circuit
from transformer_core.analysis.circuit.wiring import LOGITS, SOURCE, Wiring
from transformer_core.hooks.edits import patch
from transformer_core.hooks.points import capture, edit
from transformer_core.model.layers import FeedForward

CLEAN, CORRUPTED = "The man sees a house.", "The man sees a horse."
ANSWERS = ("Der Mann sieht ein Haus heute.", "Der Mann sieht eine Tür heute.")
PAIR = MinimalPair(CLEAN, CORRUPTED, ANSWERS)
SHAPES: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "attention_biases": True},
    {"residual": False},
    {"window": 3},
    {"attention": "additive"},
    {"tie": "none", "output_bias": True, "activation": "gelu"},
]


class ByHand:
    """A model of a pair, edited with forward hooks of torch.nn alone."""

    def __init__(self, translator: Translator) -> None:
        self.translator, self.model, special = translator, translator.model, translator.tokenizer.special
        ids = [translator.encode_target(text).ids for text in ANSWERS]
        at = next(place for place, (a, b) in enumerate(zip(*ids, strict=False)) if a != b)
        self.answers, self.inputs = (ids[0][at], ids[1][at]), torch.tensor([[special.bos, *ids[0][:at]]])
        self.source, other = (
            torch.tensor([[*translator.encode(text).ids, special.eos]]) for text in (CLEAN, CORRUPTED)
        )
        self.embedded = [self.model.embed(each, of_source=True).detach() for each in (self.source, other)]
        self.clean, self.corrupted = self.recorded(self.source), self.recorded(other)
        self.start = self.metric(self.source)
        self.difference = self.start - self.metric(other)

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

    def run_with(self, values: dict[str, Tensor], source: Tensor | None) -> tuple[dict[str, Tensor], float]:
        """Outputs of projections with these values in the place of recorded ones, and the metric."""
        with ExitStack() as stack:
            for name, value in values.items():
                module = self.model.get_submodule(name)
                stack.enter_context(hooked(
                    module.register_forward_pre_hook(lambda _, inputs, value=value: (value,))
                    if name.endswith("w_o")
                    else module.register_forward_hook(lambda _, inputs, output, value=value: value)
                ))  # fmt: skip
            if source is not None:
                put = self.model.encoder.embeddings.register_forward_hook(lambda *_: source)
                stack.enter_context(hooked(put))
            with module_values(self.model, nn.Linear) as seen:
                metric = self.metric(self.source)
        return {name.partition(" ")[0]: value for name, value in seen.items() if name.endswith(" out")}, metric

    def changed(self, sender: str, share: float) -> tuple[dict[str, Tensor], Tensor | None]:
        """The sender's value, with this share of its change: in place of a recorded one, or of the embedded source."""
        first, second = self.embedded
        if sender == SOURCE:
            return {}, first + share * (second - first)
        if sender.endswith(".ffn"):
            stack, layer, _ = sender.split(".")
            name, slot = f"{stack}.layers.{int(layer) - 1}.feed_forward", slice(None)
        else:
            name, head = self.projection(sender, "o")
            width = self.translator.config.d_v
            slot = slice(head * width, (head + 1) * width)
        value = self.clean[name].clone()
        value[..., slot] += share * (self.corrupted[name] - value)[..., slot]
        return {name: value}, None

    def projection(self, head: str, letter: str) -> tuple[str, int]:
        kind, layer, number = head.split(".")
        stack, attention = ("encoder" if kind == "encoder" else "decoder"), "cross" if kind == "cross" else "self"
        return f"{stack}.layers.{int(layer) - 1}.{attention}_attention.w_{letter}", int(number) - 1

    def lost(self, sender: str, receiver: str, share: float = 1.0) -> float:
        """Loss of the metric with `share` of the sender's change at the receiver's input."""
        values, source = self.changed(sender, share)
        projected, metric = self.run_with(self.clean | values, source)
        if receiver == LOGITS:
            return self.start - metric
        if receiver.endswith(".ffn"):
            stack, layer, _ = receiver.split(".")
            address, mine = f"{stack}.layers.{int(layer) - 1}.feed_forward.w_1", slice(None)
        else:
            name, _, point = receiver.rpartition(".")
            address, head = self.projection(name, point[0])
            wide = self.model.get_submodule(address).out_features // self.translator.config.num_heads  # type: ignore
            mine = slice(head * wide, (head + 1) * wide)

        def put(_module: nn.Module, _inputs: Any, output: Tensor) -> Tensor:
            value = output.clone()
            value[..., mine] = projected[address][..., mine]
            return value

        with hooked(self.model.get_submodule(address).register_forward_hook(put)):
            return self.start - self.metric(self.source)


@contextmanager
def hooked(handle: Any) -> Iterator[None]:
    try:
        yield
    finally:
        handle.remove()


def some(edges: list[tuple[str, str]]) -> list[int]:
    """A few edges of every kind of sender and receiver, by their numbers."""
    kinds: dict[Any, list[int]] = {}
    for number, (sender, receiver) in enumerate(edges):
        ends = sender.split(".")[0] + sender[-3:] * sender.endswith("ffn"), receiver.split(".")[0], receiver[-4:]
        kinds.setdefault(ends, []).append(number)
    return [number for group in kinds.values() for number in group[:: max(1, len(group) // 3)]]


@of_shapes(SHAPES)
def test_a_patched_edge_is_a_model_edited_by_hand(translator: Translator) -> None:
    by_hand, result = ByHand(translator), circuit(translator, [PAIR], method="patching")
    for number in some(list(result.edge_names)):
        sender, receiver = result.edge_names[number]
        if receiver != LOGITS:
            assert float(result.edges[0, number]) == pytest.approx(by_hand.lost(sender, receiver), abs=2e-5)


@of_shapes(SHAPES)
def test_exact_edges_into_the_logits_are_the_whole_difference(translator: Translator) -> None:
    result = circuit(translator, [PAIR], method="patching")
    direct = [number for number, (_, receiver) in enumerate(result.edge_names) if receiver == LOGITS]
    assert float(result.edges[0, direct].sum()) == pytest.approx(ByHand(translator).difference, abs=1e-5)


@of_shapes(SHAPES)
def test_an_estimated_edge_is_a_finite_difference(translator: Translator) -> None:
    translator.model.double()
    by_hand, result, small = ByHand(translator), circuit(translator, [PAIR], method="eap"), 1e-4
    for number in some(list(result.edge_names)):
        slope = by_hand.lost(*result.edge_names[number], share=small) / small
        assert float(result.edges[0, number]) == pytest.approx(slope, abs=2e-3, rel=1e-3)


@of_shapes(SHAPES)
def test_without_an_edge_means_are_those_of_a_model_edited_by_hand(translator: Translator) -> None:
    by_hand = ByHand(translator)

    def mean(clean: Tensor, corrupted: Tensor) -> Tensor:
        return torch.cat([clean, corrupted]).mean(dim=(0, 1), keepdim=True).expand_as(clean)

    values = {name: mean(value, by_hand.corrupted[name]) for name, value in by_hand.clean.items()}
    _, expected = by_hand.run_with(values, mean(*by_hand.embedded))
    curve = circuit(translator, [PAIR]).faithfulness(others="mean", shares=(0.1,), random_orders=0)
    assert curve.nothing == pytest.approx(expected, abs=2e-5)


@of_shapes([{}, {"norm": "pre"}])
@pytest.mark.parametrize("steps", [2, 6])
def test_integrated_gradients_of_the_source_are_captums(translator: Translator, steps: int) -> None:
    by_hand, model = ByHand(translator), translator.model

    def metric(source: Tensor) -> Tensor:
        logits: Tensor = model(source, by_hand.inputs.expand(len(source), -1), None)[:, -1]
        return logits[:, by_hand.answers[0]] - logits[:, by_hand.answers[1]]

    corrupted = torch.tensor([[*translator.encode(CORRUPTED).ids, translator.tokenizer.special.eos]])
    captum = LayerIntegratedGradients(metric, model.encoder.embeddings)
    expected = captum.attribute(by_hand.source, corrupted, n_steps=steps, method="riemann_middle").sum()
    result = circuit(translator, [PAIR], method="eap-ig", steps=steps, edges=False)
    assert float(result.nodes[0, 0]) == pytest.approx(float(expected), abs=2e-5)


@of_shapes([{}, {"norm": "pre", "attention_biases": True}])
def test_flow_is_the_patched_edge_of_a_frozen_model(translator: Translator) -> None:
    """Weights and standard deviations as in the clean run, ReLU as its gates: then a patched edge is exact."""
    result = circuit(translator, [PAIR], method="flow")
    clean = ByHand(translator)
    with ExitStack() as stack:
        with capture(translator, ["weights", "scale", "activations"]) as seen:
            clean.metric(clean.source)
        constants = {address: patch(seen[address]) for address in seen if not address.endswith("activations")}
        stack.enter_context(edit(translator, constants))
        for address in (each for each in seen if each.endswith("activations")):
            network: Any = translator.model.get_submodule(address.removesuffix(".activations"))
            network.activation = lambda inner: inner
            gates = (seen[address] > 0).float()
            stack.enter_context(hooked(network.w_1.register_forward_hook(lambda *args, gates=gates: args[2] * gates)))
        frozen = ByHand(translator)
        assert frozen.start == pytest.approx(clean.start, abs=1e-5)
        frozen.corrupted = clean.corrupted
        for number in some(list(result.edge_names)):
            sender, receiver = result.edge_names[number]
            expected = 0.0 if receiver.endswith(("queries", "keys")) else frozen.lost(sender, receiver)
            assert float(result.edges[0, number]) == pytest.approx(expected, abs=2e-5)


def test_what_an_edge_needs(tokenizer: Tokenizer) -> None:
    wiring = Wiring(make_translator(tokenizer).config.num_layers, 2)
    edges = {(wiring.senders[a], wiring.receivers[b]) for a, b in wiring.exists.nonzero().tolist()}
    assert {
        ("source", "encoder.1.1.keys"),
        ("encoder.1.1", "encoder.1.ffn"),
        ("encoder.2.ffn", "cross.1.2.values"),
    } <= edges
    assert {("cross.1.1", "decoder.1.ffn"), ("decoder.1.ffn", "logits"), ("cross.1.2", "decoder.2.1.queries")} <= edges
    for missing in [
        ("encoder.1.1", "encoder.1.2.keys"),  # of the same layer
        ("encoder.1.ffn", "encoder.1.ffn"),
        ("encoder.2.ffn", "cross.1.1.queries"),  # of the decoder's stream
        ("decoder.1.1", "cross.1.1.keys"),  # of the encoder's output
        ("source", "logits"),
        ("decoder.2.1", "decoder.1.ffn"),
    ]:
        assert missing not in edges
