"""Phrase-structure trees in print."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from viz_app.figures import fonts
from viz_app.figures.colours.scales import format_number
from viz_app.figures.layout import PAD, PAGE_WIDTH, POINTS_PER_MM
from viz_app.figures.model.constituency import ConstituencyFigure, TreePlaces, label_of, place_tree
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.canvas import Canvas
from viz_app.figures.mpl.frame import GAP, LINE, Frame, page_height, page_width

_MIN_FONT = 6.0
_NARROW = 60 * POINTS_PER_MM  # width of the page at least when it is free
_HALF_BOX = 0.66  # half the height of a tint over the font size
_BESIDE = 0.25  # of a tint beside its label over the font size
_BAR = 60.0  # length of the key of a colour in points
_TALLEST = 1.5  # of the levels where the height is given, over their own


@dataclass(frozen=True)
class Plan:
    """Places in points: the page, left edge and top of the tree, font, stretch of its levels, places in fonts."""

    width: float
    height: float
    left: float
    top: float
    font: float
    stretch: float
    places: TreePlaces
    frame: Frame


def plan(figure: ConstituencyFigure, style: Style) -> Plan:
    """Where everything goes."""
    places, font = place_tree(figure, fonts.width), style.font
    if style.width is None:
        size = max(min(font, (PAGE_WIDTH - 2 * PAD) / places.width), min(font, _MIN_FONT))
        width = max(places.width * size + 2 * PAD, _NARROW)
    else:
        width = page_width(style, 0.0)
        size = max(1.0, min(font, (width - 2 * PAD) / places.width))
    frame = Frame(figure, style, width, notes=[", ".join(figure.tint_titles())] if style.legend else ())
    below = frame.below + (font * LINE + GAP if style.legend and figure.is_tinted else 0.0)
    stretch = 1.0  # two fonts stand for half a label above the root's middle and half below the words', with air
    if style.height is not None:
        room = style.height * POINTS_PER_MM - frame.above - below
        size = max(1.0, min(size, room / (0.75 * places.height + 2)))
        stretch = min(_TALLEST, max(0.75, (room / size - 2) / places.height))
    needed = frame.above + (places.height * stretch + 2) * size + below
    height = page_height(style, needed)
    top = frame.above + (height - needed) / 2 + size
    return Plan(width, height, (width - places.width * size) / 2, top, size, stretch, places, frame)


def draw(figure: ConstituencyFigure, style: Style, format: str, dpi: int) -> Canvas:
    """The figure on a page."""
    place = plan(figure, style)
    canvas = Canvas(figure, style, format, dpi, place.width, place.height)
    place.frame.draw(canvas)
    for edge in place.places.edges:
        for one, two in pairwise([_point(place, x, y) for x, y in edge]):
            canvas.curve([one, two], canvas.muted, 0.6)
    for i, node in enumerate(figure.nodes):
        _draw_label(canvas, place, node.label, place.places.nodes[i], figure.node_tint(i, style))
    for i, word in enumerate(figure.words):
        _draw_label(canvas, place, word, place.places.words[i], figure.word_tint(i, style))
    if style.legend and figure.is_tinted:
        _draw_key(canvas, figure, style, place)
    return canvas


def _point(place: Plan, x: float, y: float) -> tuple[float, float]:
    return place.left + x * place.font, place.top + y * place.stretch * place.font


def _draw_label(canvas: Canvas, place: Plan, text: str, at: tuple[float, float], tint: str | None) -> None:
    assert isinstance(canvas.spec, ConstituencyFigure)
    (x, y), size, label = _point(place, *at), place.font, label_of(text)
    if tint is not None:
        half = fonts.width(label, size) / 2 + _BESIDE * size
        canvas.box(
            x - half, y - _HALF_BOX * size, 2 * half, 2 * _HALF_BOX * size, fill=tint, edge=canvas.faint, line=0.4
        )
    canvas.text(x, y, label, size, canvas.spec.ink_on(tint))


def _draw_key(canvas: Canvas, figure: ConstituencyFigure, style: Style, place: Plan) -> None:
    """The scale of the tints between its ends; what they mean stands below, among the notes of the frame."""
    font, scale = style.font, figure.color_map(style)
    middle = canvas.height - place.frame.below - font * LINE / 2
    bar = min(_BAR, canvas.width / 4)
    x = (canvas.width - bar) / 2
    canvas.text(x - GAP, middle, format_number(scale.low), 0.9 * font, canvas.ink, ha="right")
    canvas.image(_gradient(figure, style), x, middle - 0.35 * font, bar, 0.7 * font)
    canvas.box(x, middle - 0.35 * font, bar, 0.7 * font, edge=canvas.muted, line=0.4)
    canvas.text(x + bar + GAP, middle, format_number(scale.high), 0.9 * font, canvas.ink, ha="left")


def _gradient(figure: ConstituencyFigure, style: Style) -> np.ndarray:
    scale = figure.color_map(style)
    return scale.rgb(np.linspace(scale.low, scale.high, 64))[None]
