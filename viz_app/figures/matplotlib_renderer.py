"""Figures as PNG, SVG and PDF, byte for byte the same each time, without a browser.

matplotlib keeps settings and fonts in global state, so one lock lets one figure through at a time; pyplot, which
holds figures in global state too, is not used. Everything is drawn in one axes whose unit is the point, at the places
that `layout.py` gives. Tokens are plain text: matplotlib's own formula markup ($...$) is off.
"""

from __future__ import annotations

import io
import json
import logging
import re
import threading
import warnings
from math import cos, radians, sin
from typing import Any
from xml.sax.saxutils import escape

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text

from viz_app.figures import fonts
from viz_app.figures.colour import BACKGROUND, INK, MASK_HATCH, MUTED, kind_colour, scale
from viz_app.figures.layout import MAX_LABEL, POINTS_PER_MM, Layout, Planner
from viz_app.figures.spec import HeatmapFigure, HeatmapPanel, shown, word_starts

FORMATS = ("png", "svg", "pdf")
DEFAULT_DPI = 300
DEFAULT_FONT = 8.0  # points
_HALF_CAPITAL = 0.35  # half the height of a capital over the font size
_VECTOR_PIXELS = 256  # pixels along the side of a panel in SVG and PDF
_TICK = 3.0  # length of a word boundary mark, points
_log = logging.getLogger(__name__)
_lock = threading.Lock()
_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "headlight",  # ids that do not change from run to run
    "pdf.fonttype": 42,  # TrueType, as publishers ask
    "text.parse_math": False,
    "text.usetex": False,
    "hatch.linewidth": 0.5,
    "path.simplify": False,
}


def render(
    figure: HeatmapFigure,
    format: str,
    *,
    width_mm: float | None = None,
    dpi: int = DEFAULT_DPI,
    font_size: float = DEFAULT_FONT,
) -> bytes:
    """Draw a figure.

    Args:
        figure: What to draw.
        format: "png", "svg" or "pdf".
        width_mm: Width of the figure in millimetres; None lets the number of tokens decide (A4 text width at most,
            unless one panel needs more).
        dpi: Dots per inch of a PNG.
        font_size: Size of titles in points; token labels are at most as large.

    Returns:
        The file's bytes; the same arguments give the same bytes.

    Raises:
        ValueError: An argument is not allowed.
    """
    if format not in FORMATS:
        raise ValueError(f"format is {format!r}, but must be one of {', '.join(FORMATS)}")
    limits = (("width_mm", width_mm, 20, 2000), ("dpi", dpi, 36, 1200), ("font_size", font_size, 3, 48))
    for name, value, low, high in limits:
        if value is not None and not low <= value <= high:
            raise ValueError(f"{name} is {value}, but must be between {low} and {high}")
    with _lock, matplotlib.rc_context(_settings()), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")  # `save` tells it, once
        width = None if width_mm is None else width_mm * POINTS_PER_MM
        layout = Planner(figure, fonts.width, width=width, font=font_size).plan()
        drawing = _Drawing(figure, layout, format, dpi)
        drawing.draw()
        return drawing.save()


def _settings() -> Any:
    return {**_SETTINGS, "font.family": fonts.families()}


