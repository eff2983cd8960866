"""The folded flow in print: ribbons from generated tokens to what they are made of.

A short sentence stands above its translation, a long one to the left of it. `along` is the direction of both lines of
tokens, `beside` that of the ribbons between them. Curves and shares are as in the explorer's folded flow.
"""

from __future__ import annotations

from collections.abc import Iterator

from viz_app.figures import fonts
from viz_app.figures.colours.palette import MUTED, kind_color
from viz_app.figures.layout import PAD, PAGE_WIDTH, POINTS_PER_MM
from viz_app.figures.model.flow import FAINTEST, LEAST, NARROW, FlowFigure, MadeToken, Origin, Part, number
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.frame import GAP, LINE, Entry, Frame, page_height
from viz_app.figures.mpl.ribbons import EDGE, Points, clamp, draw_ribbon, shown, widest
from viz_app.figures.surface import Surface

_SIZES = (1.0, 0.9, 0.8, 0.75)  # of labels over the font size, until they fit
_SMALL = 0.85  # numbers over labels
_MIN = 6.0  # points of numbers, where labels are larger
_BAND = 2.4  # width of all that adds to a token, over the label
_ROOM = 50 * POINTS_PER_MM  # of ribbons between columns, when the width is free
_PITCH = 1.6  # from one token to the next of a column, over the font size
_WEAK = 0.01  # share of the positive parts below which a token is grey
_KINDS: dict[Origin, str] = {"source": "cross", "inputs": "decoder", "biases": ""}


