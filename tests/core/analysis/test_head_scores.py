"""Scores of heads: hand-made maps whose answers are known, and every measure counted head by head."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch.distributions import Categorical, kl_divergence

from transformer_core.analysis.attention_sinks import information, separators, sink_shares
from transformer_core.analysis.head_scores import (
    head_counts,
    head_divergence,
    head_report,
    score_heads,
    score_heads_of,
    shortcomings,
)
from transformer_core.attention_maps import AttentionMaps, Kind
from transformer_core.text.tokenizer import axis
from transformer_core.translator import Translator

RNG = np.random.default_rng(3)


def rows(*shape: int) -> npt.NDArray[np.float32]:
    """Random rows that sum to 1."""
    result = RNG.exponential(size=shape)
    return np.asarray(result / result.sum(axis=-1, keepdims=True), dtype=np.float32)


def sentence(source: int, target: int) -> AttentionMaps:
    causal = np.tri(target + 1) * rows(2, 3, target + 1, target + 1)
    return AttentionMaps(
        encoder=rows(2, 3, source + 2, source + 2),
        decoder=np.asarray(causal / causal.sum(axis=-1, keepdims=True), dtype=np.float32),
        cross=rows(2, 3, target + 1, source + 2),
        source=axis((*(f"▁a{i}" for i in range(source)), "."), end=True),
        inputs=axis(tuple(f"▁b{i}" for i in range(target)), start=True),
        outputs=axis(tuple(f"▁b{i}" for i in range(target)), end=True),
        finished=True,
    )


SENTENCES = [sentence(4, 5), sentence(7, 3), sentence(2, 2)]


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_scores_are_the_means_over_sentences_and_queries(kind: Kind) -> None:
    result = score_heads(SENTENCES)[kind]
    assert result.information == pytest.approx(np.mean([information(each, kind) for each in SENTENCES], axis=0))
    assert result.sink_share == pytest.approx(np.mean([sink_shares(each, kind) for each in SENTENCES], axis=0))
    for layer in range(2):
        for head in range(3):
            offsets: list[int] = []
            for each in SENTENCES:
                words = ~separators(each.queries(kind))
                weights = each.weights(kind)[layer, head]
                offsets += [int(row.argmax()) - query for query, row in enumerate(weights) if words[query]]
            shares = [offsets.count(offset) / len(offsets) for offset in range(-6, 7)]
            assert result.fixed_offset[layer, head] == pytest.approx(max(shares))


def jensen_shannon(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    first, second = (Categorical(torch.from_numpy(each)) for each in (one, other))
    mean = Categorical((first.probs + second.probs) / 2)
    return float((kl_divergence(first, mean) + kl_divergence(second, mean)) / 2)


def test_divergence_of_two_heads_is_the_mean_over_queries() -> None:
    weights = np.asarray(rows(2, 3, 5, 6), dtype=np.float64)
    result = head_divergence(weights)
    for layer in range(2):
        for one in range(3):
            for other in range(3):
                pairs = zip(weights[layer, one], weights[layer, other], strict=True)
                expected = np.mean([jensen_shannon(a, b) for a, b in pairs])
                assert result[layer, one, other] == pytest.approx(expected, abs=1e-6)


def test_heads_that_look_rest_or_stay_at_one_offset_are_told_apart() -> None:
    before = np.eye(7, k=-1) + np.eye(7) * ([1] + [0] * 6)  # each word at the one before it
    stripe = np.tile([0, 0, 0, 0, 0, 0, 1.0], (7, 1))  # all at </s>
    shuffled = np.eye(7)[[3, 0, 4, 1, 2, 5, 6]]  # each word at a key of its own
    encoder = np.stack([before, stripe, shuffled])[None].astype(np.float32)
    maps = AttentionMaps(
        encoder=encoder,
        decoder=np.tile(np.tri(4) / np.arange(1, 5)[:, None], (1, 3, 1, 1)).astype(np.float32),
        cross=np.full((1, 3, 4, 7), 1 / 7, dtype=np.float32),
        source=axis(tuple(["▁a", "▁b", "▁c", "▁d", "▁e", "▁f"]), end=True),
        inputs=axis(("▁x", "▁y", "▁z"), start=True),
        outputs=axis(("▁x", "▁y", "▁z"), end=True),
        finished=True,
    )
    report = head_report(score_heads([maps]))
    assert report["encoder"]["looking_by_layer"] == [2]
    assert report["encoder"]["resting_by_layer"] == [1]
    assert report["encoder"]["fixed_offset"] == 1
    assert report["encoder"]["median_divergence"] == pytest.approx(math.log(2), abs=0.1)
    for kind in ("decoder", "cross"):  # even rows say nothing
        assert report[kind]["looking"] == 0
        assert report[kind]["median_divergence"] == 0


def test_a_translator_reads_the_pairs_and_leaves_out_those_that_are_too_long(learned: Translator) -> None:
    pairs = [("a b c", "c b a"), ("b a", "a b")]
    result = score_heads_of(learned, pairs)
    expected = score_heads(learned.teacher_force(*pair).attention for pair in pairs)
    too_long = " ".join(["a"] * 5000)
    again = score_heads_of(learned, [*pairs, (too_long, "a")])
    for kind, scores in expected.items():
        assert np.array_equal(result[kind].information, scores.information)
        assert np.array_equal(again[kind].information, scores.information)
    with pytest.raises(ValueError, match="no sentences"):
        score_heads_of(learned, [])


def counted(looking: tuple[int, int, int], resting: tuple[int, int]) -> dict[str, dict[str, int]]:
    """Ten heads of each kind."""
    counts = zip(("encoder", "decoder", "cross"), looking, (*resting, 10), strict=True)
    return {kind: {"heads": 10, "looking": look, "resting": rest} for kind, look, rest in counts}


@pytest.mark.parametrize(
    ("looking", "resting", "problems"),
    [
        ((5, 5, 9), (1, 1), []),
        ((0, 10, 10), (2, 0), []),
        ((5, 4, 9), (1, 1), ["9 of 20 encoder and decoder heads look, but 50% should"]),
        ((5, 5, 8), (1, 1), ["8 of 10 cross heads look, but 90% should"]),
        ((5, 5, 9), (1, 2), ["3 of 20 encoder and decoder heads rest, but at most 10% should"]),
    ],
)
def test_a_model_falls_short_where_too_few_heads_look(
    looking: tuple[int, int, int], resting: tuple[int, int], problems: list[str]
) -> None:
    assert shortcomings(counted(looking, resting)) == problems


def test_shortcomings_are_read_from_counts_and_from_a_report() -> None:
    scores = score_heads(SENTENCES)
    assert shortcomings(head_counts(scores)) == shortcomings(head_report(scores))
