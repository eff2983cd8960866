"""From a value to its colour: the scales that a style can choose, and the one for differences.

Every renderer asks a `ColorMap`, so a value has one colour on screen, in print and in the key beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from viz_app.figures.colours import palette
from viz_app.figures.colours.palette import BACKGROUND, SCALE_STEPS, Theme, check_theme
from viz_app.figures.model.style import SCALES, ColorMapping, ScaleName, Style

Colors = npt.NDArray[np.uint8]
# Ends of the scale of differences: lightness on a light and on a dark page, chroma, hues of less and of more.
_DIVERGING = {"light": (34.0, 52.0), "dark": (76.0, 48.0)}
_LESS, _MORE = 262.0, 48.0  # blue and brown in CIELAB degrees: apart for every common kind of colour vision


@cache
def sequential(name: ScaleName = "headlight", theme: Theme = "light") -> Colors:
    """(256, 3) uint8 sRGB of a scale from low to high, read-only. Raises ValueError for an unknown name."""
    check_theme(theme)
    if name not in SCALES:
        raise ValueError(f"scale is {name!r}, but must be one of {', '.join(SCALES)}")
    if name == "headlight":
        return palette.scale(theme)
    if name == "grey":
        start = palette.to_lab(BACKGROUND[theme])
        t = np.linspace(0.0, 1.0, SCALE_STEPS)[:, None]
        return palette.from_lab(start * (1 - t) + np.array([10.0 if theme == "light" else 97.0, 0.0, 0.0]) * t)
    from matplotlib import colormaps

    colors: Colors = np.rint(colormaps[name](np.arange(SCALE_STEPS))[:, :3] * 255).astype(np.uint8)
    colors.setflags(write=False)
    return colors


@cache
def diverging(theme: Theme = "light") -> Colors:
    """(257, 3) uint8 sRGB from "less" (blue) over the page's background to "more" (brown), read-only.

    An odd number of colours, so that zero has one of its own: the background.
    """
    check_theme(theme)
    lightness, chroma = _DIVERGING[theme]
    middle = palette.to_lab(BACKGROUND[theme])
    t = np.linspace(-1.0, 1.0, SCALE_STEPS + 1)[:, None]
    ends = np.where(t < 0, _end(lightness, chroma, _LESS), _end(lightness, chroma, _MORE))
    return palette.from_lab(middle * (1 - np.abs(t)) + ends * np.abs(t))


def _end(lightness: float, chroma: float, hue: float) -> npt.NDArray[np.float64]:
    angle = np.deg2rad(hue)
    return np.array([lightness, chroma * np.cos(angle), chroma * np.sin(angle)])


@dataclass(frozen=True, eq=False)
class ColorMap:
    """Values to colours.

    Args:
        colors: (n, 3) uint8, from `low` to `high`.
        low: Value of the first colour; smaller ones get it too.
        high: Value of the last colour.
        mapping: "sqrt" takes the root of the distance from `low`; from the middle for a scale with two ends.
        diverging: Whether the middle of the scale means zero.
    """

    colors: Colors
    low: float
    high: float
    mapping: ColorMapping = "linear"
    diverging: bool = False

    def position(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Place of each value on the scale, 0 to 1."""
        share = np.clip((np.asarray(values, dtype=np.float64) - self.low) / (self.high - self.low), 0.0, 1.0)
        if self.mapping == "linear":
            return share
        if self.diverging:
            from_middle = 2 * share - 1
            return np.asarray((np.sign(from_middle) * np.sqrt(np.abs(from_middle)) + 1) / 2)
        return np.sqrt(share)

    def value(self, position: float) -> float:
        """Return the value at a place of the scale, the inverse of `position`."""
        if self.mapping == "sqrt":
            from_middle = 2 * position - 1
            position = (from_middle * abs(from_middle) + 1) / 2 if self.diverging else position**2
        return self.low + position * (self.high - self.low)

    def rgb(self, values: npt.ArrayLike) -> Colors:
        """(...) values -> (..., 3) uint8."""
        places = np.nan_to_num(self.position(values))  # renderers draw cells without a number as missing
        colors: Colors = self.colors[np.rint(places * (len(self.colors) - 1)).astype(int)]
        return colors

    def hex(self) -> tuple[str, ...]:
        """Return the colours as "#rrggbb"."""
        return tuple(f"#{r:02x}{g:02x}{b:02x}" for r, g, b in self.colors.tolist())

    def ticks(self) -> tuple[float, ...]:
        """Values to write beside the key, both ends among them."""
        if self.mapping == "sqrt":  # where even steps of colour are
            places = (0.0, 0.25, 0.5, 0.75, 1.0) if self.diverging else (0.0, 0.5, 1.0)
            return tuple(self.value(place) for place in places)
        return tuple(self.low + (self.high - self.low) * share for share in (0.0, 0.25, 0.5, 0.75, 1.0))

    def describe(self) -> str:
        """Return the scale in words for a file's record, such as "linear, 0 to 1"."""
        return f"{self.mapping}, {self.low:g} to {self.high:g}"


def weights_map(arrays: Iterable[npt.NDArray[Any]], style: Style, theme: Theme) -> ColorMap:
    """Return the one map of all panels with attention weights."""
    low, high = 0.0, 1.0
    if isinstance(style.value_range, tuple):
        low, high = style.value_range
    elif style.value_range == "shared":
        high = max((_ends(array)[1] for array in arrays), default=1.0) or 1.0
    return ColorMap(sequential(style.scale, theme), low, high, style.mapping)


def differences_map(arrays: Iterable[npt.NDArray[Any]], style: Style, theme: Theme) -> ColorMap:
    """Return the map of differences: zero in the middle, as far to both sides as the largest difference."""
    largest = max((_ends(np.abs(array))[1] for array in arrays), default=1.0) or 1.0
    if isinstance(style.value_range, tuple):
        largest = max(abs(end) for end in style.value_range)
    else:
        step = 10.0 ** math.floor(math.log10(largest))
        largest = min(float(f"{math.ceil(largest / step - 1e-6) * step:.3g}"), max(1.0, largest))
    return ColorMap(diverging(theme), -largest, largest, style.mapping, diverging=True)


def numbers_map(
    values: npt.NDArray[Any], diverging: bool, style: Style, theme: Theme, base: float | None = None
) -> ColorMap:
    """Return the map of any numbers: from the least, or from `base`, to the largest; or symmetric around zero."""
    if diverging:
        return differences_map([values], style, theme)
    low, high = _ends(values)
    if base is not None:
        low = min(low, base)
    if isinstance(style.value_range, tuple):
        low, high = style.value_range
    return ColorMap(sequential(style.scale, theme), low, high if high > low else low + 1, style.mapping)


def _ends(values: npt.NDArray[Any]) -> tuple[float, float]:
    """Return the least and the largest number; 0 and 0 where all are missing."""
    there = values[~np.isnan(values)]
    return (float(there.min()), float(there.max())) if there.size else (0.0, 0.0)


_RAISED = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")


def format_number(value: float) -> str:
    """Return a number beside a scale: three digits, a true minus sign, powers of ten only where they are shorter."""
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        digits, power = f"{value:.2e}".split("e")
        digits = digits.rstrip("0").rstrip(".")
        raised = f"10{str(int(power)).translate(_RAISED)}"
        text = raised if digits == "1" else f"{digits}\u00d7{raised}"
    else:
        text = f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return text.replace("-", "\u2212")
