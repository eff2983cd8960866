"""Heads that say nothing: counts agree with the recorded weights, and the words with both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import streamlit as st

from tests.app.lessons.conftest import Visit
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.history.snapshots import History
from viz_app.lessons.heads import at_rest
from viz_app.lessons.heads import numbers as heads
from viz_app.lessons.heads.at_rest import HeadsAtRest, heads_at_rest
from viz_app.lessons.small_models import AT_REST, HISTORIES


@pytest.fixture(scope="module")
def found() -> HeadsAtRest:
    measured = heads_at_rest()
    assert measured is not None
    return measured


def is_separator(token: str) -> bool:
    return token in ("<s>", "</s>") or not any(letter.isalnum() for letter in token)


def test_the_share_on_separators_is_that_of_the_recorded_bytes(found: HeadsAtRest) -> None:
    """Against a loop over every query and key, of some heads and snapshots."""
    history = History.load(HISTORIES / AT_REST)
    places: list[tuple[Kind, int, int, int]] = [("encoder", 0, 0, 0), ("encoder", 15, 3, 5), ("decoder", 11, 2, 7)]
    for kind, snapshot, layer, head in places:
        shares = []
        for sentence in history.sentences:
            weights = sentence.weights[kind][snapshot, layer, head].astype(float)
            queries, keys = sentence.queries(kind).tokens, sentence.keys(kind).tokens
            rows = [
                sum(w for w, key in zip(row, keys, strict=True) if is_separator(key)) / row.sum()
                for row, query in zip(weights, queries, strict=True)
                if not is_separator(query)
            ]
            shares.append(np.mean(rows))
        assert found.resting[kind][snapshot, layer, head] == pytest.approx(np.mean(shares), abs=1e-6)
    for kind in KINDS:
        assert found.at_rest[kind] == (found.resting[kind] > 0.5).sum(axis=(1, 2)).tolist()
        assert found.looking[kind] == (found.information[kind] > 0.15).sum(axis=(1, 2)).tolist()


def test_the_recorded_training_is_what_the_words_say(found: HeadsAtRest) -> None:
    """Heads begin to look, then most of self-attention rests, while the translations improve."""
    resting, looking = (found.of_self_attention(counts) for counts in (found.at_rest, found.looking))
    both = 2 * found.history.model["layers"] * found.history.model["heads"]
    awake = max(range(len(looking)), key=lambda at: looking[at] - resting[at])
    assert looking[0] == 0 and looking[awake] > max(both / 4, resting[awake])
    assert resting[-1] > both / 2 and looking[-1] < looking[awake] / 2
    assert found.bleu[-1] > 2 * found.bleu[awake]
    kind = at_rest.SELF[found.turned // 48]
    layer, head = divmod(found.turned % 48, 8)
    assert found.resting[kind][-1, layer, head] > 0.5 and found.information[kind][:, layer, head].max() > 0.15


def test_only_the_open_scene_gets_the_history(visit: Visit, found: HeadsAtRest) -> None:
    other = heads.data(visit("tour"))
    assert not other.values["rest_read"] and "rest_encoder" not in other.arrays
    data = heads.data(visit("rest"))
    shown = found.history.sentences[at_rest.SENTENCE]
    assert data.values["rest"]["axes"]["source"] == list(shown.axes["source"].tokens)
    for kind in KINDS:
        assert np.array_equal(data.arrays[f"rest_{kind}"], shown.weights[kind])
        assert data.arrays[f"resting_{kind}"].shape == shown.weights[kind].shape[:3]


def test_without_the_history_the_scene_says_so(visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_rest, "HISTORIES", tmp_path)
    data = heads.data(visit("rest"))
    assert data.values["rest"] is None and data.values["rest_read"]
    st.cache_resource.clear()
