"""A component draws with the colours of the figures."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from viz_app.components.palette import palettes
from viz_app.figures.colours.palette import THEMES, Theme
from viz_app.figures.colours.scales import ColorMap, diverging, sequential
from viz_app.figures.model.style import ColorMapping


def table(text: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, 3)


@pytest.mark.parametrize("theme", THEMES)
def test_the_tables_are_those_of_print(theme: Theme) -> None:
    palette = palettes()[theme]
    np.testing.assert_array_equal(table(palette["scale"]), sequential(theme=theme))
    np.testing.assert_array_equal(table(palette["diverging"]), diverging(theme))


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("mapping", ["linear", "sqrt"])
def test_a_difference_has_one_color_on_the_screen_and_in_print(
    mapping: ColorMapping, theme: Theme, javascript: Callable[[str], Any]
) -> None:
    values = np.array([-2, -1, *np.linspace(-0.997, 0.997, 200), 0, 1, 2])
    pixels = javascript(
        f"""
        import {{ divergingPixel }} from "./components/common/draw/diverging.js";
        const bytes = Buffer.from({json.dumps(palettes()[theme]["diverging"])}, "base64");
        const theme = {{ diverging: Array.from({{ length: bytes.length / 3 }}, (_, i) => bytes.readUIntBE(3 * i, 3)) }};
        const pixels = {values.tolist()}.map((value) => divergingPixel(theme, value, "{mapping}"));
        console.log(JSON.stringify(pixels));
        """
    )
    result = np.array([[pixel >> 16, pixel >> 8 & 255, pixel & 255] for pixel in pixels])
    print_map = ColorMap(diverging(theme), -1, 1, mapping, diverging=True)
    np.testing.assert_array_equal(result, print_map.rgb(np.clip(values, -1, 1)))