class FoldedFlow:
    """Places of the tokens, in points, and the drawing."""

    def __init__(self, figure: FlowFigure, style: Style) -> None:
        self.figure, self.style = figure, style
        biases = () if figure.word is None else (figure.titles["biases"],)
        self.upper, self.lower, self.apart = (*figure.source, *biases), figure.inputs, len(biases)
        self.lines: dict[Origin, tuple[str, ...]] = {"source": self.upper, "inputs": self.lower}
        limit = PAGE_WIDTH if style.width is None else style.width * POINTS_PER_MM
        fitting = [each * style.font for each in _SIZES if self._natural(each * style.font) <= limit]
        self.across = bool(fitting)
        self.size = fitting[0] if fitting else style.font
        self.small = self._small(self.size)
        if style.width is None:
            natural = 1.15 * self._natural(self.size) if self.across else self._beside(self.size) + 1.4 * _ROOM
            limit = clamp(natural, 80 * POINTS_PER_MM, PAGE_WIDTH)
        self.width = limit
        self.frame = Frame(figure, style, self.width, self._entries(), [figure.note] if style.legend else [])
        if self.across:
            self._lie()
        else:
            self._stand()

    def draw(self, surface: Surface) -> None:
        """Draw ribbons, faint ones first, then tokens and numbers."""
        self.frame.draw(surface)
        chosen = self.figure.chosen
        faint = [each for token in self.figure.tokens if token is not chosen for each in self._faint(token)]
        for share, part, points in sorted(faint, key=lambda each: each[0]):
            alpha = 0.3 + 0.5 * share if chosen is None else 0.08 + 0.2 * share
            color = surface.mixed(surface.accent(_KINDS[part.origin]), min(1.0, alpha))
            draw_ribbon(surface, points, color, NARROW * self.band * share, hollow=False, reached=1.0)
        if chosen is not None:
            strands = self._strands(chosen, chosen.parts, LEAST, self.band)
            for share, part, points in sorted(strands, key=lambda each: each[0]):
                color = surface.mixed(surface.accent(_KINDS[part.origin]), 0.45 + 0.5 * min(1.0, share / 0.3))
                hollow, reached = part.value < 0, self.figure.reached
                draw_ribbon(surface, points, color, self.band * share, hollow=hollow, reached=reached)
        self._words(surface)

    def _entries(self) -> list[Entry]:
        """Return the key: only what is drawn."""
        titles, theme, chosen = self.figure.titles, self.figure.theme, self.figure.chosen
        origins: tuple[Origin, ...] = ("source", "inputs")
        entries = [Entry(titles[origin], kind_color(_KINDS[origin], theme), 3.0) for origin in origins]
        if chosen and any(part.value < -LEAST * chosen.added for part in chosen.parts):
            entries.append(Entry(titles["negative"], MUTED[theme], EDGE, boxed=True))
        return entries

    def _small(self, size: float) -> float:
        """Return the size of numbers beside labels."""
        return max(_SMALL * size, min(size, _MIN))

    def _slots(self, labels: tuple[str, ...], size: float) -> list[float]:
        """Return the room of each token of a line."""
        least = fonts.width(number(-88.8), self._small(size)) if self.figure.word is not None else 0.0
        return [max(least, fonts.width(shown(label), size)) + 0.7 * size for label in labels]

    def _natural(self, size: float) -> float:
        """Return the width of both lines above each other."""
        return (
            max(sum(self._slots(self.upper, size)) + 2 * size * self.apart, sum(self._slots(self.lower, size)))
            + 2 * PAD
        )

    def _beside(self, size: float) -> float:
        """Return the width of labels and numbers beside each other."""
        self.numbers = fonts.width(number(-88.8), self._small(size)) + GAP if self.figure.word is not None else 0.0
        return widest(self.upper, size) + widest(self.lower, size) + 2 * self.numbers + 2 * PAD + 4 * GAP

    def _lie(self) -> None:
        """Place the sentence above the translation."""
        size, row = self.size, self.size * LINE
        numbers = self.small * LINE if self.figure.word is not None else 0.0
        block = min(self.width - 2 * PAD, 1.5 * self._natural(size))
        self.along: dict[Origin, list[float]] = {}
        for line, labels in self.lines.items():
            slots, gap = self._slots(labels, size), 2 * size * self.apart if line == "source" else 0.0
            spare = (block - sum(slots) - gap) / len(slots)
            at, places = (self.width - block) / 2, []
            for i, slot in enumerate(slots):
                at += gap if i == len(slots) - 1 else 0.0
                places.append(at + (slot + spare) / 2)
                at += slot + spare
            self.along[line] = places
        slot = block / len(self.lower)
        self.band, self.extent = clamp(0.62 * slot, 1.3 * size, _BAND * size), block
        between, depth = clamp(0.3 * block, 60.0, 150.0), clamp(0.1 * block, 18.0, 48.0)
        fixed = self.frame.above + self.frame.below + 2 * (row + numbers) + 2 * GAP
        if self.style.height is not None:
            stretch = clamp((self.style.height * POINTS_PER_MM - fixed) / (between + depth), 0.3, 1.6)
            between, depth = stretch * between, stretch * depth
        needed = fixed + between + depth
        self.height = page_height(self.style, needed)
        top = self.frame.above + (self.height - needed) / 2
        self.depth = depth
        self.number_at = {"source": top + numbers / 2}
        self.word_at: dict[Origin, float] = {"source": top + numbers + row / 2}
        upper = top + numbers + row + GAP / 2
        lower = upper + between
        self.word_at["inputs"] = lower + GAP / 2 + row / 2
        self.number_at["inputs"] = lower + GAP / 2 + row + numbers / 2
        self.ends = upper, lower, lower + GAP + row + numbers

    def _stand(self) -> None:
        """Place the sentence to the left of the translation."""
        font, style = self.style.font, self.style
        rows = max(len(self.upper) + self.apart, len(self.lower))
        self.depth = clamp(0.12 * self.width, 16.0, 60.0)
        pitch = _PITCH * font
        if style.height is not None:
            room = style.height * POINTS_PER_MM - self.frame.above - self.frame.below
            pitch = clamp(room / rows, 1.0, pitch)
        room = 0.7 * self.width - self.depth
        self.size = min(font, pitch / 1.15, font * max(0.1, room / self._beside(font)))
        self.small, _ = self._small(self.size), self._beside(self.size)
        needed = self.frame.above + rows * pitch + self.frame.below
        self.height = page_height(style, needed)
        first = self.frame.above + (self.height - needed) / 2 + pitch / 2
        self.along = {}
        for line, labels in self.lines.items():
            gap = self.apart if line == "source" else 0
            start = first + (rows - len(labels) - gap) * pitch / 2
            self.along[line] = [start + (i + gap * (i == len(labels) - 1)) * pitch for i in range(len(labels))]
        self.band, self.extent = 1.35 * pitch, rows * pitch
        left = PAD + self.numbers + widest(self.upper, self.size)
        arc = self.width - PAD - self.depth
        right = arc - GAP - self.numbers - widest(self.lower, self.size)
        self.number_at = {"source": PAD + self.numbers - GAP, "inputs": arc - GAP}
        self.word_at = {"source": left, "inputs": right}
        self.ends = left + GAP, right - GAP, arc

    def _points(self, start: float, part: Part) -> Points:
        """Return the curve from a token, which it leaves at `start`, to a part."""
        upper, lower, arc = self.ends
        end = self._place(part)
        if part.origin == "inputs":
            reach = 0.4 * self.size + self.depth * (abs(end - start) / self.extent) ** 0.5
            a, b, c, d = arc, *(arc + 4 / 3 * min(self.depth, reach),) * 2, arc
        else:
            a, b, c, d = lower, *((upper + lower) / 2,) * 2, upper
        places = [(start, a), (start, b), (end, c), (end, d)]
        return places if self.across else [(beside, along) for along, beside in places]

    def _place(self, part: Part) -> float:
        return self.along["inputs"][part.position] if part.origin == "inputs" else self._upper(part)

    def _upper(self, part: Part) -> float:
        return self.along["source"][-1 if part.origin == "biases" else part.position]

    def _strands(
        self, token: MadeToken, parts: tuple[Part, ...], least: float, band: float
    ) -> Iterator[tuple[float, Part, Points]]:
        """Yield the ribbons of a token, side by side where they leave it: share, part, curve."""
        at, whole = self.along["inputs"][token.position + 1], token.added
        for below in (False, True):  # arcs lie in each other
            there = [each for each in parts if (each.origin == "inputs") == below and abs(each.value) > least * whole]
            there.sort(key=self._place, reverse=below)
            start = at - band * sum(abs(each.value) for each in there) / whole / 2
            for each in there:
                share = abs(each.value) / whole
                yield share, each, self._points(start + band * share / 2, each)
                start += band * share

    def _faint(self, token: MadeToken) -> Iterator[tuple[float, Part, Points]]:
        """Yield the ribbons of a token among others: of parts that add and are no biases."""
        parts = tuple(part for part in token.parts if part.value > 0 and part.origin != "biases")
        return self._strands(token, parts, FAINTEST, NARROW * self.band)

    def _words(self, surface: Surface) -> None:
        """Draw tokens, and the parts of the chosen one as numbers; its own number is their sum."""
        figure, chosen = self.figure, self.figure.chosen
        numbers: dict[Origin, list[float]] = {"source": [], "inputs": []}
        if chosen is not None:
            numbers = {"source": [*chosen.source.tolist(), chosen.biases], "inputs": chosen.inputs.tolist()}
        for line, labels in self.lines.items():
            ha = "center" if self.across else "right" if line == "source" else "left"
            for i, (label, at) in enumerate(zip(labels, self.along[line], strict=True)):
                value = numbers[line][i] if i < len(numbers[line]) else None
                mine = chosen is not None and line == "inputs" and i == chosen.position + 1
                place, beside = (
                    (at, each) if self.across else (each, at) for each in (self.word_at[line], self.number_at[line])
                )
                kind = "" if line == "source" and i == len(figure.source) else _KINDS[line]
                weak = (line == "inputs" and i == 0) or not kind
                if chosen is not None and not mine:
                    weak |= abs(value or 0.0) < _WEAK * chosen.added
                if mine:
                    self._frame_word(surface, shown(label), *place)
                surface.text(*place, shown(label), self.size, surface.muted if weak else surface.ink, ha=ha)
                text = f"= {number(chosen.logit)}" if mine and chosen else "" if value is None else number(value)
                color = surface.ink if mine else surface.muted if weak else surface.accent(kind, text=True)
                if text:
                    surface.text(*beside, text, self.small, color, ha="center" if self.across else "right")

    def _frame_word(self, surface: Surface, text: str, x: float, y: float) -> None:
        long = fonts.width(text, self.size)
        left = x - long / 2 if self.across else x
        surface.box(left - 2, y - 0.65 * self.size, long + 4, 1.3 * self.size, edge=surface.ink)
