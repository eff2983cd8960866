"""Lines between two columns of tokens in print."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.collections import LineCollection

from viz_app.figures import fonts
from viz_app.figures.colours.scales import weights_map
from viz_app.figures.layout import MAX_LABEL, PAD, POINTS_PER_MM, wrap
from viz_app.figures.model.figure import display_label
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.canvas import Canvas
from viz_app.figures.mpl.frame import GAP, LINE, Entry, Frame, page_height, page_width

_PITCH = 1.6  # from one token to the next over the font size
_MIDDLE = 50 * POINTS_PER_MM  # room for lines when the width is free
_SQUARE = 0.75  # a head's square beside a key over the font size
_SPREAD = 0.9  # height that lines of several heads take at a token over the font size
_THIN, _THICK = 0.3, 2.2  # width of lines of weight 0 and of the end of the scale


@dataclass(frozen=True)
class Plan:
    """Places in points: the page, both columns, the first row, from row to row, font of labels, titles in lines."""

    width: float
    height: float
    left: float
    right: float
    first: float
    pitch: float
    label_font: float
    titles: tuple[tuple[str, ...], tuple[str, ...]]
    frame: Frame
    squares: int


def plan(figure: LinesFigure, style: Style) -> Plan:
    """Where everything goes."""
    font, panel = style.font, figure.panels[0]
    squares = len(figure.panels) if figure.query is not None and len(figure.panels) > 1 else 0
    lefts, rights = (
        max(fonts.width(display_label(label, MAX_LABEL), 1.0) for label in labels)
        for labels in (panel.query_labels, panel.key_labels)
    )
    beside = squares * _SQUARE * font + (GAP if squares else 0.0)
    natural = (lefts + rights) * font + beside + _MIDDLE + 2 * PAD + 2 * GAP
    width = page_width(style, natural)
    label_font = min(font, max(1.0, (0.75 * width - 2 * PAD - beside) / (lefts + rights)))
    titles = tuple(
        wrap(title, 0.9 * font, width / 2 - PAD - GAP, fonts.width) for title in (figure.query_title, figure.key_title)
    )
    frame = Frame(figure, style, width, _entries(figure), [figure.line_note] if style.legend else [])
    above = frame.above + max(len(lines) for lines in titles) * 0.9 * font * LINE + GAP
    rows = max(len(panel.query_labels), len(panel.key_labels))
    pitch = _PITCH * font
    if style.height is not None:
        pitch = min(pitch, max(1.0, (style.height * POINTS_PER_MM - above - frame.below) / rows))
    needed = above + rows * pitch + frame.below
    height = page_height(style, needed)
    return Plan(
        width=width,
        height=height,
        left=PAD + lefts * label_font + GAP,
        right=width - PAD - rights * label_font - beside - GAP,
        first=above + (height - needed) / 2 + pitch / 2,
        pitch=pitch,
        label_font=min(label_font, pitch / 1.15),
        titles=(titles[0], titles[1]),
        frame=frame,
        squares=squares,
    )


def draw(figure: LinesFigure, style: Style, format: str, dpi: int) -> Canvas:
    """The figure on a page."""
    place = plan(figure, style)
    canvas = Canvas(figure, style, format, dpi, place.width, place.height)
    place.frame.draw(canvas)
    size, color = 0.9 * style.font, canvas.accent(figure.kind, text=True)
    for i in range(max(len(lines) for lines in place.titles)):
        y = place.frame.above + (i + 0.5) * size * LINE
        for lines, x, ha in zip(place.titles, (PAD, place.width - PAD), ("left", "right"), strict=True):
            if i < len(lines):
                canvas.text(x, y, lines[i], size, color, ha=ha)
    _draw_labels(canvas, figure, place)
    _draw_links(canvas, figure, style, place)
    return canvas


def colors(figure: LinesFigure, canvas: Canvas) -> tuple[str, ...]:
    """One head has the colour of its kind, several have one each."""
    return figure.colors if len(figure.panels) > 1 else (canvas.accent(figure.kind),)


def _entries(figure: LinesFigure) -> list[Entry]:
    if len(figure.panels) == 1:
        return []
    return [Entry(panel.title, color, 2.5) for panel, color in zip(figure.panels, figure.colors, strict=True)]


def _y(place: Plan, row: int, count: int, longest: int) -> float:
    """Middle of a row; the shorter column stands in the middle of the longer one."""
    return place.first + (row + (longest - count) / 2) * place.pitch


def _draw_labels(canvas: Canvas, figure: LinesFigure, place: Plan) -> None:
    panel = figure.panels[0]
    longest = max(len(panel.query_labels), len(panel.key_labels))
    for row, label in enumerate(panel.query_labels):
        y = _y(place, row, len(panel.query_labels), longest)
        chosen = figure.query is None or figure.query == row
        text = display_label(label, MAX_LABEL)
        if figure.query == row:
            long = fonts.width(text, place.label_font)
            canvas.box(
                place.left - GAP - long - 2, y - 0.65 * place.label_font, long + 4, 1.3 * place.label_font,
                edge=canvas.ink, zorder=1,
            )  # fmt: skip
        color = canvas.ink if chosen else canvas.muted
        canvas.text(place.left - GAP, y, text, place.label_font, color, ha="right")
    side = _SQUARE * place.label_font
    start = place.right + GAP + place.squares * side + (GAP if place.squares else 0.0)
    for row, label in enumerate(panel.key_labels):
        y = _y(place, row, len(panel.key_labels), longest)
        canvas.text(start, y, display_label(label, MAX_LABEL), place.label_font, canvas.ink, ha="left")
        for i in range(place.squares):
            weight = float(figure.panels[i].weights[figure.query or 0, row])
            fill = canvas.mixed(figure.colors[i], min(1.0, weight) ** 0.5)
            canvas.box(place.right + GAP + i * side, y - side / 2, side, side, edge=canvas.faint, fill=fill, line=0.3)


def _draw_links(canvas: Canvas, figure: LinesFigure, style: Style, place: Plan) -> None:
    panel = figure.panels[0]
    queries, keys = len(panel.query_labels), len(panel.key_labels)
    longest = max(queries, keys)
    scale = weights_map([each.weights for each in figure.panels], style, figure.theme)
    table = colors(figure, canvas)
    links = figure.links()
    # Lines of several heads between the same tokens lie beside each other.
    count = len(figure.panels)
    beside = [(i - (count - 1) / 2) * _SPREAD * place.label_font / count for i in range(count)]
    shares = scale.position([weight for *_, weight in links])
    canvas.axes.add_collection(
        LineCollection(
            [
                [
                    (place.left, _y(place, row, queries, longest) + beside[number]),
                    (place.right, _y(place, column, keys, longest) + beside[number]),
                ]
                for number, row, column, _ in links
            ],
            # By the root, so that weights spread over many keys are seen; widths are in proportion.
            colors=[canvas.mixed(table[n], share**0.5) for (n, *_), share in zip(links, shares, strict=True)],
            linewidths=[_THIN + (_THICK - _THIN) * share for share in shares],
            zorder=2,
        ),
        autolim=False,
    )
