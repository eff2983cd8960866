"""The flow against brute force: the model itself, made affine by hooks, with one part taken out at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import transformer_core as tc
from tests.core.analysis.models import SOURCE, TARGET, heads, make_translator, of_shapes
from tests.core.conversion.twins import Twin
from transformer_core.analysis.ablation import ablated, hook_point_name
from transformer_core.analysis.attribution import Contrast, attribute
from transformer_core.analysis.effects.direct_effects import POINTS as DIRECT
from transformer_core.analysis.effects.direct_effects import direct_effects
from transformer_core.analysis.flow import POINTS, Flow, backward, flow, flows
from transformer_core.analysis.flow.result import Side
from transformer_core.analysis.frozen import Stack
from transformer_core.analysis.linearized_model import LinearizedModel
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.head import Head
from transformer_core.hooks.hook_sites import Site
from transformer_core.hooks.points import capture, edit, hook_points
from transformer_core.model.layers import FeedForward
from transformer_core.text.tokenizer import Tokenizer
from transformer_core.translator import Translator

MARIAN = {
    **{"activation": "swish", "positions": "tensor2tensor", "attention_biases": True, "output_bias": True},
    **{"embedding_norm": True, "tie": "target"},
}
SHAPES: list[dict[str, Any]] = [
    {},
    {"norm": "pre"},
    {"residual": False},
    {"attention_biases": True, "embedding_norm": True},
    {"norm": "pre", "attention_biases": True, "tie": "none", "output_bias": True, "activation": "gelu"},
    {"attention": "additive", "causal": False},
    {"window": 2, "positions": "learned", "max_positions": 64},
    MARIAN,
]
AT, AGAINST = 5, 9  # a token with some before and some after it; the id of another
STACKS: tuple[Stack, ...] = ("encoder", "decoder")


class Affine:
    """The model with everything that is not affine replaced by factors of one run; parts can be taken out."""

    def __init__(self, translator: Translator) -> None:
        self.model = translator.model
        special = translator.tokenizer.special
        self.source = torch.tensor([[*translator.encode(SOURCE).ids, special.eos]])
        self.outputs = [*translator.encode_target(TARGET).ids, special.eos]
        self.inputs = torch.tensor([[special.bos, *self.outputs[:-1]]])
        self.networks: list[FeedForward] = [
            module for module in self.model.modules() if isinstance(module, FeedForward)
        ]
        self.gates = dict[FeedForward, Tensor]()
        with torch.no_grad(), capture(self.model, ["weights", "scale"]) as fixed, ExitStack() as stack:
            for network in self.networks:
                stack.enter_context(_activation(network, self._record(network)))
            self.logits: Tensor = self.model(self.source, self.inputs, None)[0]
        self.fixed = fixed

    def _record(self, network: FeedForward) -> Callable[[Tensor], Tensor]:
        activation = network.activation

        def record(z: Tensor) -> Tensor:
            self.gates[network] = activation(z) / z
            return activation(z)

        return record

    @torch.no_grad()
    def logit(self, token: int, against: int | None, address: str = "", *index: Any) -> float:
        """Return the logit at `AT`; the values of an index at an address are 0."""

        def change(value: Tensor, site: Site) -> Tensor:
            value = self.fixed[site.address].clone() if site.point in ("weights", "scale") else value.clone()
            if site.address == address:
                value[0][index] = 0.0
            return value

        with ExitStack() as stack:
            for network in self.networks:
                stack.enter_context(_activation(network, self.gates[network].mul))
            stack.enter_context(edit(self.model, list(hook_points(self.model)), change))
            row: Tensor = self.model(self.source, self.inputs, None)[0, AT]
        return float(row[token] - (row.mean() if against is None else row[against]))


@contextmanager
def _activation(network: FeedForward, activation: Callable[[Tensor], Tensor]) -> Iterator[None]:
    before, network.activation = network.activation, activation
    yield
    network.activation = before


def tolerance(result: Flow) -> float:
    return 1e-4 * max(abs(result.biases), *(float(np.abs(each).max()) for each in (result.source, result.inputs)), 1.0)


@of_shapes(SHAPES)
@pytest.mark.parametrize("against", [None, AGAINST])
def test_the_parts_at_every_height_sum_to_the_logit(translator: Translator, against: int | None) -> None:
    affine, layers = Affine(translator), translator.config.num_layers
    for position, result in enumerate(flow(translator, (SOURCE, TARGET), against=against)):
        row = affine.logits[position]
        logit = float(row[affine.outputs[position]] - (row.mean() if against is None else row[against]))
        assert result.position == position and result.logit == pytest.approx(logit, abs=1e-4)
        near = pytest.approx(logit, abs=tolerance(result))
        assert result.source.sum() + result.inputs.sum() + result.biases == near
        assert [float(result.at(height).sum()) for height in range(2 * layers + 1)] == [near] * (2 * layers + 1)
        if translator.config.causal:
            assert not result.inputs[position + 1 :].any()


@pytest.mark.parametrize("family", ["marian: opus", "marian: separate", "bart"])
def test_opened_translators_have_a_flow(family: str, twins: Callable[[str], Twin]) -> None:
    twin = twins(family)
    result = flow(twin.converted, (SOURCE, TARGET), 2)
    with torch.no_grad():
        logits = twin.model(input_ids=result.run.source, decoder_input_ids=result.run.inputs).logits[0, 2]
    expected = float(logits[result.run.outputs[2]] - logits.mean())
    assert result.logit == pytest.approx(expected, abs=1e-3)
    assert result.source.sum() + result.inputs.sum() + result.biases == pytest.approx(expected, abs=1e-3)


ONE_OF_BOTH = zip(SHAPES, cycle([None, AGAINST]))


@pytest.mark.parametrize(("translator", "against"), ONE_OF_BOTH, indirect=["translator"])
def test_a_part_is_what_the_affine_model_loses_without_it(translator: Translator, against: int | None) -> None:
    """A contrast is another direction at the top, where the test above has both with each shape."""
    affine, draw = Affine(translator), np.random.default_rng(0)
    result = flow(translator, (SOURCE, TARGET), AT, against=against)
    token = affine.outputs[AT]
    whole = affine.logit(token, against)
    assert whole == pytest.approx(result.logit, abs=1e-4)

    def lost(address: str, *index: Any) -> float:
        return whole - affine.logit(token, against, address, *index)

    near = 3 * tolerance(result)  # a difference of two logits in float32
    for head in heads(translator):
        edges = result.edges[str(head)]
        used = np.argwhere(edges)
        for query, key in used[draw.permutation(len(used))[:2]].tolist():
            expected = lost(hook_point_name(head.kind, head.layer, "weights"), head.head, query, key)
            assert edges[query, key] == pytest.approx(expected, abs=near), (head, query, key)
    for stack in STACKS:
        for layer in range(translator.config.num_layers):
            address = f"{stack}.layers.{layer}.feed_forward_add_norm.residual"
            for position, value in enumerate(result.states[stack][layer + 1]):
                assert value == pytest.approx(lost(address, position), abs=near), (stack, layer, position)
        for position, value in enumerate(result.states[stack][0]):
            assert value == pytest.approx(lost(f"{stack}.embeddings", position), abs=near), (stack, position)
    for name, position, neuron, value in result.neurons(10):
        of_stack, number, _ = name.split(".")
        address = f"{of_stack}.layers.{int(number) - 1}.feed_forward.activations"
        assert value == pytest.approx(lost(address, position, neuron), abs=near), (name, position, neuron)


@of_shapes([{}, {"norm": "pre"}, {"residual": False}])
def test_a_state_goes_on_by_its_residual_and_the_edges_that_read_it(translator: Translator) -> None:
    """Without biases between a state and the values, nothing else is there."""
    result = flow(translator, (SOURCE, TARGET), AT)
    for kind in STACKS:
        for layer in range(translator.config.num_layers):
            ways = result.maps[kind][layer].sum(axis=(0, 1)) + result.residuals[kind][layer]
            if translator.config.norm == "post":
                assert ways == pytest.approx(result.states[kind][layer], abs=1e-3)
            assert result.residuals[kind][layer].any() == translator.config.residual
    crossing = result.maps["cross"].sum(axis=(1, 2))  # (L, S)
    assert result.memory == pytest.approx(np.concatenate([crossing[::-1].cumsum(0)[::-1], 0 * crossing[:1]]), abs=1e-3)


@of_shapes([{}, {"norm": "pre", "attention_biases": True}, {"tie": "none", "positions": "learned"}])
def test_words_and_positions_are_those_of_the_forward_form(translator: Translator) -> None:
    """`linearized_model` carries each embedding up; its states meet the output matrix here."""
    points = {*POINTS, "scores"}
    run = teacher_forced_run(translator, SOURCE, TARGET, points=points)
    network, weight = LinearizedModel(translator, run, "part", lambda: None), translator.model.output_weight.detach()
    norm: Any = translator.model.decoder.norm
    with torch.no_grad():
        parts = network._decoder(translator.config.num_layers, network._memory())
        if translator.config.norm == "pre":
            deviation = (parts.sum(dim=0).var(dim=-1, correction=0) + norm.eps).sqrt()
            parts = norm.weight * (parts - parts.mean(dim=-1, keepdim=True)) / deviation[:, None]
            parts[-1] += norm.bias
    for result in flows(translator, run):
        direction = weight[run.outputs[result.position]] - weight.mean(dim=0)
        forward = dict(zip(network.origins("decoder"), (parts[:, result.position] @ direction).tolist(), strict=True))
        for origin, value in forward.items():
            if origin.role == "bias":
                assert result.biases == pytest.approx(value, abs=1e-3)
                continue
            side: Side = "source" if origin.side == "source" else "inputs"
            of_role = result.words if origin.role == "word" else result.positions
            assert of_role[side][origin.position] == pytest.approx(value, abs=1e-3), origin


@pytest.mark.parametrize("options", [{}, {"norm": "pre", "attention_biases": True}], ids=str)
def test_a_direct_path_is_a_direct_effect(tokenizer: Tokenizer, options: dict[str, Any]) -> None:
    """In one layer whose network adds nothing, everything goes straight to the logit."""
    translator = make_translator(tokenizer, num_layers=1, **options)
    for network in translator.model.modules():
        if isinstance(network, FeedForward):
            torch.nn.init.zeros_(network.w_2.weight)
    run = teacher_forced_run(translator, SOURCE, TARGET, points=[*POINTS, *DIRECT])
    (result,) = flows(translator, run, [AT], tokens=[7], against=AGAINST)
    direct = direct_effects(translator, run, position=AT, tokens=[7, AGAINST])
    assert result.logit == pytest.approx(direct.logit, abs=1e-5)
    for kind in ("decoder", "cross"):
        assert result.maps[kind][:, :, AT] == pytest.approx(direct.parts[kind].numpy(), abs=1e-5)
        assert not np.delete(result.maps[kind], AT, axis=2).any()
    assert result.residuals["decoder"][0, AT] == pytest.approx(
        float(direct.parts["embedding"] + direct.parts["positional_encoding"]), abs=1e-5
    )


def test_many_at_once_are_as_each_alone(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(SOURCE, TARGET), ("The woman buys a house.", "Die Frau kauft ein Haus.")]
    together = flow(translator, pairs)
    assert [len(each) for each in together] == [len(flow(translator, pair)) for pair in pairs]
    monkeypatch.setattr(backward, "_MAX_VALUES", 1)  # one target at a time
    for pair, results in zip(pairs, together, strict=True):
        for position, one in enumerate(results):
            alone = flow(translator, pair, position)
            assert one.token == alone.token and one.source == pytest.approx(alone.source, abs=1e-5)
            assert one.neurons(100) == [
                (*place, pytest.approx(value, abs=1e-5)) for *place, value in alone.neurons(100)
            ]
            for head, edges in one.edges.items():
                assert edges == pytest.approx(alone.edges[head], abs=1e-5)


def test_without_neurons_all_else_is_equal(translator: Translator) -> None:
    run = teacher_forced_run(translator, SOURCE, TARGET, points=POINTS)
    for whole, without in zip(flows(translator, run), flows(translator, run, neurons=False), strict=True):
        assert whole.top_neurons and without.top_neurons == ()
        assert (without.logit, without.biases) == (whole.logit, whole.biases)
        for name in ("words", "maps", "residuals"):
            for key, expected in getattr(whole, name).items():
                np.testing.assert_array_equal(getattr(without, name)[key], expected)


@pytest.mark.parametrize("contrast", [None, Contrast(AT, 7, AGAINST)])
def test_flow_is_a_method_of_attribution(translator: Translator, contrast: Contrast | None) -> None:
    attribution = attribute(translator, SOURCE, TARGET, method="flow", contrast=contrast)
    run = teacher_forced_run(translator, SOURCE, TARGET, points=POINTS)
    results = list(flows(translator, run, [AT], tokens=[7], against=AGAINST) if contrast else flows(translator, run))
    assert len(attribution.source) == len(attribution.target) == len(results)
    for row, result in enumerate(results):
        assert attribution.source[row].numpy() == pytest.approx(result.source, abs=1e-5)
        assert attribution.target[row].numpy() == pytest.approx(result.inputs, abs=1e-5)
        assert float(attribution.report["biases"][row]) == pytest.approx(result.biases, abs=1e-4)


def test_tokens_can_be_named(translator: Translator) -> None:
    name = translator.tokenizer.token(AGAINST)
    result = flow(translator, (SOURCE, TARGET), AT, against=name)
    assert (result.token, result.against) == (result.run.tokens[AT], name)
    assert result.logit == flow(translator, (SOURCE, TARGET), AT, against=AGAINST).logit
    assert tc.flow is flow and tc.Flow is Flow


def test_an_edited_head_is_a_constant(translator: Translator) -> None:
    with ablated(translator, [Head("cross", 1, 2), Head("decoder", 0, 1)]):
        result = flow(translator, (SOURCE, TARGET), AT)
        logits = Affine(translator).logits[AT]
    assert not result.edges["cross.2.3"].any() and not result.edges["decoder.1.2"].any()
    assert result.heads["cross.2.3"] == 0.0 and result.heads["cross.2.2"] != 0.0
    assert result.logit == pytest.approx(float(logits[result.run.outputs[AT]] - logits.mean()), abs=1e-4)


@pytest.mark.parametrize("address", ["decoder.layers.0.cross_attention_add_norm.residual", "encoder.1.values"])
def test_an_edited_stream_has_no_exact_sum(translator: Translator, address: str) -> None:
    with edit(translator, address, lambda value, _: value + 1.0 + value.abs()), pytest.raises(ValueError, match="sum"):
        flow(translator, (SOURCE, TARGET), AT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"position": 99}, r"position is 99, but must be from 0 to \d+"),
        ({"position": 0, "against": 10**6}, "token is 1000000, but must be from 0 to"),
        ({"position": 0, "against": "qqq"}, "'qqq' is no token"),
    ],
)
def test_what_is_not_there(translator: Translator, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        flow(translator, (SOURCE, TARGET), **options)
    result = flow(translator, (SOURCE, TARGET), 0)
    wrong: list[tuple[Any, Any]] = [(result.at, 5), (result.at, -1), (result.neurons, 101), (result.graph, 0.0)]
    for call, value in wrong:
        with pytest.raises(ValueError, match="but must be"):
            call(value)
