"""Circuits of several pairs: batches, intervals, the null, the graph, and how faithful they are."""

from __future__ import annotations

from itertools import product

import networkx
import numpy as np
import pytest
import torch
from scipy.integrate import trapezoid

from tests.core.analysis.models import of_shapes
from transformer_core import Translator
from transformer_core.analysis.circuit import MinimalPair, circuit, exact_edges
from transformer_core.analysis.circuit.find import METHODS
from transformer_core.analysis.circuit.result import Method, node_of
from transformer_core.analysis.minimal_pairs import PatchingError
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.hooks.edits import zero
from transformer_core.hooks.points import edit

ANSWERS = ("Der Mann sieht ein Haus heute.", "Der Mann sieht eine Tür heute.")
SUBJECTS, OBJECTS = (
    ("The man", "The woman", "A child", "My friend"),
    (("house", "horse"), ("dog", "door"), ("horse", "bicycle")),
)
PAIRS = [
    MinimalPair(f"{who} sees a {one}.", f"{who} sees a {other}.", ANSWERS, who)
    for who, (one, other) in product(SUBJECTS, OBJECTS)
]


@pytest.mark.parametrize("method", ["eap-ig", "flow", "patching"])
def test_a_batch_is_its_pairs_alone(translator: Translator, method: Method) -> None:
    together = circuit(translator, PAIRS, method=method, edges=method != "patching")
    assert together.pairs == tuple(PAIRS)
    for number, pair in enumerate(together.pairs):
        alone = circuit(translator, [pair], method=method, edges=method != "patching")
        torch.testing.assert_close(together.metrics[number], alone.metrics[0], atol=1e-5, rtol=0)
        torch.testing.assert_close(together.nodes[number], alone.nodes[0], atol=2e-5, rtol=0)
        torch.testing.assert_close(together.edges[number], alone.edges[0], atol=2e-5, rtol=0)


def test_pairs_that_cannot_be_compared_are_counted(translator: Translator) -> None:
    longer = MinimalPair("The man sees a house.", "The man sees a house and a horse today.", ANSWERS)
    same = MinimalPair("The man sees a house.", "The man sees a horse.", (ANSWERS[0], ANSWERS[0]))
    assert circuit(translator, [longer, PAIRS[0], same, same], edges=False).skipped == {"length": 1, "same": 2}
    with pytest.raises(PatchingError, match="no pair is left: 1 with unequal numbers of tokens"):
        circuit(translator, [longer])
    with pytest.raises(ValueError, match="a sentence of pair 2 is empty"):
        circuit(translator, [PAIRS[0], ("", "A dog.")])


def test_bad_options(translator: Translator) -> None:
    with pytest.raises(ValueError, match="method is 'guess', but must be one of eap, eap-ig"):
        circuit(translator, PAIRS, method="guess")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="steps is 0"):
        circuit(translator, PAIRS, steps=0)
    with pytest.raises(DecodingStopped):
        circuit(translator, PAIRS, should_stop=lambda: True)
    found = circuit(translator, PAIRS[:3], edges=False)
    for needs_edges in (found.faithfulness, found.graph, found.split_half):
        with pytest.raises(ValueError, match="no scores of edges"):
            needs_edges()
    with pytest.raises(ValueError, match="others is 'zero', but must be one of corrupted, mean"):
        found.faithfulness(others="zero")  # type: ignore[arg-type]


def test_a_model_that_is_not_as_it_was_loaded_is_refused(translator: Translator) -> None:
    with edit(translator, {"cross.1.1": zero}), pytest.raises(ValueError, match="edited, or in training mode"):
        circuit(translator, PAIRS)
    translator.model.train()
    with pytest.raises(ValueError, match="edited, or in training mode"):
        circuit(translator, PAIRS)


def test_intervals_draw_groups_together(translator: Translator) -> None:
    few = circuit(translator, PAIRS, edges=False)
    assert few.interval(few.nodes).isnan().all()  # four groups
    many = [pair._replace(group=str(number % 11)) for number, pair in enumerate(PAIRS)]
    result = circuit(translator, many, edges=False)
    values = result.nodes.numpy()
    groups, generator = result.groups.numpy(), np.random.default_rng(1)
    means = []
    for _ in range(4_000):
        rows = np.concatenate([np.flatnonzero(groups == each) for each in generator.integers(11, size=11)])
        means.append(values[rows].mean(axis=0))
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    width = (high - low).max()
    np.testing.assert_allclose(result.interval(result.nodes), [low, high], atol=0.1 * width)


