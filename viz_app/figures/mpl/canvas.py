"""A page measured in points from its top left corner, to draw on with matplotlib and to save as PNG, SVG or PDF.

pyplot, which holds figures in global state, is not used. Tokens are plain text: matplotlib's own formula markup ($...$)
is off. Not safe for several threads at once: the renderer holds its lock around every use.
"""

from __future__ import annotations

import io
import logging
from math import ceil, cos, radians, sin
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Page
from matplotlib.patches import Circle, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text

from viz_app.figures import fonts
from viz_app.figures.model.cells import Cells
from viz_app.figures.model.figure import Figure
from viz_app.figures.model.pixels import check_pixels
from viz_app.figures.model.style import Style
from viz_app.figures.record import provenance_json, xml_safe
from viz_app.figures.surface import HALF_CAPITAL, Surface

_DENSITY = 4.0  # pixels of a map in SVG and PDF for a point of the page, at least
MAX_MAP_PIXELS = 20_000_000  # of all maps on a page, where they have no more cells
_NO_BREAK = "\ufeff"  # has no width, and as a first character it is a byte order mark, at which a PDF fails
_log = logging.getLogger(__name__)


class Canvas(Surface):
    """A page for one figure.

    Args:
        figure: What will be drawn; gives theme and metadata.
        style: How; goes into the metadata.
        format: "png", "svg" or "pdf".
        dpi: Dots per inch of a PNG.
        width: In points.
        height: In points.

    Raises:
        PictureTooLarge: A PNG would have too many pixels.
    """

    def __init__(self, figure: Figure, style: Style, format: str, dpi: int, width: float, height: float) -> None:
        super().__init__(figure, width, height)
        self.style, self.format, self.dpi = style, format, dpi
        if format == "png":
            check_pixels(width / 72, height / 72, dpi)
        self.page = Page(figsize=(width / 72, height / 72), dpi=dpi, facecolor=self.background)
        FigureCanvasAgg(self.page)
        self.axes: Axes = self.page.add_axes((0.0, 0.0, 1.0, 1.0))
        self.axes.set_axis_off()
        self._fit()

    def text(
        self, x: float, y: float, text: str, size: float, color: str, *, ha: str = "center", rotation: float = 0
    ) -> None:
        """Draw plain text, anchored at (x, y) with its capitals centred there, then rotated by `rotation` degrees."""
        down = HALF_CAPITAL * size  # from the middle of a capital to the baseline, so that baselines agree
        self.axes.add_artist(
            Text(
                x + down * sin(radians(rotation)),
                y + down * cos(radians(rotation)),
                text,
                color=color,
                fontsize=size,
                horizontalalignment=ha,  # type: ignore[arg-type]
                verticalalignment="baseline",
                rotation=rotation,
                rotation_mode="anchor",
                parse_math=False,
                zorder=5,
            )
        )

    def line(
        self,
        xs: tuple[float, float],
        ys: tuple[float, float],
        *,
        color: str | None = None,
        width: float = 0.5,
        dashes: tuple[float, float] | None = None,
    ) -> None:
        """Draw a straight line; `dashes` are lengths of stroke and gap in widths of the line."""
        (drawn,) = self.axes.plot(
            xs, ys, color=color or self.muted, linewidth=width, solid_capstyle="butt", clip_on=False
        )
        if dashes:
            drawn.set_linestyle((0, dashes))

    def curve(self, points: list[tuple[float, float]], color: str, width: float, *, zorder: float = 1) -> None:
        """Draw a line through two points, or Bezier curves: a start, and for each two controls and an end."""
        codes = [Path.MOVETO, *[Path.LINETO if len(points) == 2 else Path.CURVE4] * (len(points) - 1)]
        line = PathPatch(Path(np.array(points), codes), facecolor="none", edgecolor=color, linewidth=width)
        line.set_zorder(zorder)
        self.axes.add_patch(line)

    def box(
        self,
        left: float,
        top: float,
        width: float,
        height: float,
        *,
        edge: str | None = None,
        fill: str | None = None,
        line: float = 0.5,
        zorder: float = 3,
    ) -> None:
        """Draw a rectangle, framed, filled or both."""
        self.axes.add_patch(
            Rectangle(
                (left, top),
                width,
                height,
                facecolor=fill or "none",
                edgecolor=edge or "none",
                linewidth=line if edge else 0,
                zorder=zorder,
            )
        )

    def dot(self, x: float, y: float, radius: float, *, edge: str, fill: str, line: float = 0.5) -> None:
        """Draw a circle."""
        self.axes.add_patch(Circle((x, y), radius, facecolor=fill, edgecolor=edge, linewidth=line, zorder=3))

    def image(self, pixels: npt.NDArray[np.uint8], left: float, top: float, width: float, height: float) -> None:
        """Draw (rows, columns, 3) colours, row 0 at the top; nearest neighbour leaves no seams."""
        extent = (left, left + width, top + height, top)
        if self.format == "png":
            cells = Cells(self.axes, extent=extent, zorder=1)
            cells.set_data(pixels)
            self.axes.add_image(cells)
        else:  # viewers may smooth an image: with more pixels, that reaches less far into a cell
            density = min(_DENSITY, (MAX_MAP_PIXELS / (self.width * self.height)) ** 0.5)
            times = ceil(density * max(width / pixels.shape[1], height / pixels.shape[0]))
            pixels = pixels.repeat(times, axis=0).repeat(times, axis=1)
            # "none" hands the pixels over as they are.
            self.axes.imshow(pixels, extent=extent, interpolation="none", aspect="auto", zorder=1)
        self._fit()

    def cells(self, pixels: npt.NDArray[np.uint8], there: npt.NDArray[np.bool_], *place: float) -> None:
        """Draw (rows, columns, 3) colours where `there`; other cells have the page's colour and are hatched.

        `place` is left, top, width and height.
        """
        left, top, width, height = place
        if not there.all():
            page = np.frombuffer(bytes.fromhex(self.background[1:]), dtype=np.uint8)
            pixels = np.where(there[..., None], pixels, page).astype(np.uint8)
            self._hatch(~there, left, top, width / there.shape[1], height / there.shape[0])
        self.image(pixels, left, top, width, height)

    def _hatch(self, masked: npt.NDArray[np.bool_], left: float, top: float, wide: float, high: float) -> None:
        """Draw one hatched shape over all masked or missing cells."""
        vertices: list[tuple[float, float]] = []
        for row in range(masked.shape[0]):
            edges = np.flatnonzero(np.diff(masked[row].astype(np.int8), prepend=0, append=0))
            for first, last in edges.reshape(-1, 2):
                x0, x1 = left + first * wide, left + last * wide
                y0, y1 = top + row * high, top + (row + 1) * high
                vertices += [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * (len(vertices) // 5)
        density = "/" * (7 if min(wide, high) >= 4 else 10)
        self.axes.add_patch(
            PathPatch(
                Path(np.array(vertices), codes),
                facecolor="none",
                edgecolor=self.faint,
                hatch=density,
                linewidth=0,
                zorder=2,
            )
        )

    def plot_area(self, left: float, top: float, width: float, height: float) -> Axes:
        """Add axes with their own ticks, for curves and matrices."""
        box = (left / self.width, 1 - (top + height) / self.height, width / self.width, height / self.height)
        return self.page.add_axes(box)

    def save(self) -> bytes:
        """Return the page as a file; the same page gives the same bytes."""
        buffer = io.BytesIO()
        artists: Any = self.page.findobj(Text)
        for artist in artists:
            artist.set_text(artist.get_text().replace(_NO_BREAK, ""))
            families = fonts.families_for(artist.get_text())
            if len(families) > len(fonts.families()):
                artist.set_fontfamily(families)
        quick: Any = {"pil_kwargs": {"compress_level": 4}} if self.format == "png" else {}
        self.page.savefig(buffer, format=self.format, dpi=self.dpi, metadata=self._metadata(), **quick)
        used = "".join(sorted({artist.get_text() for artist in artists}))
        missing = fonts.missing_characters(used)
        if missing:
            _log.warning("no font for %s: drawn as boxes", " ".join(f"U+{ord(c):04X}" for c in sorted(missing)))
        data = buffer.getvalue()
        return self._embed_fonts(data, used) if self.format == "svg" else data

    def _fit(self) -> None:
        self.axes.set_xlim(0, self.width)
        self.axes.set_ylim(self.height, 0)  # from the top, as layouts count

    def _metadata(self) -> dict[str, Any]:
        """Title, caption, alt text and provenance, in the fields that the format has."""
        spec = self.spec
        title = xml_safe(f"{spec.title or spec.name}")
        provenance = provenance_json(spec, self.style)
        if self.format == "pdf":
            words = {"Title": title, "Subject": spec.caption, "Keywords": provenance}
            return {**words, "Creator": "Headlight", "CreationDate": None}
        if self.format == "svg":
            description = xml_safe(f"{spec.caption}\n{provenance}")
            return {"Title": title, "Description": description, "Creator": "Headlight", "Date": None}
        texts = {"Title": title, "Description": spec.alt, "Comment": spec.caption, "Provenance": provenance}
        return {**texts, "Software": "Headlight"}

    def _embed_fonts(self, svg: bytes, used: str) -> bytes:
        """Put the fonts, exactly the characters used, and the alt text into an SVG."""
        text = svg.decode("utf-8")
        style = '<style type="text/css">'
        assert text.count(style) == 1, "matplotlib's SVG has changed: its style element was not found"
        # Each text reads in the direction of its first letter, as in PDF and PNG.
        rules = "" if self.style.outlines else "text{unicode-bidi:plaintext}" + fonts.font_face_css(used)
        text = text.replace(style, style + rules)
        alt = escape(xml_safe(self.spec.alt))
        text = text.replace("<metadata>", f"<desc>{alt}</desc>\n <metadata>", 1)
        return text.encode("utf-8")
