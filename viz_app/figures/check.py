"""Find problems of a figure in print: small text, cut-off labels, colours that readers cannot tell apart.

    for issue in find_print_issues(figure, style):
        print(message(issue, "en"))

Sizes are on the finished page. Colour vision is simulated with the matrices of Machado, Oliveira and Fernandes,
"A Physiologically-based Model for Simulation of Color Vision Deficiency" (IEEE TVCG 15(6), 2009), severity 1.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import cast

import numpy as np
import numpy.typing as npt
from matplotlib.text import Text

from viz_app.figures import fonts
from viz_app.figures.build.steps import Animation
from viz_app.figures.colours.palette import lab_of
from viz_app.figures.colours.scales import ColorMap, format_number, numbers_map
from viz_app.figures.layout import PAGE_HEIGHT, PAGE_WIDTH, POINTS_PER_MM
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.model.figure import Figure, HeatmapFigure
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.model.style import Style
from viz_app.figures.mpl import heatmaps
from viz_app.figures.mpl.renderer import draw, drawing_settings
from viz_app.text import texts

MIN_FONT_POINTS = 6.0
_SLACK = 0.05
_MIN_COLOR_DIFFERENCE = 12.0  # CIE 1976 difference below which two thin lines are taken for one colour
_MIN_LIGHTNESS_DIFFERENCE = 6.0  # difference of lightness L* below which they are in greyscale
_MIN_STEP_DIFFERENCE = 4.0  # the same for neighbours among nine values of a scale

# Linear sRGB to linear sRGB as somebody sees it who lacks L cones (protanopia) or M cones (deuteranopia).
VISION = {
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}


@dataclass(frozen=True)
class PrintIssue:
    """One problem: `code` is the key of its text, `values` fill it."""

    code: str
    values: Mapping[str, str] = field(default_factory=dict)


def message(issue: PrintIssue, language: str = "en") -> str:
    """Return the text of an issue."""
    return texts(language)(f"figures.warn_{issue.code}", **issue.values)


def find_print_issues(figure: Figure, style: Style | None = None) -> tuple[PrintIssue, ...]:
    """Return all print issues of a figure; empty for one that is ready for print.

    Args:
        figure: The figure; of an animation, what stands for it is looked at.
        style: As it will be exported.
    """
    style = style or Style()
    if isinstance(figure, Animation):
        figure = figure.still_frame
    if style.theme is not None:
        figure = replace(figure, theme=style.theme)
    return (*_page(figure, style), *_colors(figure, style))


def simulate_color_vision(rgb: npt.ArrayLike, vision: str) -> npt.NDArray[np.uint8]:
    """Simulate (..., 3) uint8 colours as seen with "protanopia" or "deuteranopia"."""
    share = np.asarray(rgb, dtype=np.float64) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ VISION[vision].T, 0.0, 1.0)
    encoded = np.where(seen <= 0.0031308, seen * 12.92, 1.055 * seen ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(encoded * 255), dtype=np.uint8)


def _page(figure: Figure, style: Style) -> Iterable[PrintIssue]:
    """Check sizes and characters of the finished page."""
    with drawing_settings():
        canvas = draw(figure, style, "png", 72)
        written = [artist for artist in cast("list[Text]", canvas.page.findobj(Text)) if artist.get_text()]
        missing = fonts.missing_characters("".join(artist.get_text() for artist in written))
        cut = [artist.get_text() for artist in written if _is_cut_off(artist, canvas.width)]
        labelled = not isinstance(figure, HeatmapFigure) or heatmaps.plan(figure, style).label_font > 0
    if not labelled:
        yield PrintIssue("labels")
    smallest = min((float(artist.get_fontsize()) for artist in written), default=MIN_FONT_POINTS)
    if smallest < MIN_FONT_POINTS - _SLACK:
        yield PrintIssue("small", {"points": f"{smallest:.1f}", "least": f"{MIN_FONT_POINTS:g}"})
    width, height = canvas.width / POINTS_PER_MM, canvas.height / POINTS_PER_MM
    if style.width is None and canvas.width > PAGE_WIDTH + 1:
        yield PrintIssue("wide", {"width": f"{width:.0f}", "page": f"{PAGE_WIDTH / POINTS_PER_MM:.0f}"})
    allowed = PAGE_HEIGHT if style.height is None else style.height * POINTS_PER_MM
    if canvas.height > allowed + 1:
        yield PrintIssue("tall", {"height": f"{height:.0f}", "page": f"{allowed / POINTS_PER_MM:.0f}"})
    if cut:
        yield PrintIssue("cut", {"text": cut[0]})
    if missing:
        sample = sorted(missing)[:8]
        yield PrintIssue("glyphs", {"characters": " ".join(f"{c} (U+{ord(c):04X})" for c in sample)})


def _is_cut_off(artist: Text, width: float) -> bool:
    """Return whether a text that runs across the page leaves it at the left or right."""
    if artist.get_rotation() or not artist.axes or artist.axes.get_xlim() != (0.0, width):
        return False
    long = fonts.width(artist.get_text(), float(artist.get_fontsize()))
    x = float(artist.get_position()[0])
    start = x - {"left": 0.0, "center": 0.5, "right": 1.0}[artist.get_horizontalalignment()] * long
    return start < -1 or start + long > width + 1


def _colors(figure: Figure, style: Style) -> Iterable[PrintIssue]:
    """Check colours in greyscale and for colour-blind readers."""
    if isinstance(figure, LinesFigure) and len(figure.panels) > 1:
        names = [(panel.title, color, "") for panel, color in zip(figure.panels, figure.colors, strict=True)]
        yield from _names(names)
    if isinstance(figure, CurvesFigure) and len(figure.series) > 1:
        curves = zip(figure.series, figure.colors, strict=True)
        yield from _names([(series.label, color, "dashed" * series.dashed) for series, color in curves])
    for scale in _scales(figure, style):
        yield from _scale(scale)
    if isinstance(figure, HeatmapFigure | LinesFigure) and isinstance(style.value_range, tuple):
        largest = max(float(panel.weights.max()) for panel in figure.panels)
        if largest > style.value_range[1] + 1e-6:
            yield PrintIssue(
                "clipped", {"high": format_number(style.value_range[1]), "largest": format_number(largest)}
            )


def _scales(figure: Figure, style: Style) -> list[ColorMap]:
    if isinstance(figure, MatrixFigure):
        return [numbers_map(figure.matrix, figure.diverging, style, figure.theme, figure.base)]
    if isinstance(figure, ConstituencyFigure) and figure.is_tinted:
        return [figure.color_map(style)]
    if not isinstance(figure, HeatmapFigure):
        return []
    matrices = figure.weights, figure.differences
    return [scale for scale, values in zip(figure.color_maps(style), matrices, strict=True) if values]


def _scale(scale: ColorMap) -> Iterable[PrintIssue]:
    samples = scale.colors[np.rint(np.linspace(0, len(scale.colors) - 1, 9)).astype(int)]
    steps = np.diff(lab_of(samples)[:, 0])
    if scale.diverging:
        yield PrintIssue("grey_two_ends")
    elif not ((steps > 1).all() or (steps < -1).all()):
        yield PrintIssue("grey_scale")
    for vision in VISION:
        seen = lab_of(simulate_color_vision(samples, vision))
        if np.linalg.norm(np.diff(seen, axis=0), axis=1).min() < _MIN_STEP_DIFFERENCE:
            yield PrintIssue("blind_scale")
            return


def _names(lines: list[tuple[str, str, str]]) -> Iterable[PrintIssue]:
    """Find lines (name, colour, dash) that some readers, or a black-and-white printer, cannot tell apart."""
    rgb = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for _, color, _ in lines], dtype=np.uint8)
    pairs = [(i, j) for i, j in combinations(range(len(lines)), 2) if lines[i][2] == lines[j][2]]
    seen = {"": lab_of(rgb), **{vision: lab_of(simulate_color_vision(rgb, vision)) for vision in VISION}}
    close = [
        (i, j)
        for i, j in pairs
        if any(float(np.linalg.norm(lab[i] - lab[j])) < _MIN_COLOR_DIFFERENCE for lab in seen.values())
    ]
    if close:
        yield PrintIssue("blind_lines", {"first": lines[close[0][0]][0], "second": lines[close[0][1]][0]})
    light = seen[""][:, 0]
    grey = [(i, j) for i, j in pairs if abs(float(light[i] - light[j])) < _MIN_LIGHTNESS_DIFFERENCE]
    if grey:
        yield PrintIssue("grey_lines", {"first": lines[grey[0][0]][0], "second": lines[grey[0][1]][0]})
