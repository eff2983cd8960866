"""Columns of points: their axes and the numbers as they are written."""

from __future__ import annotations

import math
from typing import Any

import pytest

from viz_app.lessons.chart_data import dots_chart
from viz_app.lessons.dots import MISSING, Dots


def column(**changes: Any) -> Dots:
    return Dots(**{"values": [1.0, 2.0], "title": "t", "axis": "a", **changes})


def places(**changes: Any) -> list[float]:
    return [place for place, _ in column(**changes).ticks()]


def test_an_axis_holds_points_bands_and_base_with_room_on_either_side() -> None:
    # 0 to 10 with 8 % of 10 beside; of a logarithmic axis from 1 to e^10 the same in nats, and the other way round.
    assert column(values=[2.0, 3.0], base=0.0, bands=[MISSING, (4.0, 10.0)]).ends() == (-0.8, 10.8)
    ends = column(values=[1.0, math.exp(10.0)], log=True, falling=True).ends()
    assert ends == pytest.approx((math.exp(10.8), math.exp(-0.8)))
    left, right = column(values=[5.0, 5.0]).ends()
    assert left < 5.0 < right


def test_ticks_are_few_and_round() -> None:
    assert places(values=[23.7, 26.4]) == [24.0, 25.0, 26.0]
    assert places(values=[4.33, 6.11], log=True, falling=True) == [4.5, 5.0, 5.5, 6.0]
    for low, high in ((0.1, 0.13), (3.0, 900.0), (-5.0, 5.0), (1e-4, 2e-4)):
        ticks = places(values=[low, high])
        assert 1 <= len(ticks) <= 4
        assert all(low - high < tick < 2 * high for tick in ticks)


def test_ticks_of_many_decades_are_powers_of_ten_and_told_apart() -> None:
    assert places(values=[1.2e-5, 0.9], log=True) == pytest.approx([1e-5, 1e-3, 1e-1])
    labels = [label for _, label in column(values=[9.5e17, 2.3e19], log=True).ticks()]
    assert labels == ["10\u00b9\u2078", "10\u00b9\u2079"]
    assert [label for _, label in column(values=[19.72, 19.91]).ticks()] == ["19.75", "19.8", "19.85", "19.9"]


def test_two_columns_can_have_one_axis() -> None:
    one, other = column(values=[1.0, 2.0], holds=[1.0, 9.0]), column(values=[8.0, 9.0], holds=[1.0, 9.0])
    assert one.ends() == other.ends()


def test_a_chart_has_null_where_there_is_no_number() -> None:
    banded = column(values=[1.23456789, MISSING[0]], bands=[(1.0, 2.0), MISSING], digits=1)
    plain, other = dots_chart(["a", "b"], [column(), banded], "row")["columns"]
    assert plain["low"] is None and plain["hollow"] == [False, False] and plain["texts"] == ["1.00", "2.00"]
    assert other["values"] == [1.234568, None] and other["texts"] == ["1.2", "\u2013"]
    assert (other["low"], other["high"]) == ([1.0, None], [2.0, None])
