"""A task of one's own, against a model written anew in plain torch: only its parameters and embeddings are the model's.

A receiver asks for its residual stream, and the stream for the outputs of the senders below: the run's own where the
edge is in the circuit, the corrupted run's elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import layer_norm, relu, softmax

from tests.core.analysis.models import of_shapes
from transformer_core import Translator
from transformer_core.analysis.circuit import Circuit, MinimalPair, circuit, exact_edges

PAIRS = [  # the third is the first the other way round; the answer of the second is the end of the sentence
    MinimalPair("The man sees a house.", "The man sees a horse.", ("Der Mann sieht ein Haus.", "Der Mann mag nicht.")),
    MinimalPair("A child sees the dog.", "A child sees the door.", ("Ein Kind", "Ein Kind sieht")),
    MinimalPair("The man sees a horse.", "The man sees a house.", ("Der Mann mag nicht.", "Der Mann sieht ein Haus.")),
]
SHAPES: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "attention_biases": True, "embedding_norm": True, "dropout": 0.3},
    {"residual": False},
    {"tie": "none", "output_bias": True, "positions": "learned", "max_positions": 64},
    {"num_layers": 1, "num_heads": 1},
]
MODULES = {"self": "self_attention", "cross": "cross_attention", "ffn": "feed_forward"}
Inside = Callable[[str, str], bool]  # sender, receiver -> whether the edge is in the circuit
Output = Callable[[str], Tensor]  # sender -> (n, d_v | d)


class Oracle:
    """Metric of one pair, with any edges."""

    def __init__(self, translator: Translator, pair: MinimalPair) -> None:
        model, special = translator.model, translator.tokenizer.special
        assert pair.answers
        self.config, self.weights = translator.config, {name: each.detach() for name, each in model.named_parameters()}
        ids = [[*translator.encode_target(text).ids, special.eos] for text in pair.answers]
        at = next(place for place, (a, b) in enumerate(zip(*ids, strict=False)) if a != b)
        self.answers = [ids[0][at], ids[1][at]]
        self.target = model.embed(torch.tensor([[special.bos, *ids[0][:at]]]))[0].detach()
        sources = (torch.tensor([[*translator.encode(text).ids, special.eos]]) for text in pair[:2])
        self.clean, corrupted = (model.embed(each, of_source=True)[0].detach() for each in sources)
        self.nothing, self.corrupted = self.run(corrupted, lambda *_: True)

    def metric(self, inside: Inside) -> float:
        return self.run(self.clean, inside)[0]

    def run(self, source: Tensor, inside: Inside) -> tuple[float, Output]:
        @cache
        def output(sender: str) -> Tensor:
            first, layer, last = sender.split(".") if sender != "source" else ("source", "", "")
            stack = first.replace("cross", "decoder")
            if sender == "source":
                return source
            if last == "ffn":
                place = f"{stack}.layers.{int(layer) - 1}.feed_forward"
                return self.linear(relu(self.linear(read(sender, stack, layer, "ffn"), f"{place}.w_1")), f"{place}.w_2")
            kind = "cross" if first == "cross" else "self"
            values = []
            for point, width in (("queries", self.config.d_k), ("keys", self.config.d_k), ("values", self.config.d_v)):
                receiver = f"{sender}.{point}"
                x = memory(receiver) if kind == "cross" and point != "queries" else read(receiver, stack, layer, kind)
                heads = self.linear(x, f"{stack}.layers.{int(layer) - 1}.{MODULES[kind]}.w_{point[0]}")
                values.append(torch.split(heads, width, dim=1)[int(last) - 1])
            scores = values[0] @ values[1].T / self.config.d_k**0.5
            future = torch.ones_like(scores).triu(1).bool() & torch.tensor(first == "decoder")
            heads = softmax(scores.masked_fill(future, -torch.inf), dim=1) @ values[2]
            return heads

        def sent(sender: str, receiver: str) -> Tensor:
            return output(sender) if inside(sender, receiver) else self.corrupted(sender)

        def stream(receiver: str, stack: str, end: tuple[str, str] | None) -> Tensor:
            x = sent("source", receiver) if stack == "encoder" else self.target
            for layer in map(str, range(1, self.config.num_layers + 1)):
                for kind in ("self", "cross", "ffn") if stack == "decoder" else ("self", "ffn"):
                    if (layer, kind) == end:
                        return x
                    place = f"{stack}.layers.{int(layer) - 1}.{MODULES[kind]}"
                    if kind == "ffn":
                        out = sent(f"{stack}.{layer}.ffn", receiver)
                    else:
                        name = "cross" if kind == "cross" else stack
                        numbers = range(1, self.config.num_heads + 1)
                        heads = [sent(f"{name}.{layer}.{number}", receiver) for number in numbers]
                        out = self.linear(torch.cat(heads, dim=1), f"{place}.w_o")
                    x = x + out if self.config.residual else out
                    x = x if self.config.norm == "pre" else self.normed(x, f"{place}_add_norm.norm")
            return x

        def read(receiver: str, stack: str, layer: str, kind: str) -> Tensor:
            x, name = stream(receiver, stack, (layer, kind)), f"{stack}.layers.{int(layer) - 1}.{MODULES[kind]}"
            return self.normed(x, f"{name}_add_norm.norm") if self.config.norm == "pre" else x

        def memory(receiver: str) -> Tensor:
            return self.normed(stream(receiver, "encoder", None), "encoder.norm")

        state = self.normed(stream("logits", "decoder", None), "decoder.norm")[-1]
        logits = self.weights.get("projection.weight", self.weights["embedding.weight"])[self.answers] @ state
        if "output_bias" in self.weights:
            logits = logits + self.weights["output_bias"][self.answers]
        return float(logits[0] - logits[1]), output

    def linear(self, x: Tensor, name: str) -> Tensor:
        return x @ self.weights[f"{name}.weight"].T + self.weights.get(f"{name}.bias", torch.zeros(()))

    def normed(self, x: Tensor, name: str) -> Tensor:
        if f"{name}.weight" not in self.weights:
            return x
        weight, bias = (self.weights[f"{name}.{each}"] for each in ("weight", "bias"))
        return layer_norm(x, x.shape[-1:], weight, bias, self.config.layer_norm_epsilon)


@of_shapes(SHAPES)
def test_every_node_and_the_whole_difference(translator: Translator) -> None:
    found = circuit(translator, PAIRS, method="patching")
    direct = [at for at, (_, receiver) in enumerate(found.edge_names) if receiver == "logits"]
    for number, pair in enumerate(PAIRS):
        oracle = Oracle(translator, pair)
        whole = oracle.metric(lambda *_: True)
        assert found.metrics[number].tolist() == pytest.approx([whole, oracle.nothing], abs=1e-5)
        expected = [whole - oracle.metric(lambda *edge, name=name: edge[0] != name) for name in found.node_names]
        assert found.nodes[number].tolist() == pytest.approx(expected, abs=2e-5)
        assert float(found.edges[number, direct].sum()) == pytest.approx(whole - oracle.nothing, abs=2e-5)


@of_shapes(SHAPES)
def test_the_curve_and_its_edges(translator: Translator) -> None:
    found, oracles = circuit(translator, PAIRS[:2]), [Oracle(translator, pair) for pair in PAIRS[:2]]
    strongest = [found.edge_names[at] for at in found.strongest(4).tolist()]
    wholes = [each.metric(lambda *_: True) for each in oracles]
    for edge, lost in zip(strongest, exact_edges(found, strongest).T.tolist(), strict=True):
        without = [each.metric(lambda *names, edge=edge: names != edge) for each in oracles]
        assert lost == pytest.approx([whole - one for whole, one in zip(wholes, without, strict=True)], abs=2e-5)
    curve = found.faithfulness(shares=(0.05, 0.3, 0.8), random_orders=0)
    nothing = sum(each.nothing for each in oracles)
    for size, kept in zip(curve.edges, curve.kept.tolist(), strict=True):
        inside = edges_of(found, size)
        metric = sum(each.metric(lambda *names, inside=inside: names in inside) for each in oracles)
        assert kept == pytest.approx((metric - nothing) / (sum(wholes) - nothing), abs=1e-3)


def edges_of(found: Circuit, size: int) -> set[tuple[str, ...]]:
    order = found.edges.mean(dim=0).abs().argsort(descending=True, stable=True)
    return {found.edge_names[at] for at in order[:size].tolist()}
