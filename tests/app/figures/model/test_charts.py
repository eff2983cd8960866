"""Charts and lines as data."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.app.figures.samples import curves, drawn, matrix, pdf_text
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import (
    VIEWS,
    Search,
    Series,
    export,
    file_name,
)


def test_curves_and_matrices_write_numbers_as_text(maps: AttentionMaps) -> None:
    text = pdf_text(export(curves(y_log=True, x_log=True), "pdf"))
    for word in ("학습률", "1/x <b>", "뿌리", "rate_$x$", "100", "0.01"):
        assert word in text
    words = pdf_text(export(matrix(), "pdf"))
    for word in ("Positions", "차원", "position", "\u22121"):
        assert word in words


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Series(x=[1, 2], y=[1]), "both must be one row of equally many numbers"),
        (lambda: Series(x=[1, math.inf], y=[1, 2]), "x that is not a finite number"),
        (lambda: curves(series=[]), "at least one series"),
        (
            lambda: curves(series=[Series(x=[0, 1], y=[1, 2], label="a")], x_log=True),
            "'a' has a x that is not positive",
        ),
        (lambda: matrix(values=[1, 2]), r"shape \(2,\), but must be \(rows, columns\)"),
        (lambda: matrix(values=[[1, math.inf]]), "row 0 of the values"),
    ],
)
def test_charts_check_what_they_are_given(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


SVG = "{http://www.w3.org/2000/svg}"


def test_lines_have_the_weights_of_their_heads(maps: AttentionMaps) -> None:
    figure = drawn("lines", maps=maps, kind="cross", layer=2, heads=(1, 4), query=3)
    links = figure.links()
    expected = {(i, 3, k): maps.cross[2, h, 3, k] for i, h in enumerate((1, 4)) for k in range(7)}
    assert {link[:3]: np.float32(link[3]) for link in links} == {p: w for p, w in expected.items() if w >= 0.01}
    assert [link[3] for link in links] == sorted(link[3] for link in links)
    assert len(set(figure.colors)) == 2
    assert "biss" in figure.caption


def test_lines_of_one_head_and_all_queries(maps: AttentionMaps) -> None:
    figure = drawn("lines", maps=maps, kind="encoder", layer=0, head=2)
    assert len({row for _, row, _, _ in figure.links()}) == 7
    assert file_name(figure, "pdf") == "headlight_encoder.1.3_lines.pdf"


def test_lines_and_trees_show_their_tokens(hostile: AttentionMaps, search: Search) -> None:
    lines = export(VIEWS["lines"].draw(maps=hostile, kind="cross"), "svg")
    texts = ["".join(e.itertext()) for e in ElementTree.fromstring(lines).iter(f"{SVG}text")]
    assert texts.count("<s>") == 2  # once on each side
    tree = pdf_text(export(VIEWS["beam"].draw(search=search, language="ko"), "pdf"))
    for text in ("<script>alert(1\u2026", "한국어", "\u22120.70", "선택된 번역", "가지치기됨"):
        assert text in tree
