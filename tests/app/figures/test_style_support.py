"""What the figures package says of a figure's options, against what changes when they are changed."""

from __future__ import annotations

import io
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.app.figures.samples import curves, dots, matrix, parser_output
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import VIEWS, Animation, Figure, Search, Style, effective_style, export, supported_options

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
        name: VIEWS[name].figure(maps=maps, kind="cross", search=search, **given.get(name, {}))
        for name in ("head", "layer", "lines", "beam", "compare", "decoding")
    }
    words = {"caption": "Told."}
    tree = {"maps": maps, "parse": parser_output()}
    unnamed = [replace(series, label="") for series in curves().series]
    return {
        **views,
        "tree": VIEWS["tree"].figure(**tree),
        "tinted tree": VIEWS["tree"].figure(**tree, confidence=True, step=3),
        "curves": curves(**words),
        "cut": curves(cut=12.0, **words),
        "bare curves": curves(series=unnamed, title=""),
        "matrix": matrix(**words),
        "dots": dots(**words),
        "bare dots": dots(notes=[], title=""),
        "positive": matrix(values=np.arange(1, 13.0).reshape(3, 4), diverging=False),
    }


NAMES = (
    *("head", "layer", "lines", "beam", "compare", "decoding", "curves", "cut", "bare curves", "matrix", "positive"),
    *("dots", "bare dots", "tree", "tinted tree"),
)


def drawn(figure: Figure, style: Style) -> np.ndarray:
    if isinstance(figure, Animation):
        figure = figure.still_frame
    return np.asarray(Image.open(io.BytesIO(export(figure, "png", style, dpi=72))).convert("RGB"))


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_heeds_what_it_says(name: str, maps: AttentionMaps, search: Search) -> None:
    assert set(OTHERS) == {field.name for field in fields(Style)}
    figure = samples(maps, search)[name]
    plain = drawn(figure, Style(rotation=0))  # of the angles, "auto" takes one
    for option, change in OTHERS.items():
        other = drawn(figure, Style(**{"rotation": 0, **change}))
        changed = plain.shape != other.shape or bool((plain != other).any())
        assert changed == (option in supported_options(figure)), f"{option} of {name}"
        assert option not in supported_options(figure) or option in supported_options(
            VIEWS[name].kind if name in VIEWS else type(figure)
        )


def test_a_style_without_what_makes_no_difference(maps: AttentionMaps, search: Search) -> None:
    style = Style(preset="a4", scale="grey", rotation=45, letters=True, value_range=(0.0, 0.5), legend=False)
    for figure in samples(maps, search).values():
        kept = effective_style(style, figure)
        assert kept.preset == "a4" and set(kept.as_dict()) <= supported_options(figure)
        np.testing.assert_array_equal(drawn(figure, kept), drawn(figure, style))
