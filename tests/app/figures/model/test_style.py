"""Styles: their values, and what each figure supports."""

from __future__ import annotations

import io
import json
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.app.figures.samples import curves, flows, matrix, parser_output
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import PRESETS, VIEWS, Animation, Figure, Search, Style, export, supported_options


def test_a_style_survives_json() -> None:
    style = Style(preset="acl-column", value_range=(0.0, 0.5), scale="cividis", letters=True, rotation=45, font_pt=7.0)
    assert Style.from_dict(json.loads(json.dumps(style.as_dict()))) == style
    assert Style().as_dict() == {}


def test_a_preset_gives_what_is_not_given_otherwise() -> None:
    assert (Style(preset="acl-column").width, Style(preset="acl-column").height) == (77, None)
    slide = Style(preset="slide")
    assert (slide.width, slide.height, slide.font) == (254, 143, 14)
    assert Style(preset="slide", font_pt=10).font == 10
    narrow = Style(preset="slide", width_mm=100)
    assert (narrow.width, narrow.height) == (100, None)
    assert all(Style(preset=name).width for name in PRESETS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "poster"}, "preset is 'poster', but must be one of '', acl-column, acl-page"),
        ({"width_mm": 5}, "width_mm is 5, but must be between 20 and 2000"),
        ({"width_mm": float("nan")}, "width_mm is nan"),
        ({"height_mm": 5000}, "height_mm is 5000, but must be between 15 and 2000"),
        ({"font_pt": 1}, "font_pt is 1, but must be between 3 and 48"),
        ({"scale": "jet"}, "scale is 'jet', but must be one of headlight, grey, viridis, cividis"),
        ({"mapping": "log"}, "mapping is 'log', but must be one of linear, sqrt"),
        ({"rotation": 30}, "rotation is 30, but must be one of auto, 0, 45, 90"),
        ({"theme": "sepia"}, "theme is 'sepia', but must be one of light, dark"),
        ({"title": 1}, "title is 1, but must be one of True, False"),
        ({"value_range": (1, 0)}, 'value_range is .* but must be None .0 to 1., "shared", or two numbers'),
        ({"value_range": "own"}, "value_range is 'own'"),
        ({"value_range": (0, float("inf"))}, "value_range"),
    ],
)
def test_what_is_not_allowed_is_said_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        Style(**options)
    assert "\n" not in str(error.value)


def test_an_unknown_option_says_what_is_allowed() -> None:
    with pytest.raises(ValueError, match="style option is 'colour', but must be one of preset, width_mm, height_mm"):
        Style.from_dict({"colour": "red"})


# Another value for each field of a style; weights of the samples lie below 0.9.
OTHERS: dict[str, dict[str, Any]] = {
    "preset": {"preset": "acl-column"},
    "width_mm": {"width_mm": 61.0},
    "height_mm": {"height_mm": 95.0},
    "font_pt": {"font_pt": 11.0},
    "scale": {"scale": "viridis"},
    "value_range": {"value_range": (0.0, 0.4)},
    "mapping": {"mapping": "sqrt"},
    "rotation": {"rotation": 90},
    "title": {"title": False},
    "caption": {"caption": True},
    "legend": {"legend": False},
    "letters": {"letters": True},
    "theme": {"theme": "dark"},
}


def samples(maps: AttentionMaps, search: Search) -> dict[str, Figure]:
    given: dict[str, dict[str, Any]] = {"compare": {"other_head": 1}, "lines": {"heads": (0, 1)}}
    views = {
        name: VIEWS[name].draw(maps=maps, kind="cross", search=search, **given.get(name, {}))
        for name in ("head", "layer", "lines", "beam", "compare", "decoding")
    }
    flow = {"flows": flows(maps), "word": 2}
    words = {"caption": "Told."}
    tree = {"maps": maps, "parse": parser_output()}
    unnamed = [replace(series, label="") for series in curves().series]
    return {
        **views,
        "flow": VIEWS["flow"].draw(**flow),
        "unfolded flow": VIEWS["flow"].draw(**flow, unfold=True, share=10),
        "tree": VIEWS["tree"].draw(**tree),
        "tinted tree": VIEWS["tree"].draw(**tree, confidence=True, step=3),
        "curves": curves(**words),
        "cut": curves(cut=12.0, **words),
        "bare curves": curves(series=unnamed, title=""),
        "matrix": matrix(**words),
        "positive": matrix(values=np.arange(1, 13.0).reshape(3, 4), diverging=False),
    }


def drawn(figure: Figure, style: Style) -> np.ndarray:
    if isinstance(figure, Animation):
        figure = figure.still_frame
    return np.asarray(Image.open(io.BytesIO(export(figure, "png", style, dpi=72))).convert("RGB"))


def test_a_figure_heeds_what_it_says(maps: AttentionMaps, search: Search) -> None:
    assert {*OTHERS, "outlines"} == {field.name for field in fields(Style)}, "outlines are of SVG: test_files.py"
    for name, figure in samples(maps, search).items():
        plain = drawn(figure, Style(rotation=0))  # of the angles, "auto" takes one
        of_its_kind = supported_options(VIEWS[name].kind if name in VIEWS else type(figure))
        for option, change in OTHERS.items():
            other = drawn(figure, Style(**{"rotation": 0, **change}))
            changed = plain.shape != other.shape or bool((plain != other).any())
            assert changed == (option in supported_options(figure)), f"{option} of {name}"
            assert option not in supported_options(figure) or option in of_its_kind, f"{option} of {name}"
