"""Charts and lines as data, and curves that are read at a cut."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from tests.app.figures.samples import curves, drawn, matrix, pdf_text
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import (
    VIEWS,
    CurvesFigure,
    Search,
    Series,
    export,
    file_name,
)
from viz_app.figures.plotly import curves as on_screen
from viz_app.figures.text.chart_captions import with_caption


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


X = np.arange(0, 10, 0.25)
SINES = CurvesFigure(
    series=[Series(x=X, y=np.sin(X), label="sin"), Series(x=X[:9], y=2 * X[:9], label="2x")],
    x_title="pos",
    y_title="y",
    title="Waves",
    cut=1.5,
)


def test_readings_are_the_values_at_the_cut() -> None:
    assert SINES.readings() == pytest.approx((np.sin(1.5), 3.0))
    beyond = replace(SINES, cut=5.0).readings()
    assert beyond[0] == pytest.approx(np.sin(5.0)) and np.isnan(beyond[1]), "the second curve does not reach so far"
    assert SINES.formatted_readings() == ("+1.00", "+3.00")
    assert replace(SINES, cut=None).readings() == ()
    large = curves(series=[Series(x=[0, 1], y=[0, 12_000], label="a")], cut=0.5)
    assert large.formatted_readings() == ("6000",)


def test_a_cut_beside_all_curves_is_refused() -> None:
    with pytest.raises(ValueError, match=r"cut is 99, but must be between 0 and 9\.75"):
        replace(SINES, cut=99)


def test_the_page_tells_the_place_and_the_readings() -> None:
    text = pdf_text(export(SINES, "pdf"))
    for expected in ("pos = 1.5", "+1.00", "+3.00"):
        assert expected in text
    assert "pos = 1.5" not in pdf_text(export(replace(SINES, cut=None), "pdf"))
    expected = json.loads(export(SINES, "json"))
    assert expected["cut"] == 1.5 and expected["readings"] == pytest.approx([np.sin(1.5), 3.0])
    assert "cut" not in json.loads(export(replace(SINES, cut=None), "json"))
    assert "+3.00" in export(SINES, "tex").decode()


def test_the_screen_has_the_line_and_the_dots() -> None:
    drawn = on_screen.curves(SINES)
    assert drawn.layout.shapes[0].x0 == 1.5
    np.testing.assert_allclose(drawn.data[-1].y, SINES.readings())
    assert not on_screen.curves(replace(SINES, cut=None)).layout.shapes


def test_the_line_stands_where_the_axis_says() -> None:
    """The ink that moves with the cut stands as far along the plot as the cut along the axis."""
    pictures = [
        np.asarray(Image.open(io.BytesIO(export(replace(SINES, cut=at), "png", dpi=144))).convert("L")) < 90
        for at in (0.0, 4.875, 9.75)
    ]
    columns = [
        int((picture & ~pictures[i - 1]).sum(axis=0).argmax())  # a line is what most of a column's new ink is
        for i, picture in enumerate(pictures)
    ]
    assert columns[0] < columns[1] < columns[2]
    assert columns[1] == pytest.approx((columns[0] + columns[2]) / 2, abs=1.5)


def test_a_figure_without_words_gets_them_from_its_numbers(language: str) -> None:
    captioned = with_caption(replace(SINES, language=language))
    assert "pos" in captioned.caption and "9.75" in captioned.caption and "sin; 2x" in captioned.caption
    assert "sin +1.00; 2x +3.00" in captioned.alt
    assert with_caption(replace(SINES, caption="Mine.", alt="Ours.")).alt == "Ours."
    assert with_caption(curves(series=[Series(x=[1, 2], y=[np.nan, 3])])).caption
