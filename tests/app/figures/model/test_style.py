from __future__ import annotations

import json
from typing import Any

import pytest

from viz_app.figures import PRESETS, Style


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
