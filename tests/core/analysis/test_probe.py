"""Linear probes: against SciPy's optimum, a closed form, and labels that are in the words or in the context."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import logsumexp
from torch import Tensor

import transformer_core as tc
from tests.core.tiny import sentence_pairs
from transformer_core.attention_maps import Axis
from transformer_core.runs import Labelled
from transformer_core.translator import Translator


def labelled(vectors: Sequence[Tensor], tokens: Sequence[Sequence[str]]) -> Labelled:
    axes = tuple((Axis(tuple(each), tuple(range(len(each))), (False,) * len(each)), None) for each in tokens)
    return Labelled("x", tuple(vectors), ("positions", "d_model"), axes, several=True)


def words(count: int, kinds: int, seed: int) -> list[list[str]]:
    generator = np.random.default_rng(seed)
    return [[f"w{kind}" for kind in generator.integers(kinds, size=6)] for _ in range(count)]


def test_the_weights_are_the_optimum_that_scipy_finds() -> None:
    torch.manual_seed(0)
    vectors = [torch.randn(6, 3) for _ in range(20)]
    labels = [["abc"[number] for number in np.random.default_rng(n).integers(3, size=6)] for n in range(20)]
    found = tc.probe(labelled(vectors, words(20, 9, 0)), labels, test=range(15, 20), penalty=2.0)
    x, y = torch.cat(vectors[:15]).double().numpy(), np.array([found.classes.index(c) for s in labels[:15] for c in s])

    def loss(flat: np.ndarray) -> float:
        weights, bias = flat[:9].reshape(3, 3), flat[9:]
        scores = x @ weights.T + bias
        return float((logsumexp(scores, axis=1) - scores[range(len(y)), y]).sum() + (weights**2).sum())

    best = minimize(loss, np.zeros(12), tol=1e-10).x
    np.testing.assert_allclose(found.weights, best[:9].reshape(3, 3), atol=1e-3)
    expected = [found.classes[number] for number in (torch.cat(vectors[15:]).numpy() @ best[:9].reshape(3, 3).T
                + best[9:]).argmax(axis=1)]  # fmt: skip
    assert found.predict(torch.cat(vectors[15:])) == expected
    assert found.accuracy == pytest.approx(
        np.mean([a == b for a, b in zip(expected, (c for s in labels[15:] for c in s), strict=True)])
    )


def test_without_a_penalty_one_hot_vectors_give_the_frequencies() -> None:
    """The closed form of a saturated model."""
    counts = {0: {"a": 3, "b": 1}, 1: {"a": 2, "b": 6}}
    pairs = [(kind, label) for kind, each in counts.items() for label, count in each.items() for _ in range(count)]
    vectors = [torch.eye(2)[kind][None] for kind, _ in pairs] + [torch.eye(2)[:1]]
    labels = [[label] for _, label in pairs] + [["a"]]
    found = tc.probe(labelled(vectors, [["w"]] * len(labels)), labels, test=[len(pairs)], penalty=1e-9)
    probabilities = (torch.eye(2) @ found.weights.T + found.bias).softmax(dim=1)[:, found.classes.index("a")]
    np.testing.assert_allclose(probabilities, [3 / 4, 2 / 8], atol=1e-4)


def test_words_learned_by_heart_have_no_selectivity_and_context_has() -> None:
    tokens = words(150, 8, 1)
    generator = torch.Generator().manual_seed(0)
    numbers = torch.tensor([[int(word[1:]) for word in each] for each in tokens])
    one_hot = torch.nn.functional.one_hot(numbers, 8).float()
    labels = [[str(int(word[1:]) % 2) for word in each] for each in tokens]
    heart = tc.probe(labelled(one_hot.unbind(), tokens), labels, penalty=0.01)
    assert heart.accuracy == heart.control == 1.0 and heart.selectivity == 0.0
    sides = torch.randint(2, (150, 6), generator=generator)  # says nothing of the word
    context = [[str(side) for side in each] for each in sides.tolist()]
    found = tc.probe(labelled((2.0 * sides[:, :, None] + torch.zeros(1, 1, 2)).unbind(), tokens), context)
    assert found.accuracy == 1.0 and found.majority < 0.7
    assert found.interval[0] <= found.selectivity <= found.interval[1] and found.interval[0] > 0.2


def test_activations_of_a_model_and_positions_left_out(learned: Translator) -> None:
    """Whether an earlier word of the sentence had an `e` is in the states, not in the word."""
    pairs = [(source, "") for source, _ in sentence_pairs()[:60]]
    run = tc.run(learned, pairs, keep="encoder.2.residual")
    labels = [[i % 2 if mark is False else None for i, mark in enumerate(s.source.special)] for s in run.sentences]
    found = tc.probe(run["encoder.2.residual"], labels)
    assert set(found.classes) == {0, 1} and found.accuracy > found.majority
    assert found.weights.shape == (2, learned.config.d_model)
    again = tc.probe(run["encoder.2.residual"], labels)
    assert again.accuracy == found.accuracy and torch.equal(again.weights, found.weights)


@pytest.mark.parametrize(
    ("labels", "test", "message"),
    [
        ([["a"], ["a", "b"]], [0], "each sentence needs a label for each position"),
        ([["a", "a"], ["a", "b"]], [1], "1 labels to train on and 2 tokens to test are too few"),
        ([["a", "b"], [None, None]], [1], "2 labels to train on and 0 tokens to test are too few"),
    ],
)
def test_what_cannot_be_probed_is_refused(labels: list[list[str | None]], test: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tc.probe(labelled([torch.zeros(2, 2)] * 2, [["x", "y"]] * 2), labels, test=test)


def test_heads_need_an_address(learned: Translator) -> None:
    run = tc.run(learned, sentence_pairs()[:2], keep="cross.1.head_outputs")
    with pytest.raises(ValueError, match=r"needs \(positions, width\), not cross.1.head_outputs"):
        tc.probe(run["cross.1.head_outputs"], [])
