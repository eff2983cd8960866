"""How a figure is drawn, apart from what it shows: size, type, colours, what stands around the panels.

A `Style` is plain data that checks itself, so that a command line, a page and the record inside a file mean the same
by it: `Style.of(style.as_dict()) == style`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from viz_app.figures.colours.palette import THEMES, Theme

ScaleName = Literal["headlight", "grey", "viridis", "cividis"]
SCALES: tuple[ScaleName, ...] = ("headlight", "grey", "viridis", "cividis")
ColorMapping = Literal["linear", "sqrt"]
MAPPINGS: tuple[ColorMapping, ...] = ("linear", "sqrt")
Rotation = Literal["auto"] | int
ROTATIONS: tuple[Rotation, ...] = ("auto", 0, 45, 90)
DEFAULT_FONT = 8.0


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A place for a figure: width, height where there is one, and font size, in millimetres and points."""

    width_mm: float
    height_mm: float | None = None
    font_pt: float = DEFAULT_FONT


_INCH = 25.4
PRESETS: dict[str, Preset] = {
    # ACL: acl-style-files, formatting instructions: columns of 7.7 cm on A4, 0.6 cm between, 16 cm in all.
    "acl-column": Preset(width_mm=77.0),
    "acl-page": Preset(width_mm=160.0),
    # NeurIPS and ICLR, style files: text 5.5 inches (33 picas) wide.
    "neurips": Preset(width_mm=5.5 * _INCH),
    # ICML, icml.sty and example paper: text 6.75 inches wide, columns 3.25 inches.
    "icml-column": Preset(width_mm=3.25 * _INCH),
    "icml-page": Preset(width_mm=6.75 * _INCH),
    # IEEE, preparation of graphics: one column 3.5 inches (21 picas), two columns 7.16 inches (43 picas).
    "ieee-column": Preset(width_mm=3.5 * _INCH),
    "ieee-page": Preset(width_mm=7.16 * _INCH),
    # A4 is 210 mm wide (ISO 216); 15 mm of margin on both sides.
    "a4": Preset(width_mm=180.0),
    # A slide of 16:9 as presentation programs have it, 10 by 5.625 inches; and the page of LaTeX's beamer.
    "slide": Preset(width_mm=254.0, height_mm=143.0, font_pt=14.0),
    "beamer": Preset(width_mm=160.0, height_mm=90.0, font_pt=9.0),
}


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a figure is drawn.

    Args:
        preset: Name of a place in PRESETS, which gives width, height and font size; "" for none.
        width_mm: Width in millimetres, 20 to 2000; before the preset's. None lets the number of tokens decide.
        height_mm: Height in millimetres, 15 to 2000: the figure is fitted into width and height. None for as high as
            needed.
        font_pt: Size of titles in points, 3 to 48; token labels are at most as large. None for the preset's, or 8.
        scale: Colours of weights, one of SCALES. Differences have their own, with two ends.
        value_range: Weights at both ends of the colour scale, the same in all panels: None for 0 to 1, "shared" for 0
            to the largest weight of all panels, or two numbers.
        mapping: "linear", or "sqrt" to tell small weights apart.
        rotation: Rotation of the key labels: "auto", 0, 45 or 90 degrees.
        title: Whether the heading is drawn.
        caption: Whether the caption is drawn below the figure; it is in the file's metadata in any case.
        legend: Whether the colour bar, or the names of lines, are drawn.
        letters: Whether panels are lettered (a), (b), ...
        theme: "light" or "dark"; None for the figure's own.

    Raises:
        ValueError: A value is not allowed; the message says which and what is.
    """

    preset: str = ""
    width_mm: float | None = None
    height_mm: float | None = None
    font_pt: float | None = None
    scale: ScaleName = "headlight"
    value_range: tuple[float, float] | Literal["shared"] | None = None
    mapping: ColorMapping = "linear"
    rotation: Rotation = "auto"
    title: bool = True
    caption: bool = False
    legend: bool = True
    letters: bool = False
    theme: Theme | None = None

    def __post_init__(self) -> None:
        _one_of("preset", self.preset, ("", *PRESETS))
        _one_of("scale", self.scale, SCALES)
        _one_of("mapping", self.mapping, MAPPINGS)
        _one_of("rotation", self.rotation, ROTATIONS)
        _one_of("theme", self.theme, (None, *THEMES))
        for name, low, high in (("width_mm", 20, 2000), ("height_mm", 15, 2000), ("font_pt", 3, 48)):
            value = getattr(self, name)
            if value is not None and not (_number(value) and low <= value <= high):
                raise ValueError(f"{name} is {value}, but must be between {low} and {high}")
        for name in ("title", "caption", "legend", "letters"):
            _one_of(name, getattr(self, name), (True, False))
        object.__setattr__(self, "value_range", _checked_range(self.value_range))

    @property
    def width(self) -> float | None:
        """Width in millimetres, the preset's when no other is given."""
        return self.width_mm if self.width_mm is not None else self._place.width_mm if self.preset else None

    @property
    def height(self) -> float | None:
        """Height in millimetres, the preset's when neither width nor height is given."""
        if self.height_mm is not None or not self.preset or self.width_mm is not None:
            return self.height_mm
        return self._place.height_mm

    @property
    def font(self) -> float:
        """Size of titles in points."""
        if self.font_pt is not None:
            return self.font_pt
        return self._place.font_pt if self.preset else DEFAULT_FONT

    @property
    def _place(self) -> Preset:
        return PRESETS[self.preset]

    def as_dict(self) -> dict[str, Any]:
        """What differs from the default, as values that JSON has."""
        different = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in different.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Style:
        """A style from the values of `as_dict`, or from a file. Raises ValueError for a name that does not exist."""
        known = [f.name for f in fields(cls)]
        for name in values:
            _one_of("style option", name, known)
        return cls(**values)


def _checked_range(value: Any) -> tuple[float, float] | Literal["shared"] | None:
    if value is None or (isinstance(value, str) and value == "shared"):
        return value  # type: ignore[return-value]
    allowed = 'None (0 to 1), "shared", or two numbers, the smaller one first'
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
        raise ValueError(f"value_range is {value!r}, but must be {allowed}")
    low, high = value
    if not (_number(low) and _number(high) and low < high):
        raise ValueError(f"value_range is {value!r}, but must be {allowed}")
    return float(low), float(high)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _one_of(name: str, value: Any, allowed: Any) -> None:
    # 1 == True in Python, but a style of title=1 would not be the same JSON.
    if not any(type(value) is type(other) and value == other for other in allowed):
        choices = ", ".join(repr(other) if other == "" else str(other) for other in allowed)
        raise ValueError(f"{name} is {value!r}, but must be one of {choices}")
