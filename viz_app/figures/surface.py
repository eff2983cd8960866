"""A page to draw on, measured in points from its top left corner; matplotlib and TikZ have one each."""

from __future__ import annotations

from abc import ABC, abstractmethod

from viz_app.figures.colours.palette import BACKGROUND, INK, MASK_HATCH, MUTED, kind_color
from viz_app.figures.model.figure import Figure

HALF_CAPITAL = 0.35  # half the height of a capital over the font size


class Surface(ABC):
    """A page for one figure.

    Args:
        figure: Gives the theme.
        width: In points.
        height: In points.
    """

    def __init__(self, figure: Figure, width: float, height: float) -> None:
        self.spec, self.width, self.height = figure, width, height
        theme = figure.theme
        self.ink, self.muted, self.faint, self.background = (
            INK[theme],
            MUTED[theme],
            MASK_HATCH[theme],
            BACKGROUND[theme],
        )

    def mixed(self, color: str, share: float) -> str:
        """Return the opaque equivalent of a colour at alpha `share`."""
        over, under = ([int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (color, self.background))
        return "#" + "".join(f"{round(u + (o - u) * share):02x}" for o, u in zip(over, under, strict=True))

    def accent(self, kind: str, *, text: bool = False) -> str:
        """Return the colour of a kind of attention, or a neutral one."""
        return kind_color(kind, self.spec.theme, text=text) if kind else self.muted

    def lines_of_text(self, lines: tuple[str, ...], top: float, size: float, color: str) -> None:
        """Draw centred lines, one below the other."""
        for i, line in enumerate(lines):
            self.text(self.width / 2, top + (i + 0.5) * size * 1.3, line, size, color)

    @abstractmethod
    def text(
        self, x: float, y: float, text: str, size: float, color: str, *, ha: str = "center", rotation: float = 0
    ) -> None:
        """Draw plain text, anchored at (x, y) with its capitals centred there, then rotated by `rotation` degrees."""

    @abstractmethod
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

    @abstractmethod
    def curve(self, points: list[tuple[float, float]], color: str, width: float, *, zorder: float = 1) -> None:
        """Draw a line through two points, or Bezier curves: a start, and for each two controls and an end."""

    @abstractmethod
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

    @abstractmethod
    def dot(self, x: float, y: float, radius: float, *, edge: str, fill: str, line: float = 0.5) -> None:
        """Draw a circle."""
