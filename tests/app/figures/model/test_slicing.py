"""Curves that are read at a cut."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from tests.app.figures.samples import curves, pdf_text
from viz_app.figures import CurvesFigure, Series, export
from viz_app.figures.plotly import curves as on_screen
from viz_app.figures.text.chart_captions import with_caption

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
