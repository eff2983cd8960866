"""Colours of weights, differences and kinds."""

from __future__ import annotations

import numpy as np
import pytest

from viz_app.figures import Style
from viz_app.figures.colours.palette import (
    BACKGROUND,
    INK,
    KIND_COLORS,
    KIND_COLORS_DARK,
    KIND_TEXT_COLORS,
    MASK_HATCH,
    MUTED,
    THEMES,
    Theme,
    kind_color,
    scale,
)
from viz_app.figures.colours.scales import ColorMap, differences_map, diverging, format_number, sequential, weights_map


def luminance(rgb: np.ndarray) -> np.ndarray:
    """Relative luminance as WCAG 2 defines it; (..., 3) values 0 to 255."""
    share = np.asarray(rgb, dtype=float) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]))


def lightness(rgb: np.ndarray) -> np.ndarray:
    """CIE L* from luminance."""
    y = luminance(rgb)
    return np.where(y > 216 / 24389, 116 * np.cbrt(y) - 16, y * 24389 / 27)


def rgb_of(color: str) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(color[1:]), dtype=np.uint8)


def contrast(one: str, other: str) -> float:
    low, high = sorted((float(luminance(rgb_of(one))), float(luminance(rgb_of(other)))))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("theme", "background"), [("light", "#ffffff"), ("dark", "#0e1117")])
def test_scale_starts_at_the_background_so_that_zero_disappears(theme: Theme, background: str) -> None:
    colors = scale(theme)
    assert colors.shape == (256, 3)
    assert colors.dtype == np.uint8
    assert "#" + colors[0].tobytes().hex() == background == BACKGROUND[theme]
    assert (lightness(colors[-1]) < 15) if theme == "light" else (lightness(colors[-1]) > 90)


@pytest.mark.parametrize("theme", THEMES)
def test_lightness_is_strictly_monotone_and_a_straight_line(theme: Theme) -> None:
    light = lightness(scale(theme))
    steps = np.diff(light) * (1 if theme == "dark" else -1)
    assert steps.min() > 0
    assert np.abs(light - np.linspace(light[0], light[-1], 256)).max() < 0.6


@pytest.mark.parametrize("theme", THEMES)
def test_equal_steps_of_weight_look_equal(theme: Theme) -> None:
    """Colour difference (CIE 1976) of sixteen equal steps: the largest is at most 1.6 times the smallest."""
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    share = scale(theme)[::17].astype(float) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    xyz = linear @ matrix.T / matrix.sum(axis=1)
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), xyz * 841 / 108 + 4 / 29)
    lab = np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)
    steps = np.linalg.norm(np.diff(lab, axis=0), axis=1)
    assert steps.max() / steps.min() < 1.6


def test_scale_cannot_be_changed_by_a_caller() -> None:
    with pytest.raises(ValueError, match="read-only"):
        scale("light")[0] = 0


def test_a_wrong_theme_or_kind_says_what_is_allowed() -> None:
    with pytest.raises(ValueError, match="'sepia', but must be one of light, dark"):
        scale("sepia")
    with pytest.raises(ValueError, match="one of encoder, decoder, cross"):
        kind_color("both")


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_kind_colors_reach_the_contrast_that_text_and_lines_need(kind: str) -> None:
    assert contrast(KIND_COLORS[kind], BACKGROUND["light"]) >= 3  # lines and frames
    assert contrast(KIND_TEXT_COLORS[kind], BACKGROUND["light"]) >= 4.5
    assert contrast(KIND_COLORS_DARK[kind], BACKGROUND["dark"]) >= 4.5
    assert kind_color(kind) == KIND_COLORS[kind]
    assert kind_color(kind, "dark", text=True) == KIND_COLORS_DARK[kind]


@pytest.mark.parametrize("theme", THEMES)
def test_words_are_readable_and_hatching_is_seen_but_quiet(theme: Theme) -> None:
    assert contrast(INK[theme], BACKGROUND[theme]) >= 7
    assert contrast(MUTED[theme], BACKGROUND[theme]) >= 4.5
    assert 1.4 < contrast(MASK_HATCH[theme], BACKGROUND[theme]) < 3


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
