"""The fingerprint of a figure: equal for equal content, another for any other number, word or origin."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.app.figures.samples import curves, every_figure
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import Figure, Search, Series
from viz_app.figures.fingerprint import fingerprint

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@pytest.fixture
def figures(maps: AttentionMaps, search: Search) -> dict[str, Figure]:
    return every_figure(maps, search)


def test_equal_figures_have_equal_fingerprints_and_no_two_others(figures: dict[str, Figure]) -> None:
    for name, figure in figures.items():
        copy = pickle.loads(pickle.dumps(dataclasses.replace(figure)))
        assert copy is not figure and copy.fingerprint == figure.fingerprint, name
    assert len({figure.fingerprint for figure in figures.values()}) == len(figures)


def test_every_word_and_the_origin_count(figures: dict[str, Figure]) -> None:
    for figure in figures.values():
        texts = [each.name for each in dataclasses.fields(figure) if isinstance(getattr(figure, each.name), str)]
        changes: dict[str, Any] = {name: f"{getattr(figure, name)} and more" for name in texts}
        changes |= {"kind": "decoder" if figure.kind != "decoder" else "cross", "theme": "dark"}
        changes |= {"provenance": {**figure.provenance, "more": 1}}
        found = {dataclasses.replace(figure, **{name: value}).fingerprint for name, value in changes.items()}
        assert len(found | {figure.fingerprint}) == len(changes) + 1


def test_every_cell_counts(figures: dict[str, Figure]) -> None:
    panel = figures["head"].panels[0]  # type: ignore[attr-defined]
    for place in np.ndindex(panel.weights.shape):
        weights = panel.weights.copy()
        weights[place] = np.nextafter(weights[place], np.float32(1))
        changed = dataclasses.replace(figures["head"], panels=[dataclasses.replace(panel, weights=weights)])  # type: ignore[call-arg]
        assert changed.fingerprint != figures["head"].fingerprint, place


def test_two_measurements_of_one_machine_differ() -> None:
    def timed(y: list[float]) -> Figure:
        return curves(series=[Series(x=[1.0, 2.0], y=y)], provenance={"machine": "this", "passes": 3})

    assert timed([1.0, 2.0]).fingerprint == timed([1.0, 2.0]).fingerprint != timed([1.0, 2.5]).fingerprint


@given(VALUES, VALUES)
def test_two_values_share_a_fingerprint_only_when_they_are_the_same(one: Any, other: Any) -> None:
    def told(value: Any) -> Any:  # tells 1, 1.0 and True apart, as JSON written by Python does; a dict has no order
        if isinstance(value, dict):
            return ["dict", sorted(([name, told(inner)] for name, inner in value.items()), key=repr)]
        return ["list", *map(told, value)] if isinstance(value, list) else repr(value)

    assert (fingerprint(one) == fingerprint(other)) == (told(one) == told(other))


@given(arrays.arrays(np.float32, arrays.array_shapes(max_dims=3, max_side=4), elements={"allow_nan": False}))
def test_shape_type_and_order_in_memory(array: np.ndarray[Any, np.dtype[np.float32]]) -> None:
    assert fingerprint(np.asfortranarray(array)) == fingerprint(array)
    assert fingerprint(array[None]) != fingerprint(array)
    assert fingerprint(array.astype(np.float64)) != fingerprint(array)
