from __future__ import annotations

import numpy as np
import pytest

from tests.app.figures.colours.test_palette import luminance
from viz_app.figures import Style
from viz_app.figures.colours.palette import BACKGROUND, THEMES, Theme, scale
from viz_app.figures.colours.scales import ColorMap, differences_map, diverging, format_number, sequential, weights_map


@pytest.mark.parametrize("theme", THEMES)
def test_the_default_is_the_scale_of_the_screen(theme: Theme) -> None:
    colors = weights_map([np.eye(2)], Style(), theme)
    np.testing.assert_array_equal(colors.rgb(np.linspace(0, 1, 256)), scale(theme))


@pytest.mark.parametrize("name", ["grey", "viridis", "cividis"])
def test_every_scale_keeps_its_order_in_greyscale(name: str) -> None:
    for theme in THEMES:
        light = luminance(sequential(name, theme))
        steps = np.diff(light[::8])
        assert (steps > 0).all() or (steps < 0).all()


def test_viridis_is_matplotlibs() -> None:
    assert sequential("viridis")[0].tolist() == [68, 1, 84]  # as published by its authors
    assert sequential("viridis")[255].tolist() == [253, 231, 37]


@pytest.mark.parametrize("theme", THEMES)
def test_no_difference_has_the_color_of_the_page_and_both_ends_weigh_the_same(theme: Theme) -> None:
    colors = diverging(theme)
    assert f"#{bytes(colors[128]).hex()}" == BACKGROUND[theme]
    light = luminance(colors)
    away = np.abs(light - light[128])
    assert abs(away[0] - away[-1]) < 0.03
    assert (np.diff(away[128::8]) > 0).all()
    assert (np.diff(away[128::-8]) > 0).all()
    assert colors[0][2] > colors[0][0]  # less is blue
    assert colors[-1][0] > colors[-1][2]  # more is brown


def test_a_shared_range_ends_at_the_largest_weight() -> None:
    arrays = [np.array([[0.1, 0.3]]), np.array([[0.0, 0.4]])]
    colors = weights_map(arrays, Style(value_range="shared"), "light")
    assert (colors.low, colors.high) == (0, 0.4)
    assert colors.rgb(0.4).tolist() == scale("light")[255].tolist()
    assert weights_map(arrays, Style(value_range=(0, 0.2)), "light").rgb(0.4).tolist() == scale("light")[255].tolist()


@pytest.mark.parametrize("diverging", [False, True])
@pytest.mark.parametrize("mapping", ["linear", "sqrt"])
def test_a_place_and_its_value_belong_together(mapping: str, diverging: bool) -> None:
    colors = ColorMap(scale("light"), -0.5, 0.5, mapping, diverging)  # type: ignore[arg-type]
    places = np.linspace(0, 1, 21)
    values = [colors.value(float(place)) for place in places]
    np.testing.assert_allclose(colors.position(values), places, atol=1e-9)
    assert np.isclose(colors.value(0.5), 0.0) or not diverging


def test_the_root_of_a_quarter_is_in_the_middle() -> None:
    colors = weights_map([np.eye(2)], Style(mapping="sqrt"), "light")
    assert float(colors.position(0.25)) == 0.5
    assert colors.ticks() == (0.0, 0.25, 1.0)


def test_the_ends_of_differences_are_round_and_alike() -> None:
    colors = differences_map([np.array([[-0.433, 0.2]])], Style(), "light")
    assert (colors.low, colors.high) == (-0.5, 0.5)
    assert float(colors.position(0)) == 0.5
    assert differences_map([np.zeros((2, 2))], Style(), "light").high == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.25, "0.25"),
        (-0.5, "\u22120.5"),
        (0, "0"),
        (5000, "5000"),
        (12345, "12345"),
        (1e-5, "10\u207b\u2075"),
        (2.5e7, "2.5\u00d710\u2077"),
    ],
)
def test_numbers_beside_a_scale(value: float, text: str) -> None:
    assert format_number(value) == text
