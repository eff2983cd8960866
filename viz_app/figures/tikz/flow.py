r"""The flow as TikZ: the same drawing as in print, its unit a point (bp) from the top left corner."""

from __future__ import annotations

from math import cos, radians, sin

from viz_app.figures.model.flow import FlowFigure
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.flow import plan
from viz_app.figures.mpl.renderer import drawing_settings
from viz_app.figures.surface import HALF_CAPITAL, Surface
from viz_app.figures.tikz.parts import tex, xcolor

_ANCHORS = {"center": "base", "left": "base west", "right": "base east"}


def flow(figure: FlowFigure, style: Style) -> list[str]:
    """Return the picture, line by line."""
    with drawing_settings():
        drawing = plan(figure, style)
        page = TikzPage(figure, drawing.width, drawing.height)
        drawing.draw(page)
    return ["\\begin{tikzpicture}[x=1bp, y=-1bp, inner sep=0, outer sep=0]", *page.lines, "\\end{tikzpicture}"]


class TikzPage(Surface):
    """A page that writes what is drawn on it as lines of TikZ."""

    def __init__(self, figure: FlowFigure, width: float, height: float) -> None:
        super().__init__(figure, width, height)
        self.lines = list[str]()
        self.box(0, 0, width, height, fill=self.background)

    def text(
        self, x: float, y: float, text: str, size: float, color: str, *, ha: str = "center", rotation: float = 0
    ) -> None:
        """Write a node with its baseline where print has it."""
        down, angle = HALF_CAPITAL * size, radians(rotation)
        font = f"font=\\fontsize{{{size:.2f}bp}}{{{1.2 * size:.2f}bp}}\\selectfont"
        turned = f", rotate={rotation:g}" if rotation else ""
        place = _point(x + down * sin(angle), y + down * cos(angle))
        self.lines.append(
            f"\\node[anchor={_ANCHORS[ha]}{turned}, text={xcolor(color)}, {font}] at {place} {{{tex(text)}}};"
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
        """Write a straight line."""
        self.curve([*zip(xs, ys, strict=True)], color or self.muted, width)

    def curve(self, points: list[tuple[float, float]], color: str, width: float, *, zorder: float = 1) -> None:
        """Write a line, or curves with their controls."""
        path = _point(*points[0])
        for i in range(1, len(points), 3):
            *controls, end = map(_point, *zip(*points[i : i + 3], strict=True))
            path += f" .. controls {' and '.join(controls)} .. {end}" if controls else f" -- {end}"
        self.lines.append(f"\\draw[draw={xcolor(color)}, line width={width:.3f}bp] {path};")

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
        """Write a rectangle."""
        self._shape(f"{_point(left, top)} rectangle {_point(left + width, top + height)}", edge, fill, line)

    def dot(self, x: float, y: float, radius: float, *, edge: str, fill: str, line: float = 0.5) -> None:
        """Write a circle."""
        self._shape(f"{_point(x, y)} circle[radius={radius:.3f}bp]", edge, fill, line)

    def _shape(self, path: str, edge: str | None, fill: str | None, line: float) -> None:
        options = [f"fill={xcolor(fill)}"] if fill else []
        options += [f"draw={xcolor(edge)}, line width={line:.3f}bp"] if edge else []
        self.lines.append(f"\\path[{', '.join(options)}] {path};")


def _point(x: float, y: float) -> str:
    return f"({x:.3f},{y:.3f})"
