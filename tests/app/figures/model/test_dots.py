"""Points in named rows: what they are given, their axes, and the files that they become."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import numpy as np
import pytest

from tests.app.figures.samples import dots, pdf_text
from viz_app.figures import Dots, DotsFigure, Style, export
from viz_app.figures.text.chart_captions import with_caption


def column(**changes: Any) -> Dots:
    return Dots(**{"values": [1.0, 2.0], "title": "t", "axis": "a", **changes})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: column(low=[1.0]), r"low has shape \(1,\), but must have a number for each of the 2 rows"),
        (lambda: column(hollow=[True]), "hollow has 1 entries, but there are 2 rows"),
        (lambda: column(values=[math.nan, math.nan]), "must hold a finite number"),
        (lambda: column(values=[1.0, math.inf]), "nothing infinite"),
        (lambda: column(values=[1.0, 0.0], log=True), "not positive"),
        (lambda: column(log=True, base=-1.0), "not positive"),
        (lambda: dots(columns=[]), "at least one row and one column"),
        (lambda: dots(row_labels=["a"]), "has 3 values for 1 rows"),
    ],
)
def test_dots_check_what_they_are_given(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_an_axis_holds_points_bands_and_base_with_room_on_either_side() -> None:
    # 0 to 10 with 8 % of 10 beside; of a logarithmic axis from 1 to e^10 the same in nats, and the other way round.
    assert column(values=[2.0, 3.0], base=0.0, high=[np.nan, 10.0], low=[np.nan, 4.0]).ends() == (-0.8, 10.8)
    ends = column(values=[1.0, math.exp(10.0)], log=True, falling=True).ends()
    assert ends == pytest.approx((math.exp(10.8), math.exp(-0.8)))
    left, right = column(values=[5.0, 5.0]).ends()
    assert left < 5.0 < right


def test_ticks_are_few_and_round() -> None:
    assert column(values=[23.7, 26.4]).ticks() == (24.0, 25.0, 26.0)
    assert column(values=[4.33, 6.11], log=True, falling=True).ticks() == (4.5, 5.0, 5.5, 6.0)
    for low, high in ((0.1, 0.13), (3.0, 900.0), (-5.0, 5.0), (1e-4, 2e-4)):
        ticks = column(values=[low, high]).ticks()
        assert 1 <= len(ticks) <= 4
        assert all(low - high < tick < 2 * high for tick in ticks)


def test_ticks_of_many_decades_are_powers_of_ten_and_told_apart() -> None:
    assert column(values=[1.2e-5, 0.9], log=True).ticks() == pytest.approx((1e-5, 1e-3, 1e-1))
    assert column(values=[1.2e-5, 0.9], log=True).ticks(2) == pytest.approx((1e-5, 1e-2))
    assert column(values=[9.5e17, 2.3e19], log=True).tick_labels() == ("10\u00b9\u2078", "10\u00b9\u2079")
    assert column(values=[19.72, 19.91]).tick_labels() == ("19.75", "19.8", "19.85", "19.9")


def test_two_columns_can_have_one_axis() -> None:
    one, other = column(values=[1.0, 2.0], holds=[1.0, 9.0]), column(values=[8.0, 9.0], holds=[1.0, 9.0])
    assert one.ends() == other.ends()


def test_numbers_without_digits_are_told_with_three() -> None:
    rounded = column(values=[0.123456, 1.25e-5], digits=None)
    assert [rounded.format_value(row) for row in (0, 1)] == ["0.123", "1.25\u00d710\u207b\u2075"]


def test_in_tex_every_point_stands_where_its_number_is() -> None:
    text = export(dots(), "tex").decode()
    for place in ("(axis cs:3.0,0)", "(axis cs:1.0,1)", "(axis cs:-1.5,0)", "(axis cs:0.0,1)", "(axis cs:2.0,2)"):
        assert f"{place} circle" in text
    assert text.count("circle") == 5, "a row without a number has no point"
    assert text.count("fill=white") == 1 and text.count("rectangle") == 2
    assert r"PPL\_\$x\$" in text and r"\textless{}b\textgreater{}right" in text
    assert text.count("xmode=log") == text.count("x dir=reverse") == 1
    assert "Shaded: luck." in text and "Shaded" not in export(dots(), "tex", Style(legend=False)).decode()


def test_files_hold_every_word_and_every_number() -> None:
    text = pdf_text(export(dots(), "pdf"))
    for word in ("Dots", "왼쪽", "PPL_$x$", "<b>right</b>", "=1+1", "너비 <i>", "\u22121.50", "3.00", "Shaded: luck."):
        assert word in text
    assert "Shaded: luck." not in pdf_text(export(dots(), "pdf", Style(legend=False)))
    rows = list(csv.DictReader(io.StringIO(export(dots(), "csv").decode("utf-8-sig"))))
    assert [(row["label"], row["title"], row["value"]) for row in rows[:4]] == [
        ("base", "왼쪽", "3.0"),
        ("base", "<b>right</b>", "-1.5"),
        ("'=1+1", "왼쪽", "1.0"),
        ("'=1+1", "<b>right</b>", "0.0"),
    ]
    assert (rows[3]["low"], rows[3]["high"], rows[3]["hollow"]) == ("-0.5", "0.5", "1")
    assert rows[4]["value"] == ""
    content = json.loads(export(dots(), "json"))
    assert content["row_labels"] == ["base", "=1+1", "너비 <i>"]
    assert content["columns"][0]["values"] == [3.0, 1.0, None]
    assert content["columns"][1]["low"] == [None, -0.5, 1.0]
    arrays = np.load(io.BytesIO(export(dots(), "npz")))
    np.testing.assert_array_equal(arrays["values"], [[3.0, -1.5], [1.0, 0.0], [np.nan, 2.0]])
    np.testing.assert_array_equal(arrays["hollow"][:, 1], [False, True, False])


def test_somebody_who_does_not_see_them_is_told_every_number(language: str) -> None:
    captioned = with_caption(dots(language=language))
    assert isinstance(captioned, DotsFigure)
    assert "왼쪽: PPL_$x$" in captioned.caption
    for words in ("base: 3.00, \u22121.50", "=1+1: 1.00, 0.00", "너비 <i>: \u2013, 2.00"):
        assert words in captioned.alt
