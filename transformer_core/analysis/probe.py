"""Linear probe with a control task: is a label in the activations, or only in the words that they belong to?

A probe is softmax regression from a vector to the label of its token. The control task (Hewitt and Liang 2019) gives
each kind of token one random label, drawn like the labels: a probe can learn it only by heart. Selectivity is the
accuracy on the task minus that on the control task.

Shape legend: N tokens, d width of an activation, C labels.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from transformer_core.runs import Labelled
from transformer_core.short_repr import ShortRepr

TEST_SHARE = 0.3  # of the sentences
_ITERATIONS = 500
_DRAWS = 1_000  # of the sentences, for the intervals

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Probe(ShortRepr):
    """Linear probe.

    Args:
        accuracy: Share of the test tokens with the right label.
        control: The same of a probe of the control task.
        majority: The same of the most frequent label of the training tokens.
        interval: (2,), 95 % interval of the selectivity, over test sentences.
        classes: The C labels of the training tokens.
        weights: (C, d).
        bias: (C,).
    """

    accuracy: float
    control: float
    majority: float
    interval: FloatArray
    classes: tuple[Hashable, ...]
    weights: Tensor
    bias: Tensor

    @property
    def selectivity(self) -> float:
        """Accuracy on the task minus accuracy on the control task."""
        return self.accuracy - self.control

    def predict(self, vectors: Tensor) -> list[Hashable]:
        """Return the most probable label of each vector: (..., d)."""
        best = (vectors.to(self.weights) @ self.weights.T + self.bias).argmax(dim=-1)
        return [self.classes[number] for number in best.flatten().tolist()]


def probe(
    values: Labelled,
    labels: Sequence[Sequence[Hashable | None]],
    *,
    test: Collection[int] | None = None,
    penalty: float = 1.0,
    seed: int = 0,
) -> Probe:
    """Train a linear probe on some sentences, and test it on the others.

    Args:
        values: Activations of several sentences, (positions, d) each, such as `run["encoder.3.residual"]`.
        labels: For each sentence a label for each position; None leaves it out.
        test: Numbers of the test sentences; None draws three tenths.
        penalty: Of the squared weights: half of it is added to the sum of the cross-entropies.
        seed: Of the draw of sentences, and of the labels of the control task.

    Raises:
        ValueError: Values and labels do not belong together, there is no label to train or test on, or training has
            fewer than two labels.
    """
    generator = np.random.default_rng(seed)
    if any(tensor.dim() != 2 for tensor in values.tensors) or None in (axes[0] for axes in values.labels):
        raise ValueError(f"a probe needs (positions, width), not {values.name} ({', '.join(values.axes)})")
    if [len(each) for each in labels] != [len(tensor) for tensor in values.tensors]:
        raise ValueError("each sentence needs a label for each position; None leaves one out")
    drawn = generator.permutation(len(labels))[: round(TEST_SHARE * len(labels))]
    test = frozenset(drawn.tolist() if test is None else test)
    rows = [(n, i) for n, each in enumerate(labels) for i, label in enumerate(each) if label is not None]
    is_test = np.array([n in test for n, _ in rows], dtype=bool)
    classes = tuple(dict.fromkeys(labels[n][i] for (n, i), tested in zip(rows, is_test, strict=True) if not tested))
    if len(classes) < 2 or not is_test.any():
        raise ValueError(f"{len(classes)} labels to train on and {is_test.sum()} tokens to test are too few")
    number = {label: each for each, label in enumerate(classes)}
    tasks = [np.array([number.get(labels[n][i], -1) for n, i in rows])]
    kinds = np.unique([axes[0].tokens[i] for (n, i) in rows if (axes := values.labels[n])[0]], return_inverse=True)[1]
    tasks.append(generator.choice(tasks[0][~is_test], size=kinds.max() + 1)[kinds])
    x, train = torch.stack([values.tensors[n][i].detach() for n, i in rows]).double().cpu(), torch.from_numpy(~is_test)
    probes = [_fitted(x[train], torch.from_numpy(y)[train], len(classes), penalty) for y in tasks]
    guesses = [(x[~train] @ weights.T + bias).argmax(dim=1).numpy() for weights, bias in probes]
    right, by_heart = (guess == y[is_test] for guess, y in zip(guesses, tasks, strict=True))
    sentences = np.unique([n for n, _ in rows if n in test], return_inverse=True)[1]
    weights, bias = probes[0]
    return Probe(
        accuracy=float(right.mean()),
        control=float(by_heart.mean()),
        majority=float((tasks[0][is_test] == np.bincount(tasks[0][~is_test]).argmax()).mean()),
        interval=_interval(right.astype(float) - by_heart, sentences, generator),
        classes=classes,
        weights=weights.float(),
        bias=bias.float(),
    )


def _fitted(x: Tensor, y: Tensor, classes: int, penalty: float) -> tuple[Tensor, Tensor]:
    """Return the weights (C, d) and the bias (C,) of softmax regression from (N, d) to (N,)."""
    weights, bias = x.new_zeros(classes, x.shape[1]).requires_grad_(), x.new_zeros(classes).requires_grad_()
    stop: dict[str, Any] = {"max_iter": _ITERATIONS, "tolerance_grad": 1e-6, "tolerance_change": 1e-11}
    optimizer = torch.optim.LBFGS([weights, bias], line_search_fn="strong_wolfe", **stop)

    def loss() -> Tensor:
        optimizer.zero_grad()
        mean: Tensor = cross_entropy(x @ weights.T + bias, y) + penalty / (2 * len(x)) * weights.square().sum()
        torch.autograd.backward(mean)
        return mean

    with torch.enable_grad():
        optimizer.step(loss)  # type: ignore[no-untyped-call]
    return weights.detach(), bias.detach()


def _interval(values: FloatArray, sentences: npt.NDArray[np.int64], generator: np.random.Generator) -> FloatArray:
    """Return (2,), the 95 % interval of the mean over tokens, whole sentences drawn."""
    sums, counts = np.bincount(sentences, values), np.bincount(sentences)
    drawn = generator.integers(len(sums), size=(_DRAWS, len(sums)))
    return np.asarray(np.quantile(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1), (0.025, 0.975)))
