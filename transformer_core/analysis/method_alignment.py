"""Alignment error rate of every attribution method, compared with the best head.

A method that reads one layer or one head offers many ways to align. Choosing the best of them on the test sentences
would flatter it. So layer and head are chosen on one half of the sentences and measured on the other, and vice versa
(two-fold): sentences with even and with odd numbers.

Shape legend: C choices of layer and head, N sentences, L layers, H heads, T target positions, S source positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from transformer_core.analysis.alignment import GoldAlignment, links_of_head, word_of_each_token
from transformer_core.analysis.attribution import POINTS, STEPS, Method, attribute
from transformer_core.analysis.attribution.layers import norms
from transformer_core.analysis.attribution.mixing import nearness_shares
from transformer_core.analysis.sublayer import SubLayer, head_weights
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, teacher_forced_run
from transformer_core.head import Head, Layer
from transformer_core.translator import Translator

Aligner = Literal[
    "attention-head",
    "attention",
    "norm-head",
    "norm",
    "norm-ln",
    "alti-cross",
    "rollout",
    "alti",
    "gradient",
    "grad-x-input",
    "integrated-gradients",
    "leave-one-out",
    "flow",
]
ALIGNERS: tuple[Aligner, ...] = get_args(Aligner)
SLOW: tuple[Aligner, ...] = ("gradient", "grad-x-input", "integrated-gradients", "leave-one-out")
OF_OUTPUTS: tuple[Aligner, ...] = (*SLOW, "flow")  # they explain the generated token
BASELINE: Aligner = "attention-head"
Convention = Literal["output", "input"]  # a row is named after the token that it generates, or that it reads
CONVENTIONS: tuple[Convention, ...] = get_args(Convention)
Choice = tuple[Aligner, str]  # method; head or layer, such as cross.6.8 or cross.6, empty where it has none
DRAWS = 1_000

FloatArray = npt.NDArray[np.float64]
WordNumbers = npt.NDArray[np.int64]
Progress = Callable[[Sequence[GoldAlignment]], Iterable[GoldAlignment]]
_HALVES = 2


@dataclass(frozen=True)
class Counts:
    """Agreement of each choice of method, layer and head with the gold links.

    Args:
        choices: C choices.
        hits: (C, N), |A & S| + |A & P| of each sentence.
        totals: (C, N), |A| + |S|.
    """

    choices: tuple[Choice, ...]
    hits: FloatArray
    totals: FloatArray

    @property
    def errors(self) -> FloatArray:
        """(C,) alignment error rates over all sentences."""
        return _error_rate(self.hits, self.totals)

    def two_fold(self) -> tuple[FloatArray, FloatArray, tuple[Choice, ...]]:
        """Return hits and totals (N,), each sentence by the best choice on the other half; and the two choices."""
        half = np.arange(self.hits.shape[1]) % _HALVES
        hits, totals = np.zeros(len(half)), np.zeros(len(half))
        choices = []
        for fold in range(_HALVES):
            here, there = half == fold, half != fold
            best = int(_error_rate(self.hits[:, there], self.totals[:, there]).argmin())
            hits[here], totals[here] = self.hits[best, here], self.totals[best, here]
            choices.append(self.choices[best])
        return hits, totals, tuple(choices)

    def minus(self, other: Counts, *, draws: int = DRAWS, seed: int = 0) -> tuple[float, float, float]:
        """Return the two-fold error minus that of other counts, and the ends of its interval; see `Compared`."""
        number = self.hits.shape[1]
        drawn = np.random.default_rng(seed).integers(number, size=(draws, number))
        rows = np.concatenate([np.arange(number)[None], drawn])  # the sentences themselves first
        folds = self.two_fold(), other.two_fold()
        mine, others = (_error_rate(hits[rows], totals[rows]) for hits, totals, _ in folds)
        low, high = np.percentile((mine - others)[1:], [2.5, 97.5])
        return float(mine[0] - others[0]), float(low), float(high)


@dataclass(frozen=True)
class Compared:
    """A method compared with the best single head, both two-fold.

    Args:
        best: The best choice on all sentences, and `best_error`, which flatters it.
        best_error: Alignment error rate, 0 to 1.
        error: Two-fold.
        chosen: The choices of the two halves.
        difference: `error` minus the error of the best head; negative: fewer errors.
        interval: 95 % interval of the difference over sentences drawn with replacement, with the same choices.
    """

    best: Choice
    best_error: float
    error: float
    chosen: tuple[Choice, ...]
    difference: float
    interval: tuple[float, float]


def method_counts(
    translator: Translator,
    gold: Sequence[GoldAlignment],
    *,
    aligners: Sequence[Aligner],
    progress: Progress = iter,
) -> dict[Convention, dict[Aligner, Counts]]:
    """Link words with every method and compare with gold links.

    A target word is linked to the source word with the largest absolute value, of flow with the largest part: summed
    over the tokens of the source word, mean over the tokens of the target word. Gradients, leave-one-out and flow
    explain the generated token, so they have no rows by the token that is read.

    Args:
        translator: The model.
        gold: Sentences with links.
        aligners: Some of `ALIGNERS`.
        progress: Wraps the sentences in a progress bar.
    """
    counted: dict[Convention, dict[Aligner, list[tuple[list[int], list[int]]]]] = {
        "output": {name: [] for name in aligners},
        "input": {name: [] for name in aligners if name not in OF_OUTPUTS},
    }
    choices: dict[Aligner, tuple[Choice, ...]] = {name: _choices(translator, name) for name in aligners}
    for pair, run, key_words, query_words in _runs(translator, progress(gold)):
        for name in aligners:
            values = _by_words(_values(translator, run, name), key_words, len(pair.source), name)  # (C, T, words)
            for convention, by_name in counted.items():
                if name in by_name:
                    first = 0 if convention == "output" else 1
                    rows = values[:, first : first + len(query_words)]
                    by_name[name].append(_count(rows, query_words, pair))
    return {
        convention: {name: _counts(choices[name], each) for name, each in by_name.items()}
        for convention, by_name in counted.items()
    }


def method_errors(
    translator: Translator,
    gold: Sequence[GoldAlignment],
    *,
    methods: Sequence[Method],
    progress: Progress = iter,
) -> dict[Method, float]:
    """Return the alignment error rate, 0 to 1, of each method, with STEPS of integrated gradients.

    Words are linked as in `method_counts`; rows are named after the generated token.

    Args:
        translator: The model.
        gold: Sentences with links, at least one.
        methods: Some of `METHODS`.
        progress: Wraps the sentences in a progress bar.
    """
    hits, totals = np.zeros(len(methods)), np.zeros(len(methods))
    for pair, run, key_words, query_words in _runs(translator, progress(gold)):
        values = (attribute(translator, run, method=method, steps=STEPS).source.detach()[None] for method in methods)
        words = [_by_words(each, key_words, len(pair.source), name) for each, name in zip(values, methods, strict=True)]
        rows = np.concatenate(words)[:, : len(query_words)]
        of_pair = _count(rows, query_words, pair)
        hits += of_pair[0]
        totals += of_pair[1]
    return dict(zip(methods, _error_rate(hits[:, None], totals[:, None]).tolist(), strict=True))


def _runs(
    translator: Translator, gold: Iterable[GoldAlignment]
) -> Iterator[tuple[GoldAlignment, TeacherForcedRun, WordNumbers, WordNumbers]]:
    """Yield each sentence with its run, and the words of its source and target tokens."""
    for pair in gold:
        source, target = " ".join(pair.source), " ".join(pair.target)
        key_words = word_of_each_token(translator.encode(source), pair.source)
        query_words = word_of_each_token(translator.encode_target(target), pair.target)
        yield pair, teacher_forced_run(translator, source, target, points=POINTS), key_words, query_words


def _counts(choices: tuple[Choice, ...], counted: list[tuple[list[int], list[int]]]) -> Counts:
    hits, totals = (np.array(part, dtype=np.float64).T for part in zip(*counted, strict=True))
    return Counts(choices, hits, totals)


def compare(counts: dict[Aligner, Counts], *, draws: int = DRAWS, seed: int = 0) -> dict[str, Compared]:
    """Compare every method with the best single head; `any` also chooses among all methods.

    Args:
        counts: By method, with `attention-head`; at least two sentences.
        draws: Of sentences, for the interval.
        seed: Of the draws.

    Raises:
        ValueError: There is only one sentence.
    """
    number = counts[BASELINE].hits.shape[1]
    if number < _HALVES:
        raise ValueError(f"choosing on one half needs {_HALVES} sentences, not {number}")
    joint = Counts(
        tuple(choice for each in counts.values() for choice in each.choices),
        np.concatenate([each.hits for each in counts.values()]),
        np.concatenate([each.totals for each in counts.values()]),
    )
    result = {}
    everything: list[tuple[str, Counts]] = [*counts.items(), ("any", joint)]
    for name, each in everything:
        hits, totals, chosen = each.two_fold()
        difference, low, high = each.minus(counts[BASELINE], draws=draws, seed=seed)
        best = int(each.errors.argmin())
        result[name] = Compared(
            best=each.choices[best],
            best_error=float(each.errors[best]),
            error=float(_error_rate(hits, totals)),
            chosen=chosen,
            difference=difference,
            interval=(low, high),
        )
    return result


def _error_rate(hits: FloatArray, totals: FloatArray) -> FloatArray:
    """Return the error rate over the last axis, the sentences."""
    rate: FloatArray = 1.0 - hits.sum(axis=-1) / totals.sum(axis=-1)
    return rate


def _choices(translator: Translator, name: Aligner) -> tuple[Choice, ...]:
    layers, heads = range(translator.config.num_layers), range(translator.config.num_heads)
    if name in ("attention-head", "norm-head"):
        return tuple((name, str(Head("cross", layer, head))) for layer in layers for head in heads)
    if name in ("attention", "norm", "norm-ln", "alti-cross"):
        return tuple((name, str(Layer("cross", layer))) for layer in layers)
    return ((name, ""),)


def _values(translator: Translator, run: TeacherForcedRun, name: Aligner) -> Tensor:
    """Return (C, T, S), `</s>` included."""
    if name in ("rollout", "alti", *OF_OUTPUTS):
        return attribute(translator, run, method=name, steps=STEPS).source[None]  # type: ignore[arg-type]
    config, values = translator.config, []
    for layer in range(config.num_layers):
        if name in ("attention", "attention-head"):
            weights = head_weights(run, "cross", layer)
            values += [weights.mean(dim=0)] if name == "attention" else list(weights)
            continue
        cross = SubLayer.of(translator.model, run, "cross", layer)
        if name == "alti-cross":
            values.append(nearness_shares(cross))
        elif name == "norm-head":
            values += [norms(cross, "norm", head) for head in range(config.num_heads)]
        else:
            values.append(norms(cross, name, None))  # type: ignore[arg-type]
    return torch.stack(values)[:, :, : run.source.shape[1]]


def _by_words(
    values: Tensor, key_words: npt.NDArray[np.int64], words: int, name: Aligner | Method
) -> npt.NDArray[np.float32]:
    """Sum over the tokens of each word and drop the sign, but not of flow: (C, T, S) -> (C, T, words)."""
    membership = key_words[:, None] == np.arange(words)  # (tokens, words); a lone space is in none
    tokens = values[:, :, : len(key_words)].cpu().numpy()
    summed: npt.NDArray[np.float32] = (tokens.astype(np.float64) @ membership).astype(np.float32)
    return summed if name == "flow" else np.abs(summed)


def _count(
    values: npt.NDArray[np.float32], query_words: npt.NDArray[np.int64], gold: GoldAlignment
) -> tuple[list[int], list[int]]:
    """Count hits and totals of each choice: (C, tokens, words) -> C numbers each."""
    words = np.arange(values.shape[2])
    links = [links_of_head(of_choice, query_words, words) for of_choice in values]
    hits = [len(linked & gold.sure) + len(linked & gold.possible) for linked in links]
    return hits, [len(linked) + len(gold.sure) for linked in links]
