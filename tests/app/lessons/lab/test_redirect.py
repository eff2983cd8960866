"""The bench "Redirect": what it shows is what edits of the weights give; settings are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.app.lessons.conftest import place_of
from tests.app.lessons.lab.conftest import at
from transformer_core.attention_maps import AttentionMaps
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab
from viz_app.lessons.lab.benches.redirect.row_edits import MAX_EDITS, changed_rows, read_edits, unchanged_row
from viz_app.text.examples import EXAMPLES

TEXT = "The dog is fast."
EXAMPLE_TEXTS = tuple(EXAMPLES.values())


def no_example(number: int) -> AttentionMaps:
    raise AssertionError(f"nobody asked for sentence {number}")


def test_a_row_comes_from_an_example_sentence(context: LessonContext, translator: Translator) -> None:
    """Key by key from the start, end of sentence to end of sentence; what is left sums to 1."""
    other = translator.translate(EXAMPLE_TEXTS[3], beam=4).attention
    for kind in ("encoder", "decoder", "cross"):
        there = at(context, chosen=f"{kind}.2.1", query=2.0, edits=f"{kind[0]}2.1.2s3")
        result = lab.data(there)
        after = result.arrays["row_after"]
        row = other.weights(kind)[1, 0, 2]
        expected = np.zeros(len(after))
        if kind == "decoder":
            expected[:] = row[:3]
        else:
            inner = min(len(after), len(row)) - 1
            expected[:inner], expected[-1] = row[:inner], row[-1]
        np.testing.assert_allclose(after, expected / expected.sum(), atol=1e-4)
        assert result.values["redirect"]["edits"][0]["sentence"] == EXAMPLE_TEXTS[3]
    assert read_edits(f"c1.1.1s{len(EXAMPLE_TEXTS)}", context.result.maps, len(EXAMPLE_TEXTS)) == []


def test_nothing_is_changed_at_first(context: LessonContext) -> None:
    result = lab.data(context)
    np.testing.assert_array_equal(result.arrays["row_before"], result.arrays["row_after"])
    np.testing.assert_allclose(result.arrays["changes"], 0, atol=1e-6)
    assert result.values["redirect"]["edits"] == [] and result.values["redirect"]["written"] is None


@pytest.mark.parametrize(
    ("kind", "query", "action", "expected"),
    [
        ("cross", 1, "o2", lambda row: np.eye(len(row))[2]),
        ("encoder", 2, "x0", lambda row: np.where(np.arange(len(row)) == 0, 0, row) / (1 - row[0])),
        ("decoder", 2, "a", lambda row: np.full(len(row), 1 / len(row))),
        ("cross", 0, "w1.40", lambda row: np.where(np.arange(len(row)) == 1, 0.4, row * 0.6 / (1 - row[1]))),
    ],
)
def test_a_row_is_changed(context: LessonContext, kind: Any, query: int, action: str, expected: Any) -> None:
    there = at(context, chosen=f"{kind}.2.1", query=float(query), edits=f"{kind[0]}2.1.{query}{action}", write=True)
    result = lab.data(there)
    maps = there.result.maps
    row = maps.weights(kind)[1, 0, query]
    row = row[: query + 1] if kind == "decoder" else row
    np.testing.assert_allclose(result.arrays["row_before"], row, atol=1e-4)
    np.testing.assert_allclose(result.arrays["row_after"], expected(row), atol=1e-4)
    values = result.values["redirect"]
    after = [share for _, _, share in values["top"]][:5]
    assert after == sorted(after, reverse=True) and values["written"] is not None
    assert place_of(lab.selection("redirect", there)) == (kind, 1, 0)


def test_changes_follow_each_other_and_another_head_s_row_is_copied(context: LessonContext) -> None:
    maps = context.result.maps
    edits = read_edits("c1.1.1h2_c1.1.1x0_c2.1.0a", maps, 0)
    rows = changed_rows(edits, maps, no_example)
    assert set(rows) == {("cross", 0, 0, 1), ("cross", 1, 0, 0)}
    copied = np.array(unchanged_row(maps, ("cross", 0, 1, 1)))
    copied[0] = 0
    np.testing.assert_allclose(rows["cross", 0, 0, 1], copied / copied.sum(), atol=1e-6)


WRONG_PLACES = ["", "c", "<script>", "z1.1.0a", "c9.1.0a", "c0.1.0a", "c1.0.0a", "c1.1.999a"]


@pytest.mark.parametrize("text", [*WRONG_PLACES, "c1.1.0o99", "d1.1.1x2", "c1.1.0w1.101", "c1.1.0h0", "c1.1.0h9"])
def test_what_makes_no_sense_is_left_out(context: LessonContext, text: str) -> None:
    assert read_edits(text, context.result.maps, len(EXAMPLE_TEXTS)) == []
    assert lab.data(at(context, edits=text)).answers["edits"] == text


def test_there_are_so_many_changes_at_most(context: LessonContext) -> None:
    assert len(read_edits("_".join(["c1.1.0a"] * 40), context.result.maps, 0)) == MAX_EDITS
