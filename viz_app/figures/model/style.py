"""Style of a figure: size, type, colours, and the parts around the panels.

A `Style` is plain data that checks itself, so that a command line, a page and the record inside a file mean the same
by it: `Style.of(style.as_dict()) == style`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from viz_app.figures.colours.palette import THEMES, Theme
from viz_app.figures.option import Choice, Form, Real, Switch, declared, is_number, option

ScaleName = Literal["headlight", "grey", "viridis", "cividis"]
SCALES: tuple[ScaleName, ...] = ("headlight", "grey", "viridis", "cividis")
ColorMapping = Literal["linear", "sqrt"]
MAPPINGS: tuple[ColorMapping, ...] = ("linear", "sqrt")
Rotation = Literal["auto"] | int
ROTATIONS: tuple[Rotation, ...] = ("auto", 0, 45, 90)
DEFAULT_FONT = 8.0
_RANGES = 'None (0 to 1), "shared", or two numbers, the smaller one first'
_MAX_END = 1e9  # of a range in an address


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


@dataclass(frozen=True)
class Range(Form):
    """Ends of a colour scale: None for 0 to 1, "shared", or two numbers, the smaller one first."""

    def loads(self, text: str) -> Any:
        """Read the ends. Raises ValueError."""
        if text == "shared":
            return text
        try:
            return tuple(float(end) for end in text.split(","))
        except ValueError:
            raise ValueError(f"is {text!r}, but must be as 0,0.5, or shared") from None

    def dumps(self, value: Any) -> str:
        """Write six digits of each end."""
        return value if isinstance(value, str) else ",".join(f"{end:g}" for end in value)

    def argument(self, value: Any) -> str:
        """Write every digit."""
        return value if isinstance(value, str) else ",".join(map(repr, value))

    def check(self, value: Any) -> None:
        """Raise ValueError for anything else."""
        if value is None or (isinstance(value, str) and value == "shared"):
            return
        if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
            raise ValueError(f"is {value!r}, but must be {_RANGES}")
        low, high = value
        if not (is_number(low) and is_number(high) and low < high):
            raise ValueError(f"is {value!r}, but must be {_RANGES}")

    def mended(self, value: Any) -> Any:
        """Return the ends. Raises ValueError for ends that no screen needs."""
        self.check(value)
        if not isinstance(value, str) and max(map(abs, value)) > _MAX_END:
            raise ValueError(f"is {value!r}, but must be at most {_MAX_END:g}")
        return value


@dataclass(frozen=True, kw_only=True)
class Style:
    """Style of a figure.

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
        outlines: Whether an SVG draws its text as shapes, which every program shows; they cannot be searched or copied.

    Raises:
        ValueError: A value is not allowed; the message says which and what is.
    """

    preset: str = option("", Choice(("", *PRESETS)), key="size", about=f"Preset for a venue: {', '.join(PRESETS)}.")
    width_mm: float | None = option(None, Real(20, 2000), key="width", metavar="MM", about="Width, 20 to 2000.")
    height_mm: float | None = option(
        None, Real(15, 2000), key="height", metavar="MM", about="Height, 15 to 2000; the figure fits into both."
    )
    font_pt: float | None = option(
        None, Real(3, 48), key="font", metavar="PT", about="Size of titles, 3 to 48; labels are at most as large."
    )
    scale: ScaleName = option("headlight", Choice(SCALES), key="colours", about=f"Colours: {', '.join(SCALES)}.")
    value_range: tuple[float, float] | Literal["shared"] | None = option(
        None, Range(), key="range", metavar="LOW,HIGH", about="Weights at the ends of the scale, or shared."
    )
    mapping: ColorMapping = option(
        "linear", Choice(MAPPINGS), about=f"{', '.join(MAPPINGS)}; sqrt tells small weights apart."
    )
    rotation: Rotation = option(
        "auto",
        Choice(ROTATIONS),
        metavar="DEGREES",
        about=f"Rotation of the key labels: {', '.join(map(str, ROTATIONS))}.",
    )
    title: bool = option(True, Switch(), key="", about="Whether the heading is drawn; true unless given.")
    caption: bool = option(False, Switch(), key="", about="Whether the caption is drawn; false unless given.")
    legend: bool = option(True, Switch(), key="", about="Whether the colour bar is drawn; true unless given.")
    letters: bool = option(False, Switch(), key="", about="Whether panels are lettered; false unless given.")
    theme: Theme | None = option(None, Choice(THEMES), about="light or dark.")
    outlines: bool = option(False, Switch(), about="SVG: whether text is drawn as shapes; false unless given.")

    def __post_init__(self) -> None:
        for name, each in declared(Style).items():
            each.checked(getattr(self, name))
        if self.value_range is not None and not isinstance(self.value_range, str):
            low, high = self.value_range
            object.__setattr__(self, "value_range", (float(low), float(high)))

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
        """Return the options that differ from the default, as JSON values."""
        different = {
            name: getattr(self, name) for name, each in declared(Style).items() if getattr(self, name) != each.default
        }
        return {name: list(value) if isinstance(value, tuple) else value for name, value in different.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Style:
        """Return the style of the values of `as_dict`, or of a file. Raises ValueError for an unknown name."""
        allowed = Choice(tuple(declared(cls)))
        for name in values:
            try:
                allowed.check(name)
            except ValueError as error:
                raise ValueError(f"style option {error}") from None
        return cls(**values)
