from __future__ import annotations

import numpy as np
import pytest

from tests.app.figures.conftest import make_maps
from tests.app.figures.samples import flows
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import VIEWS, CurvesFigure, Series, Style, check
from viz_app.figures.check import find_print_issues, message, simulate_color_vision
from viz_app.figures.colours.palette import lab_of
from viz_app.figures.model.lines import HEAD_COLORS
from viz_app.text import LANGUAGES


def codes(*arguments: object) -> set[str]:
    return {warning.code for warning in find_print_issues(*arguments)}  # type: ignore[arg-type]


@pytest.mark.parametrize("view", ["head", "lines", "layer", "flow"])
def test_a_figure_as_it_comes_is_ready_for_print(small: AttentionMaps, view: str) -> None:
    assert find_print_issues(VIEWS[view].draw(maps=small, kind="cross", flows=flows(small), word=1)) == ()


@pytest.mark.parametrize("unfold", [False, True])
def test_flows_of_long_sentences_fit_a_column(unfold: bool) -> None:
    words = tuple(f"\u2581word{i}" for i in range(30))
    figure = VIEWS["flow"].draw(
        flows=flows(make_maps(words, words, layers=2, heads=1)), word=20, unfold=unfold, share=10
    )
    assert {issue.code for issue in find_print_issues(figure, Style(preset="ieee-column"))} <= {"small"}
    assert find_print_issues(figure) == ()


def test_small_text_is_told_with_its_size(maps: AttentionMaps) -> None:
    figure = VIEWS["head"].draw(maps=maps, kind="cross")
    (warning,) = find_print_issues(figure, Style(width_mm=30, font_pt=5))
    assert warning.code in ("small", "labels")
    assert "small" in codes(figure, Style(font_pt=6))  # notes and numbers are smaller than titles
    assert "small" not in codes(figure, Style(font_pt=8))


def test_labels_that_do_not_fit_are_told() -> None:
    many = make_maps(tuple(f"\u2581w{i}" for i in range(40)), ("\u2581x",), layers=1, heads=4)
    assert "labels" in codes(VIEWS["layer"].draw(maps=many, kind="encoder"), Style(preset="acl-column"))


def test_a_figure_wider_than_a_page_is_told() -> None:
    long = make_maps(tuple(f"\u2581w{i}" for i in range(110)), ("\u2581x",), layers=1, heads=1)
    assert "wide" in codes(VIEWS["head"].draw(maps=long, kind="encoder"))


def test_characters_without_a_glyph_are_told() -> None:
    maps = make_maps(("\u2581ok", "\u2581\u4e2d\u6587"), ("\u2581x",), layers=1, heads=1)
    (warning,) = find_print_issues(VIEWS["head"].draw(maps=maps, kind="encoder"))
    assert warning.code == "glyphs"
    assert "U+4E2D" in warning.values["characters"]
    korean = make_maps(("\u2581한국어",), ("\u2581x",), layers=1, heads=1)
    assert find_print_issues(VIEWS["head"].draw(maps=korean, kind="encoder")) == ()


def test_a_difference_dies_in_greyscale_and_weights_do_not(small: AttentionMaps) -> None:
    assert "grey_two_ends" in codes(VIEWS["compare"].draw(maps=small, kind="cross", other_head=1))
    for scale in ("grey", "viridis", "cividis"):
        assert codes(VIEWS["head"].draw(maps=small, kind="cross"), Style(scale=scale)) == set()


def test_a_scale_like_a_rainbow_would_be_told(monkeypatch: pytest.MonkeyPatch, maps: AttentionMaps) -> None:
    from matplotlib import colormaps

    from viz_app.figures.colours import scales

    rainbow = (colormaps["jet"](np.arange(256))[:, :3] * 255).astype(np.uint8)
    monkeypatch.setattr(scales, "sequential", lambda name, theme: rainbow)
    assert "grey_scale" in codes(VIEWS["head"].draw(maps=maps, kind="cross"))


def test_weights_above_a_given_range_are_told(maps: AttentionMaps) -> None:
    assert "clipped" in codes(VIEWS["head"].draw(maps=maps, kind="cross"), Style(value_range=(0, 0.1)))


def test_colors_of_heads_are_apart_for_every_reader_up_to_eight(maps: AttentionMaps) -> None:
    eight = VIEWS["lines"].draw(maps=maps, kind="cross", heads=tuple(range(8)))
    assert codes(eight) == {"grey_lines"}
    assert codes(VIEWS["lines"].draw(maps=maps, kind="cross", heads=(0, 6))) == set()
    nine = make_maps(("\u2581a", "\u2581b"), ("\u2581c",), layers=1, heads=9)
    assert "blind_lines" in codes(VIEWS["lines"].draw(maps=nine, kind="cross", heads=tuple(range(9))))


def test_a_dashed_curve_is_told_from_a_full_one() -> None:
    x = np.arange(5)
    full, dashed = (
        [Series(x=x, y=x + i, label=str(i), dashed=bool(i * dash)) for i in range(9)[:: 8 if dash else 1]]
        for dash in (0, 1)
    )
    assert "blind_lines" in codes(CurvesFigure(series=full, x_title="x", y_title="y"))
    assert codes(CurvesFigure(series=dashed, x_title="x", y_title="y")) == set()


def test_red_and_green_are_one_color_without_m_cones() -> None:
    """Like lightness, opposite hue: far apart for most, near in the simulation; greys stay what they are."""
    pair = np.array([[200, 80, 60], [120, 125, 40]], dtype=np.uint8)
    seen = lab_of(pair)
    blind = lab_of(simulate_color_vision(pair, "deuteranopia"))
    assert np.linalg.norm(blind[0] - blind[1]) < 0.5 * np.linalg.norm(seen[0] - seen[1])
    greys = np.repeat(np.arange(0, 256, 51, dtype=np.uint8)[:, None], 3, axis=1)
    for vision in check.VISION:
        assert np.abs(simulate_color_vision(greys, vision).astype(int) - greys).max() <= 1
        np.testing.assert_allclose(check.VISION[vision].sum(axis=1), 1, atol=1e-5)


def test_every_warning_has_words_in_both_languages(small: AttentionMaps) -> None:
    figures = [
        (VIEWS["compare"].draw(maps=small, kind="cross", other_head=1), Style(width_mm=60, value_range=(0, 0.1))),
        (VIEWS["layer"].draw(maps=small, kind="cross"), Style(width_mm=40, height_mm=15)),
    ]
    rows = [warning for figure, style in figures for warning in find_print_issues(figure, style)]
    assert len({warning.code for warning in rows}) >= 4
    for warning in rows:
        for language in LANGUAGES:
            assert "{" not in message(warning, language)
    assert HEAD_COLORS.keys() == {"light", "dark"}
