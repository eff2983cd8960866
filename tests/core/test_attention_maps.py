"""AttentionMaps and their axes: labels, checks, and tokens merged to words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_core.attention_maps import KINDS, WORD_BOUNDARY, AttentionMaps, Axis, Kind

SOURCE = Axis(("▁un", "real", "▁dog", "</s>"), (0, 0, 1, 2), (False, False, False, True))
INPUTS = Axis(("<s>", "▁Hun", "d"), (0, 1, 1), (True, False, False))
OUTPUTS = Axis(("▁Hun", "d", "</s>"), (0, 0, 1), (False, False, True))


def stochastic(*shape: int, seed: int = 0) -> npt.NDArray[np.float32]:
    weights = np.random.default_rng(seed).random(shape, dtype=np.float32)
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights


def maps() -> AttentionMaps:
    return AttentionMaps(
        stochastic(2, 3, 4, 4), stochastic(2, 3, 3, 3, seed=1), stochastic(2, 3, 3, 4, seed=2), SOURCE, INPUTS, OUTPUTS
    )


@st.composite
def axes(draw: st.DrawFn) -> Axis:
    steps = draw(st.lists(st.integers(0, 1), max_size=7))
    words = tuple(int(w) for w in np.cumsum([0, *steps]))
    return Axis(tuple(f"t{i}" for i in range(len(words))), words, (False,) * len(words))


def test_labels_of_the_three_kinds() -> None:
    m = maps()
    assert (m.queries("encoder"), m.keys("encoder")) == (SOURCE, SOURCE)
    assert (m.queries("decoder"), m.keys("decoder")) == (INPUTS, INPUTS)
    assert (m.queries("cross"), m.keys("cross")) == (OUTPUTS, SOURCE)
    assert (m.layers("cross"), m.heads("cross")) == (2, 3)
    for kind in KINDS:
        assert m.weights(kind).shape == (2, 3, len(m.queries(kind)), len(m.keys(kind)))


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'self'.*encoder, decoder, cross"):
        maps().weights("self")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_weights_that_do_not_fit_their_labels_are_refused(kind: Kind) -> None:
    m = maps()
    arrays = {k: m.weights(k) for k in KINDS}
    arrays[kind] = arrays[kind][..., :-1]
    with pytest.raises(ValueError, match=kind):
        AttentionMaps(arrays["encoder"], arrays["decoder"], arrays["cross"], SOURCE, INPUTS, OUTPUTS)


@pytest.mark.parametrize("words", [(1, 1), (0, 2), (1, 0), (0, -1)])
def test_word_numbers_that_skip_or_fall_are_refused(words: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="word numbers"):
        Axis(("a", "b"), words, (False, False))
    with pytest.raises(ValueError, match="2 tokens has 1 word"):
        Axis(("a", "b"), words[:1], (False, False))


def test_the_span_of_a_word_is_that_of_its_tokens() -> None:
    spans = ((0, 2), (2, 6), (7, 10), (10, 10))
    assert replace(SOURCE, spans=spans).merged().spans == ((0, 6), (7, 10), (10, 10)) and SOURCE.merged().spans == ()
    with pytest.raises(ValueError, match="and 3 spans"):
        replace(SOURCE, spans=spans[:3])


def test_words_of_an_axis() -> None:
    assert SOURCE.word_texts == ("unreal", "dog", "</s>")
    merged = SOURCE.merged()
    assert merged.tokens == ("unreal", "dog", "</s>")
    assert merged.words == (0, 1, 2)
    assert merged.special == (False, False, True)
    assert WORD_BOUNDARY not in "".join(merged.tokens)
    assert Axis((), (), ()).word_texts == ()


def test_merging_worked_by_hand() -> None:
    cross = np.array([[[[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.3, 0.1], [0.0, 0.0, 0.0, 1.0]]]], dtype=np.float32)
    encoder, decoder = stochastic(1, 1, 4, 4), stochastic(1, 1, 3, 3)
    merged = AttentionMaps(encoder, decoder, cross, SOURCE, INPUTS, OUTPUTS).merged_to_words()
    # Keys "▁un" + "real" are summed; queries "▁Hun" and "d" are averaged.
    np.testing.assert_allclose(merged.cross[0, 0], [[0.45, 0.3, 0.25], [0.0, 0.0, 1.0]], atol=1e-7)
    assert merged.outputs.tokens == ("Hund", "</s>")
    assert merged.inputs.tokens == ("<s>", "Hund")
    assert merged.source.tokens == ("unreal", "dog", "</s>")


@given(axes(), axes(), axes())
def test_merged_rows_still_sum_to_one_and_agree_with_loops(source: Axis, inputs: Axis, outputs: Axis) -> None:
    s, t, o = len(source), len(inputs), len(outputs)
    encoder, decoder, cross = stochastic(2, 2, s, s), stochastic(2, 2, t, t, seed=1), stochastic(2, 2, o, s, seed=2)
    m = AttentionMaps(encoder, decoder, cross, source, inputs, outputs)
    merged = m.merged_to_words()
    for kind in KINDS:
        weights = merged.weights(kind)
        assert weights.dtype == np.float32
        np.testing.assert_allclose(weights.sum(axis=-1), 1.0, atol=1e-5)
        rows, columns = m.queries(kind).words, m.keys(kind).words
        for i in range(weights.shape[2]):
            queries = [q for q, word in enumerate(rows) if word == i]
            for j in range(weights.shape[3]):
                keys = [k for k, word in enumerate(columns) if word == j]
                by_hand = np.mean([m.weights(kind)[1, 0, q, keys].sum() for q in queries])
                assert float(weights[1, 0, i, j]) == pytest.approx(float(by_hand), abs=1e-5)


def test_a_translation_cut_off_within_a_word() -> None:
    outputs = Axis(("▁Ha", "us", "▁Hun"), (0, 0, 1), (False,) * 3)
    inputs = Axis(("<s>", "▁Ha", "us"), (0, 1, 1), (True, False, False))
    m = AttentionMaps(
        stochastic(1, 1, 4, 4), stochastic(1, 1, 3, 3), stochastic(1, 1, 3, 4), SOURCE, inputs, outputs, False
    )
    merged = m.merged_to_words()
    assert merged.finished is False
    assert merged.cross.shape == (1, 1, 2, 3)
