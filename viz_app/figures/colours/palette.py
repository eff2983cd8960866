"""The colours of every picture: one scale for attention weights, one colour for each kind of attention.

Screen (Plotly, canvas) and print (matplotlib) read the same tables, so a weight has the same colour everywhere.
The scale is computed, not listed: lightness L* falls (light theme) or rises (dark theme) in equal steps, which keeps
it uniform for the eye, monotone in grey print and readable without colour vision; hue and chroma only support it.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
SCALE_STEPS = 256
_LIGHT = 49.4  # lightness L* from which black letters have more contrast than white ones; both have 4.5 there

# Page background and text; entry 0 of the scale is the background, so that a weight of zero disappears.
BACKGROUND: dict[str, str] = {"light": "#ffffff", "dark": "#0e1117"}
INK: dict[str, str] = {"light": "#1a1d24", "dark": "#f2f4f8"}
MUTED: dict[str, str] = {"light": "#5b6270", "dark": "#a4acba"}  # secondary text, contrast at least 4.5:1
MASK_HATCH: dict[str, str] = {"light": "#c3c8d1", "dark": "#4b5364"}  # strokes of cells that are forbidden

# Okabe and Ito's blue, vermilion and bluish green: told apart with every common kind of colour vision.
KIND_COLORS: dict[str, str] = {"encoder": "#0072B2", "decoder": "#D55E00", "cross": "#009E73"}
KIND_COLORS_DARK: dict[str, str] = {"encoder": "#56B4E9", "decoder": "#F5843B", "cross": "#2FC79A"}
# Vermilion and green reach only 3.9:1 and 3.4:1 on white; as text they need the same hue, darker.
KIND_TEXT_COLORS: dict[str, str] = {"encoder": "#0072B2", "decoder": "#B85000", "cross": "#007A59"}

_WHITE = (0.95047, 1.0, 1.08883)  # D65, the white of sRGB
_RGB_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
# Lightness, chroma and hue (degrees) of the far end, chroma of the bulge between, and its hue near zero and near one.
_PATHS: dict[str, tuple[float, float, float, float, float, float]] = {
    "light": (10.0, 16.0, 285.0, 30.0, 235.0, 285.0),
    "dark": (97.0, 8.0, 110.0, 30.0, 285.0, 195.0),
}


def check_theme(theme: str) -> None:
    """Raise ValueError unless `theme` is "light" or "dark"."""
    if theme not in THEMES:
        raise ValueError(f"theme is {theme!r}, but must be one of {', '.join(THEMES)}")


@cache
def scale(theme: Theme = "light") -> npt.NDArray[np.uint8]:
    """Return the colours of weights 0 to 1.

    Returns:
        (256, 3) uint8 sRGB, read-only; entry 0 is the page's background, entry 255 the colour of weight 1.

    Raises:
        ValueError: The theme is neither "light" nor "dark".
    """
    check_theme(theme)
    lightness, chroma, hue, bulge, hue_first, hue_last = _PATHS[theme]
    start = to_lab(BACKGROUND[theme])
    end = np.array([lightness, *_polar(chroma, hue)])
    t = np.linspace(0.0, 1.0, SCALE_STEPS)[:, None]
    lab = start * (1.0 - t) + end * t
    lab[:, 1:] += _polar(bulge * np.sin(np.pi * t[:, 0]), hue_first + (hue_last - hue_first) * t[:, 0])
    return from_lab(lab)


def kind_color(kind: str, theme: Theme = "light", *, text: bool = False) -> str:
    """Colour of one kind of attention as "#rrggbb"; with `text`, one that reaches 4.5:1 on the page's background."""
    check_theme(theme)
    if kind not in KIND_COLORS:
        raise ValueError(f"attention kind is {kind!r}, but must be one of {', '.join(KIND_COLORS)}")
    if theme == "dark":
        return KIND_COLORS_DARK[kind]
    return KIND_TEXT_COLORS[kind] if text else KIND_COLORS[kind]


def ink_on(rgb: npt.NDArray[np.uint8]) -> str:
    """Colour of letters that can be read on a colour, (3,)."""
    return "#000000" if lab_of(rgb)[0] > _LIGHT else "#ffffff"


def lab_of(rgb: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """(..., 3) uint8 sRGB -> (..., 3) CIELAB."""
    return _to_lab(rgb / 255.0)


def to_lab(color: str) -> npt.NDArray[np.float64]:
    """Return a colour "#rrggbb" as (3,) CIELAB."""
    return lab_of(np.frombuffer(bytes.fromhex(color[1:]), dtype=np.uint8))


def from_lab(lab: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    """(..., 3) CIELAB -> (..., 3) uint8 sRGB, read-only; what a screen cannot show is cut off."""
    colors = np.rint(np.clip(_from_lab(lab), 0.0, 1.0) * 255.0).astype(np.uint8)
    colors.setflags(write=False)
    return colors


def _polar(chroma: float | npt.NDArray[np.float64], hue: float | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Chroma and hue in degrees -> (..., 2) a* and b*."""
    angle = np.deg2rad(hue)
    return np.stack([chroma * np.cos(angle), chroma * np.sin(angle)], axis=-1)


def _to_lab(rgb: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(..., 3) sRGB 0 to 1 -> CIELAB (CIE 15, D65)."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = linear @ _RGB_TO_XYZ.T / _WHITE
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def _from_lab(lab: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(..., 3) CIELAB -> sRGB; values outside 0 to 1 are outside what a screen shows."""
    fy = (lab[..., 0] + 16) / 116
    f = np.stack([fy + lab[..., 1] / 500, fy, fy - lab[..., 2] / 200], axis=-1)
    xyz = np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * _WHITE
    linear = np.clip(xyz @ np.linalg.inv(_RGB_TO_XYZ).T, 0.0, None)
    rgb: npt.NDArray[np.float64] = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return rgb
