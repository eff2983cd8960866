"""Heads that rest and heads that look: hand-made maps whose answers are known, and mutual information cell by cell."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from transformer_core.analysis.attention_sinks import information, most_informative_head, separators, sink_shares
from transformer_core.attention_maps import AttentionMaps, Kind
from transformer_core.text.tokenizer import axis

SOURCE = axis(("▁a", "▁b", "▁c", "."), end=True)  # a b c . </s>
INPUTS = axis(("▁x", "▁y", "▁z"), start=True)  # <s> x y z
OUTPUTS = axis(("▁x", "▁y", "▁z"), end=True)  # x y z </s>


def sentence() -> AttentionMaps:
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
    maps = sentence()
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
    maps = sentence()
    expected = [mutual_information(head[:3].astype(float)) / math.log(5) for head in maps.weights(kind)[0]]
    assert information(maps, kind)[0] == pytest.approx(expected)
    assert expected[0] == pytest.approx(math.log(3) / math.log(5)) and expected[1] == pytest.approx(0)


def test_the_causal_mask_alone_is_no_information() -> None:
    result = information(sentence(), "decoder")[0]
    uniform = mutual_information((np.tri(4) / np.arange(1, 5)[:, None])[1:])
    assert result[0] == pytest.approx(0, abs=1e-6)
    assert result[1] == pytest.approx((math.log(3) - uniform) / math.log(4))


def test_the_head_to_open_looks_at_words() -> None:
    maps = sentence()
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