def test_the_null_has_another_sentence_of_the_same_class(translator: Translator) -> None:
    man, woman = PAIRS[0], PAIRS[4]  # of as many tokens
    assert (man.group, woman.group) == ("The man", "The woman")
    result = circuit(translator, [man, PAIRS[1], woman], edges=False)
    for number, (pair, donor) in enumerate([(man, woman), (woman, man)]):
        expected = circuit(translator, [pair._replace(corrupted=donor.clean)], edges=False)
        torch.testing.assert_close(result.null[number], expected.nodes[0], atol=2e-5, rtol=0)
    assert len(result.null) == 2 and result.null_limits.isnan().all() and not result.is_beyond_null.any()


def test_a_donor_of_its_own_group_serves_where_no_other_has_one(translator: Translator) -> None:
    pairs = [pair._replace(group="one", answers=ANSWERS) for pair in (PAIRS[0], PAIRS[4], PAIRS[0])]
    result = circuit(translator, pairs, edges=False)
    expected = circuit(translator, [pairs[0]._replace(corrupted=pairs[1].clean)], edges=False)
    torch.testing.assert_close(result.null[0], expected.nodes[0], atol=2e-5, rtol=0)
    assert len(result.null) == 3 and result.null.abs().amax(dim=1).min() > 0, "no sentence is its own donor"


def test_the_limit_of_the_null_is_the_highest_of_many_nodes(translator: Translator) -> None:
    pairs = [pair._replace(group=str(number)) for number, pair in enumerate(PAIRS * 2)]
    result = circuit(translator, pairs, edges=False)
    generator, count = np.random.default_rng(1), len(result.null)
    assert count >= 10
    drawn = [result.null.numpy()[generator.integers(count, size=count)].mean(axis=0) for _ in range(4_000)]
    for sort in (True, False):
        columns = [at for at, name in enumerate(result.node_names) if at and name.endswith(".ffn") == sort]
        limit = np.quantile(np.abs(drawn)[:, columns].max(axis=1), 0.95)
        np.testing.assert_allclose(result.null_limits[columns], limit, rtol=0.1)


@of_shapes([{}, {"norm": "pre"}])
def test_the_graph_leads_from_the_source_to_the_logits(translator: Translator) -> None:
    result = circuit(translator, PAIRS)
    scores = dict(zip(result.edge_names, result.edges.mean(dim=0).tolist(), strict=True))
    for count in (5, 40, len(scores)):
        strongest = sorted(scores, key=lambda edge: -abs(scores[edge]))[:count]
        whole = networkx.DiGraph([(sender, node_of(receiver)) for sender, receiver in strongest])
        whole.add_nodes_from(["source", "logits"])
        on_way = networkx.descendants(whole, "source") & networkx.ancestors(whole, "logits") | {"source", "logits"}
        expected = {edge: scores[edge] for edge in strongest if {edge[0], node_of(edge[1])} <= on_way}
        assert result.graph(count) == pytest.approx(expected)


@of_shapes([{}, {"norm": "pre"}, {"residual": False}])
def test_faithfulness_goes_from_the_corrupted_run_to_the_model(translator: Translator) -> None:
    result = circuit(translator, PAIRS)
    curve = result.faithfulness(shares=(0.01, 0.3), random_orders=2)
    clean, corrupted = result.metrics.mean(dim=0).tolist()
    assert (curve.whole, curve.nothing) == pytest.approx((clean, corrupted), abs=1e-5)
    count = result.edges.shape[1]
    assert curve.edges == (0, round(0.01 * count), round(0.3 * count), count)
    assert curve.random.shape == (2, 4)
    assert curve.cpr == pytest.approx(trapezoid(curve.kept.numpy(), curve.shares), abs=1e-6)
    assert curve.cmd == pytest.approx(trapezoid((1 - curve.kept).abs().numpy(), curve.shares), abs=1e-6)


def test_all_but_one_edge_is_the_patched_edge(translator: Translator) -> None:
    """The curve and exact patching are two ways to one number."""
    exact = circuit(translator, PAIRS[:1], method="patching")
    count = exact.edges.shape[1]
    weakest = int(exact.strongest(count)[-1])
    curve = exact.faithfulness(shares=((count - 1) / count,), random_orders=0)
    lost = (1 - curve.kept[1]) * (curve.whole - curve.nothing)
    assert float(lost) == pytest.approx(float(exact.edges[0, weakest]), abs=2e-5)


