"""Every file format of figures, by its name.

    RENDERERS["pdf"].render(figure, style, None)

Nothing else names a format that only its renderer could know. matplotlib and Plotly take a second to import, and wait
until something is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

from viz_app.figures import data_renderer
from viz_app.figures.build.flow import animated
from viz_app.figures.build.steps import Animation
from viz_app.figures.model.beam_tree import BeamTreeFigure
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.model.figure import Figure, HeatmapFigure
from viz_app.figures.model.flow import FlowFigure
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.model.pixels import GIF_DPI
from viz_app.figures.model.style import Style

Render = Callable[[Figure, Style, int | None], bytes]

_TIKZ = (HeatmapFigure, CurvesFigure, MatrixFigure, ConstituencyFigure, FlowFigure)
_STILL = (*_TIKZ, LinesFigure, BeamTreeFigure)  # all that do not move


@dataclass(frozen=True)
class Renderer:
    """Writes figures in one format.

    Args:
        format: The ending of its files.
        mime_type: Of its files.
        kinds: The kinds of figure that it writes.
        render: From a figure, a style and a resolution (None for its own) to the bytes of the file; the same arguments
            give the same bytes.
        label: What a button calls it; the format in capitals unless given.
        is_data: Whether it writes numbers, for which the style makes no difference.
        has_dpi: Whether its files have a resolution.
        moves: Whether it writes animations.
    """

    format: str
    mime_type: str
    kinds: tuple[type[Figure], ...]
    render: Render
    _: KW_ONLY
    label: str = ""
    is_data: bool = False
    has_dpi: bool = False
    moves: bool = False

    @property
    def name(self) -> str:
        """Name on a button."""
        return self.label or self.format.upper()


def _picture(format: str) -> Render:
    def render(figure: Figure, style: Style, dpi: int | None) -> bytes:
        from viz_app.figures.mpl.renderer import DEFAULT_DPI, render

        return render(figure, format, style, dpi=DEFAULT_DPI if dpi is None else dpi)

    return render


def _tikz(figure: Figure, style: Style, _: int | None) -> bytes:
    from viz_app.figures.tikz.renderer import to_tex

    return to_tex(figure, style)


def _gif(figure: Figure, style: Style, dpi: int | None) -> bytes:
    from viz_app.figures.mpl.gif import to_gif

    animation = animated(figure)
    assert animation is not None
    return to_gif(animation, style, dpi=GIF_DPI if dpi is None else dpi)


def _data(format: str, mime_type: str, write: Callable[[Figure], bytes]) -> Renderer:
    return Renderer(format, mime_type, (Figure,), lambda figure, style, dpi: write(figure), is_data=True)


_ALL = (  # in the order of menus, those for print first
    Renderer("pdf", "application/pdf", _STILL, _picture("pdf")),
    Renderer("svg", "image/svg+xml", _STILL, _picture("svg")),
    Renderer("png", "image/png", _STILL, _picture("png"), has_dpi=True),
    Renderer("tex", "application/x-tex", _TIKZ, _tikz, label="TikZ"),
    Renderer("gif", "image/gif", (Animation, FlowFigure), _gif, has_dpi=True, moves=True),
    _data("csv", "text/csv", data_renderer.to_csv),
    _data("npz", "application/octet-stream", data_renderer.to_npz),
    _data("json", "application/json", data_renderer.to_json),
)
RENDERERS = {renderer.format: renderer for renderer in _ALL}
