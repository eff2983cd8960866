"""Phrase-structure trees in print."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from viz_app.figures import fonts
from viz_app.figures.colours.scales import format_number
from viz_app.figures.layout import PAD, PAGE_WIDTH, POINTS_PER_MM
from viz_app.figures.model.constituency import ConstituencyFigure, label_of, place_tree
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.canvas import Canvas
from viz_app.figures.mpl.frame import GAP, LINE, Frame, page_height, page_width

_MIN_FONT = 6.0
_NARROW = 60 * POINTS_PER_MM  # width of the page at least when it is free
_HALF_BOX = 0.66  # half the height of a tint over the font size
_BESIDE = 0.25  # of a tint beside its label over the font size
_BAR = 60.0  # length of the key of a colour in points
_TALLEST = 1.5  # of the levels where the height is given, over their own


def draw(figure: ConstituencyFigure, style: Style, format: str, dpi: int) -> Canvas:
    """Draw the figure on a page."""
    return Drawing(figure, style).on_canvas(format, dpi)


class Drawing:
    """Places of a tree in points, and its drawing. The levels of the tree are stretched to a given height."""

    def __init__(self, figure: ConstituencyFigure, style: Style) -> None:
        self.figure, self.style, font = figure, style, style.font
        self.places = places = place_tree(figure, fonts.width)
        if style.width is None:
            size = max(min(font, (PAGE_WIDTH - 2 * PAD) / places.width), min(font, _MIN_FONT))
            self.width = max(places.width * size + 2 * PAD, _NARROW)
        else:
            self.width = page_width(style, 0.0)
            size = max(1.0, min(font, (self.width - 2 * PAD) / places.width))
        notes = [", ".join(figure.tint_titles())] if style.legend else ()
        self.frame = frame = Frame(figure, style, self.width, notes=notes)
        below = frame.below + (font * LINE + GAP if style.legend and figure.is_tinted else 0.0)
        self.stretch = 1.0  # two fonts: half a label above the root's middle and half below the words', with air
        if style.height is not None:
            room = style.height * POINTS_PER_MM - frame.above - below
            size = max(1.0, min(size, room / (0.75 * places.height + 2)))
            self.stretch = min(_TALLEST, max(0.75, (room / size - 2) / places.height))
        needed = frame.above + (places.height * self.stretch + 2) * size + below
        self.height = page_height(style, needed)
        self.left, self.top = (self.width - places.width * size) / 2, frame.above + (self.height - needed) / 2 + size
        self.font = size

    def on_canvas(self, format: str, dpi: int) -> Canvas:
        """Draw edges, labels and the key of the tints."""
        figure, style, places = self.figure, self.style, self.places
        canvas = Canvas(figure, style, format, dpi, self.width, self.height)
        self.frame.draw(canvas)
        for edge in places.edges:
            for one, two in pairwise([self._point(x, y) for x, y in edge]):
                canvas.curve([one, two], canvas.muted, 0.6)
        for i, node in enumerate(figure.nodes):
            self._label(canvas, node.label, places.nodes[i], figure.node_tint(i, style))
        for i, word in enumerate(figure.words):
            self._label(canvas, word, places.words[i], figure.word_tint(i, style))
        if style.legend and figure.is_tinted:
            self._key(canvas)
        return canvas

    def _point(self, x: float, y: float) -> tuple[float, float]:
        return self.left + x * self.font, self.top + y * self.stretch * self.font

    def _label(self, canvas: Canvas, text: str, at: tuple[float, float], tint: str | None) -> None:
        (x, y), size, label = self._point(*at), self.font, label_of(text)
        if tint is not None:
            half = fonts.width(label, size) / 2 + _BESIDE * size
            box = x - half, y - _HALF_BOX * size, 2 * half, 2 * _HALF_BOX * size
            canvas.box(*box, fill=tint, edge=canvas.faint, line=0.4)
        canvas.text(x, y, label, size, self.figure.ink_on(tint))

    def _key(self, canvas: Canvas) -> None:
        """Draw the scale of the tints between its ends; the notes of the frame below say what they mean."""
        font, scale = self.style.font, self.figure.color_map(self.style)
        middle = canvas.height - self.frame.below - font * LINE / 2
        bar = min(_BAR, canvas.width / 4)
        x = (canvas.width - bar) / 2
        canvas.text(x - GAP, middle, format_number(scale.low), 0.9 * font, canvas.ink, ha="right")
        gradient = scale.rgb(np.linspace(scale.low, scale.high, 64))[None]
        canvas.image(gradient, x, middle - 0.35 * font, bar, 0.7 * font)
        canvas.box(x, middle - 0.35 * font, bar, 0.7 * font, edge=canvas.muted, line=0.4)
        canvas.text(x + bar + GAP, middle, format_number(scale.high), 0.9 * font, canvas.ink, ha="left")