def test_held_out_halves_share_no_group(translator: Translator) -> None:
    result = circuit(translator, PAIRS)
    curve = result.faithfulness(shares=(0.1,), held_out=True, random_orders=0)
    half = [pair for pair in result.pairs if SUBJECTS.index(pair.group) % 2 == 1]
    rest = circuit(translator, [pair for pair in result.pairs if pair not in half])
    assert curve.pairs == len(rest.pairs) == len(result.pairs) // 2
    assert curve.whole == pytest.approx(float(rest.metrics[:, 0].mean()), abs=1e-5)
    with pytest.raises(ValueError, match="needs two groups"):
        circuit(translator, PAIRS[:3]).faithfulness(held_out=True)


def test_overlap(translator: Translator) -> None:
    first, second = (circuit(translator, part) for part in (PAIRS[:6], PAIRS[6:]))
    names = [{each.edge_names[at] for at in each.strongest(30).tolist()} for each in (first, second)]
    assert first.overlap(second, 30) == len(names[0] & names[1]) / len(names[0] | names[1])
    assert first.overlap(first) == 1


def test_random_scores_know_nothing(translator: Translator) -> None:
    first, again = (circuit(translator, PAIRS, method="random", seed=seed) for seed in (1, 1))
    assert torch.equal(first.edges, again.edges)
    assert not torch.equal(first.edges, circuit(translator, PAIRS, method="random", seed=2).edges)
    assert set(METHODS) == {"eap", "eap-ig", "flow", "patching", "random"}


def test_no_edges_are_measured(translator: Translator) -> None:
    assert exact_edges(circuit(translator, PAIRS), []).shape == (len(PAIRS), 0)


def test_split_half(translator: Translator) -> None:
    result = circuit(translator, PAIRS)
    halves = [
        circuit(translator, [pair for pair in PAIRS if SUBJECTS.index(pair.group) % 2 == half]) for half in (0, 1)
    ]
    assert result.split_half(30) == halves[0].overlap(halves[1], 30)


@of_shapes([{}, {"norm": "pre", "activation": "gelu"}])
@pytest.mark.parametrize("network", ["encoder.1.ffn", "decoder.2.ffn"])
def test_neurons(translator: Translator, network: str) -> None:
    """They sum to the score of their network, and each is what torch's own hooks and gradients give."""
    result, model = circuit(translator, PAIRS[:4], edges=False), translator.model
    neurons = result.neurons(network)
    at = result.node_names.index(network)
    torch.testing.assert_close(neurons.sum(dim=1), result.nodes[:, at], atol=2e-5, rtol=0)

    stack, layer, _ = network.split(".")
    module, seen = model.get_submodule(f"{stack}.layers.{int(layer) - 1}.feed_forward.w_2"), list[torch.Tensor]()
    expected, points = dict[int, torch.Tensor](), 3
    for batch in result.batches:
        first, second = (model.embed(each, of_source=True).detach() for each in (batch.clean, batch.corrupted))
        ends, gradients = list[torch.Tensor](), torch.zeros(())
        for share in (0.0, 1.0, *((np.arange(points) + 0.5) / points)):
            source = first + share * (second - first)
            put = model.encoder.embeddings.register_forward_hook(lambda *_, source=source: source)
            look = module.register_forward_hook(lambda _, inputs, output: seen.append(inputs[0].requires_grad_()))
            logits = model(batch.clean, batch.inputs, None)[:, -1]
            put.remove()
            look.remove()
            metric = (logits.gather(1, batch.answers) * torch.tensor([1.0, -1.0])).sum()
            if len(ends) < 2:
                ends.append(seen[-1].detach())
            else:
                gradients = gradients + torch.autograd.grad(metric, seen[-1])[0] / points
        rows = ((ends[0] - ends[1]) * gradients).sum(dim=1)
        expected |= dict(zip(batch.numbers, rows, strict=True))
    torch.testing.assert_close(
        result.neurons(network, steps=points),
        torch.stack([expected[number] for number in sorted(expected)]),
        atol=2e-5,
        rtol=0,
    )
    with pytest.raises(ValueError, match=r"'cross\.1\.1' is no network"):
        result.neurons("cross.1.1")
