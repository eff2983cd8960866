"""Scores of heads, and heads that rest or look: hand-made maps whose answers are known, and counts head by head."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch.distributions import Categorical, kl_divergence

from transformer_core.analysis.attention_sinks import information, most_informative_head, separators, sink_shares
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
def test_shortcomings_of_heads(looking: tuple[int, int, int], resting: tuple[int, int], problems: list[str]) -> None:
    assert shortcomings(counted(looking, resting)) == problems


def test_shortcomings_are_read_from_counts_and_from_a_report() -> None:
    scores = score_heads(SENTENCES)
    assert shortcomings(head_counts(scores)) == shortcomings(head_report(scores))


SOURCE = axis(("▁a", "▁b", "▁c", "."), end=True)  # a b c . </s>
INPUTS = axis(("▁x", "▁y", "▁z"), start=True)  # <s> x y z
OUTPUTS = axis(("▁x", "▁y", "▁z"), end=True)  # x y z </s>


def known_maps() -> AttentionMaps:
    encoder = np.stack(
        [
            np.eye(5),  # each word looks at itself
            np.tile([0.0, 0.0, 0.0, 0.25, 0.75], (5, 1)),  # rests
            np.tile([0.2, 0.2, 0.2, 0.2, 0.2], (5, 1)),
        ]
    )
    decoder = np.stack([np.tri(4) / np.arange(1, 5)[:, None], np.eye(4), _first(4)])
    cross = np.stack([np.eye(4, 5), np.tile([0.3, 0.3, 0.3, 0.05, 0.05], (4, 1)), np.eye(4, 5)[:, ::-1]])
    parts = [np.asarray(each[None], dtype=np.float32) for each in (encoder, decoder, cross)]
    return AttentionMaps(
        encoder=parts[0], decoder=parts[1], cross=parts[2], source=SOURCE, inputs=INPUTS, outputs=OUTPUTS, finished=True
    )


def _first(size: int) -> npt.NDArray[np.float64]:
    """Every row looks at the first key."""
    return np.eye(1, size).repeat(size, axis=0)


def test_separators_are_special_tokens_and_punctuation() -> None:
    assert separators(SOURCE).tolist() == [False, False, False, True, True]
    assert separators(INPUTS).tolist() == [True, False, False, False]
    assert separators(axis(("▁", "▁don", "'", "t", "▁5", "▁ein", "▁한"))).tolist() == [True, False, True] + [False] * 4


def test_a_head_rests_where_its_weight_is_on_separators() -> None:
    maps = known_maps()
    assert sink_shares(maps, "encoder")[0] == pytest.approx([0.0, 1.0, 0.4])
    # Rows x, y, z of uniform attention to what was read give <s> a half, a third and a quarter.
    assert sink_shares(maps, "decoder")[0] == pytest.approx([(1 / 2 + 1 / 3 + 1 / 4) / 3, 0.0, 1.0])
    assert sink_shares(maps, "cross")[0] == pytest.approx([0.0, 0.1, 2 / 3])  # x looks at </s>, y at "."


def mutual_information(rows: npt.NDArray[np.float64]) -> float:
    """sum p(q, k) log(p(q, k) / p(q) p(k)), cell by cell."""
    total, marginal = 0.0, rows.mean(axis=0)
    for row in rows:
        for key, weight in enumerate(row):
            if weight > 0:
                total += weight / len(rows) * math.log(weight / marginal[key])
    return total


@pytest.mark.parametrize("kind", ["encoder", "cross"])
def test_information_is_the_mutual_information_of_query_and_key(kind: Kind) -> None:
    maps = known_maps()
    expected = [mutual_information(head[:3].astype(float)) / math.log(5) for head in maps.weights(kind)[0]]
    assert information(maps, kind)[0] == pytest.approx(expected)
    assert expected[0] == pytest.approx(math.log(3) / math.log(5)) and expected[1] == pytest.approx(0)


def test_the_causal_mask_alone_is_no_information() -> None:
    result = information(known_maps(), "decoder")[0]
    uniform = mutual_information((np.tri(4) / np.arange(1, 5)[:, None])[1:])
    assert result[0] == pytest.approx(0, abs=1e-6)
    assert result[1] == pytest.approx((math.log(3) - uniform) / math.log(4))


def test_the_head_to_open_looks_at_words() -> None:
    maps = known_maps()
    assert str(most_informative_head(maps, "encoder")) == "encoder.1.1"
    assert str(most_informative_head(maps, "decoder")) == "decoder.1.2"
    # The last head sends every query elsewhere too, but rests.
    assert str(most_informative_head(maps, "cross")) == "cross.1.1"


def test_a_sentence_without_a_word_has_no_resting_heads() -> None:
    dots = axis((".", "!"), end=True)
    weights = np.full((1, 2, 3, 3), 1 / 3, dtype=np.float32)
    causal = np.broadcast_to((np.tri(3) / np.arange(1, 4)[:, None]).astype(np.float32), (1, 2, 3, 3))
    inputs = axis((".", "!"), start=True)
    maps = AttentionMaps(
        encoder=weights, decoder=causal, cross=weights, source=dots, inputs=inputs, outputs=dots, finished=True
    )
    for kind in ("encoder", "decoder", "cross"):
        assert not sink_shares(maps, kind).any() and not information(maps, kind).any()