class _Drawing:
    """One figure on its way to a file."""

    def __init__(self, figure: HeatmapFigure, layout: Layout, format: str, dpi: int) -> None:
        self.spec, self.layout, self.format, self.dpi = figure, layout, format, dpi
        self.colours = scale(figure.theme)
        self.accent = kind_colour(figure.kind, figure.theme) if figure.kind else MUTED[figure.theme]
        self.title_colour = kind_colour(figure.kind, figure.theme, text=True) if figure.kind else MUTED[figure.theme]
        self.ink, self.muted = INK[figure.theme], MUTED[figure.theme]
        self.canvas = Figure(
            figsize=(layout.width / 72, layout.height / 72), dpi=dpi, facecolor=BACKGROUND[figure.theme]
        )
        FigureCanvasAgg(self.canvas)
        self.axes: Axes = self.canvas.add_axes((0.0, 0.0, 1.0, 1.0))
        self.axes.set_xlim(0, layout.width)
        self.axes.set_ylim(layout.height, 0)  # from the top, as the layout counts
        self.axes.set_axis_off()
        self.texts: set[str] = set()

    def draw(self) -> None:
        spec, layout = self.spec, self.layout
        for i, line in enumerate(layout.title_lines):
            size = layout.font * 1.1
            self.text(layout.width / 2, layout.title_top + (i + 0.5) * size * 1.3, line, size, self.ink)
        for i, panel in enumerate(spec.panels):
            self.panel(panel, i)
        if layout.label_font:
            self.text(*layout.query_title, spec.query_title, layout.font, self.title_colour, rotation=90)
            self.text(*layout.key_title, spec.key_title, layout.font, self.title_colour)
        height = spec.panels[0].weights.shape[0] * layout.cell
        for row, title in enumerate(spec.row_titles):
            top = layout.panels[row * spec.columns][1]
            self.text(layout.row_titles, top + height / 2, title, layout.font * 0.9, self.ink, rotation=90)
        for i, line in enumerate(layout.foot_lines):
            size = 0.85 * layout.font
            self.text(layout.width / 2, layout.foot_top + (i + 0.5) * size * 1.3, line, size, self.muted)
        self.colour_bar()

    def panel(self, panel: HeatmapPanel, index: int) -> None:
        """Cells, hatching, frame, and the labels that belong to this panel."""
        spec, layout, cell = self.spec, self.layout, self.layout.cell
        left, top = layout.panels[index]
        rows, columns = panel.weights.shape
        pixels = self.colours[np.rint(np.clip(panel.weights, 0.0, 1.0) * (len(self.colours) - 1)).astype(int)]
        pixels = np.where(panel.allowed[..., None], pixels, self.colours[0]).astype(np.uint8)  # (Q, K, 3)
        self.image(pixels, left, top, columns * cell, rows * cell)
        if panel.masked is not None and panel.masked.any():
            self.hatch(panel.masked, left, top)
        frame = Rectangle((left, top), columns * cell, rows * cell, fill=False, edgecolor=self.accent, linewidth=0.8)
        frame.set_zorder(3)  # above the hatching
        self.axes.add_patch(frame)
        if panel.title and (index < spec.columns or not spec.row_titles):
            self.text(left + columns * cell / 2, top - layout.font * 0.7, panel.title, layout.font * 0.9, self.ink)
        if layout.label_font:
            if index % spec.columns == 0 or not layout.shared:
                self.query_labels(panel, left, top)
            if index + spec.columns >= len(spec.panels) or not layout.shared:
                self.key_labels(panel, left, top + rows * cell)
            if spec.draw_notes and panel.query_notes and index == 0:
                self.notes(panel, left + columns * cell, top)

    def query_labels(self, panel: HeatmapPanel, left: float, top: float) -> None:
        cell, size = self.layout.cell, self.layout.label_font
        for row, label in enumerate(panel.query_labels):
            self.label(left - 5, top + (row + 0.5) * cell, label, size, ha="right")
        for start in word_starts(panel.query_words):
            self.line((left - _TICK, left), (top + start * cell,) * 2)

    def key_labels(self, panel: HeatmapPanel, left: float, bottom: float) -> None:
        cell, size, angle = self.layout.cell, self.layout.label_font, self.layout.key_angle
        for column, label in enumerate(panel.key_labels):
            x = left + (column + 0.5) * cell
            if angle == 0:
                self.label(x, bottom + 4 + size * 0.6, label, size, ha="center")
            else:  # anchored at the end of the text, which points at its column
                self.label(x, bottom + 5, label, size, ha="right", rotation=angle)
        for start in word_starts(panel.key_words):
            self.line((left + start * cell,) * 2, (bottom, bottom + _TICK))

    def notes(self, panel: HeatmapPanel, right: float, top: float) -> None:
        """The second labels of the rows, with their heading."""
        cell, size = self.layout.cell, self.layout.label_font
        for row, label in enumerate(panel.query_notes or ()):
            if label:
                text = f"\u2192 {shown(label, MAX_LABEL)}"
                self.text(right + 5, top + (row + 0.5) * cell, text, size, self.muted, ha="left")
        self.text(
            right + 5, self.layout.notes_title - size * 0.5, self.spec.note_title, size, self.title_colour, ha="left"
        )

    def colour_bar(self) -> None:
        left, top, width, height = self.layout.bar
        size = 0.85 * self.layout.font
        self.image(self.colours[::-1, None, :], left, top, width, height)
        self.axes.add_patch(Rectangle((left, top), width, height, fill=False, edgecolor=self.muted, linewidth=0.5))
        for value in (0.0, 0.25, 0.5, 0.75, 1.0):
            y = top + (1 - value) * height
            self.line((left + width, left + width + 2), (y, y))
            self.text(left + width + 4, y, f"{value:g}", size, self.ink, ha="left")
        x = left + width + 6 + fonts.width("0.75", size) + self.layout.font * 0.65
        self.text(x, top + height / 2, self.spec.scale_title, self.layout.font, self.ink, rotation=90)

    def image(self, pixels: npt.NDArray[np.uint8], left: float, top: float, width: float, height: float) -> None:
        """(rows, columns, 3) colours, row 0 at the top; nearest neighbour leaves no seams and changes no colour."""
        vector = self.format != "png"
        if vector:  # viewers may smooth an image: with more pixels, that reaches less far into a cell
            times = max(1, min(8, _VECTOR_PIXELS // max(pixels.shape)))
            pixels = pixels.repeat(times, axis=0).repeat(times, axis=1)
        self.axes.imshow(
            pixels,
            extent=(left, left + width, top + height, top),
            interpolation="none" if vector else "nearest",  # "none" hands the pixels over as they are
            aspect="auto",
            zorder=1,
        )
        self.axes.set_xlim(0, self.layout.width)
        self.axes.set_ylim(self.layout.height, 0)

    def hatch(self, masked: npt.NDArray[np.bool_], left: float, top: float) -> None:
        """One hatched shape over all masked cells."""
        cell = self.layout.cell
        vertices: list[tuple[float, float]] = []
        for row in range(masked.shape[0]):
            edges = np.flatnonzero(np.diff(masked[row].astype(np.int8), prepend=0, append=0))
            for first, last in edges.reshape(-1, 2):
                x0, x1 = left + first * cell, left + last * cell
                y0, y1 = top + row * cell, top + (row + 1) * cell
                vertices += [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * (len(vertices) // 5)
        density = "/" * (7 if cell >= 4 else 10)
        self.axes.add_patch(
            PathPatch(
                Path(np.array(vertices), codes),
                facecolor="none",
                edgecolor=MASK_HATCH[self.spec.theme],
                hatch=density,
                linewidth=0,
                zorder=2,
            )
        )

    def line(self, xs: tuple[float, float], ys: tuple[float, float]) -> None:
        self.axes.plot(xs, ys, color=self.muted, linewidth=0.5, solid_capstyle="butt", clip_on=False)

    def label(self, x: float, y: float, label: str, size: float, *, ha: str, rotation: float = 0) -> None:
        self.text(x, y, shown(label, MAX_LABEL), size, self.ink, ha=ha, rotation=rotation)

    def text(
        self, x: float, y: float, text: str, size: float, colour: str, *, ha: str = "center", rotation: float = 0
    ) -> None:
        """Plain text, anchored at (x, y) with its capitals centred there, then rotated by so many degrees."""
        self.texts.add(text)
        down = _HALF_CAPITAL * size  # from the middle of a capital to the baseline, so that baselines agree
        self.axes.add_artist(
            Text(
                x + down * sin(radians(rotation)),
                y + down * cos(radians(rotation)),
                text,
                color=colour,
                fontsize=size,
                horizontalalignment=ha,  # type: ignore[arg-type]
                verticalalignment="baseline",
                rotation=rotation,
                rotation_mode="anchor",
                parse_math=False,
            )
        )

    def save(self) -> bytes:
        missing = fonts.missing_characters("".join(self.texts))
        if missing:
            _log.warning("no font for %s: drawn as boxes", " ".join(f"U+{ord(c):04X}" for c in sorted(missing)))
        buffer = io.BytesIO()
        self.canvas.savefig(buffer, format=self.format, dpi=self.dpi, metadata=self.metadata())
        data = buffer.getvalue()
        return self.embed_fonts(data) if self.format == "svg" else data

    def metadata(self) -> dict[str, Any]:
        """Title, caption, alt text and provenance, in the fields that the format has."""
        spec = self.spec
        title = _xml_safe(f"{spec.title or spec.name}")
        provenance = provenance_json(spec)
        if self.format == "pdf":
            words = {"Title": title, "Subject": spec.caption, "Keywords": provenance}
            return {**words, "Creator": "Headlight", "CreationDate": None}
        if self.format == "svg":
            told = _xml_safe(f"{spec.caption}\n{provenance}")
            return {"Title": title, "Description": told, "Creator": "Headlight", "Date": None}
        texts = {"Title": title, "Description": spec.alt, "Comment": spec.caption, "Provenance": provenance}
        return {**texts, "Software": "Headlight"}

    def embed_fonts(self, svg: bytes) -> bytes:
        """Put the fonts, exactly the characters used, and the alt text into an SVG."""
        text = svg.decode("utf-8")
        style = '<style type="text/css">'
        assert text.count(style) == 1, "matplotlib's SVG has changed: its style element was not found"
        text = text.replace(style, style + fonts.font_face_css("".join(sorted(self.texts))))
        alt = escape(_xml_safe(self.spec.alt))
        text = text.replace("<metadata>", f"<desc>{alt}</desc>\n <metadata>", 1)
        return text.encode("utf-8")


def provenance_json(figure: HeatmapFigure) -> str:
    """Where a figure comes from, as one line of JSON that XML and PDF can hold; characters they forbid are escaped."""
    text = json.dumps({"program": "Headlight", **figure.provenance}, ensure_ascii=False, sort_keys=True, default=str)
    return _FORBIDDEN.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


# What XML 1.0 does not allow.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def _xml_safe(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
