"""Frame of a drawing that is no heatmap: heading above; key, notes and caption below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viz_app.figures import fonts
from viz_app.figures.layout import PAD, POINTS_PER_MM, wrap
from viz_app.figures.model.figure import Figure
from viz_app.figures.model.style import Style
from viz_app.figures.surface import Surface

LINE = 1.3  # line height over font size
GAP = 4.0
DASHES = (3.0, 1.6)  # stroke and gap over the width of the line
_SWATCH = 2.0  # length of a sample of a line over the font size


@dataclass(frozen=True)
class Entry:
    """One entry of a key: its name, the colour and width of its line, and whether that is dashed or a box.

    A reading stands after the name, in a room as wide as the text `room`, so that a key stays while readings change.
    """

    label: str
    color: str
    width: float = 1.5
    dashed: bool = False
    boxed: bool = False
    reading: str = ""
    room: str = ""


class Frame:
    """Heading, key, notes and caption of a figure of this width, and how high they are.

    Args:
        figure: Gives heading and caption.
        style: Which of them are drawn, and the font.
        width: Of the page, in points.
        entries: Of the key; none without a legend.
        notes: Lines below the figure.
    """

    def __init__(
        self, figure: Figure, style: Style, width: float, entries: Sequence[Entry] = (), notes: Sequence[str] = ()
    ) -> None:
        font, room = style.font, width - 2 * PAD
        self.font, self.small, self.width = font, 0.85 * font, width
        self.title = wrap(figure.title, 1.1 * font, room, fonts.width) if style.title else ()
        self.notes = tuple(line for note in notes for line in wrap(note, self.small, room, fonts.width))
        self.caption = wrap(figure.caption, font, room, fonts.width) if style.caption else ()
        self.key = self._rows(entries if style.legend else (), room)
        self.above = PAD + len(self.title) * 1.1 * font * LINE + (GAP if self.title else 0.0)
        parts = (len(self.key) * font * LINE, len(self.notes) * self.small * LINE, len(self.caption) * font * LINE)
        self.below = sum(part + GAP for part in parts if part) + PAD

    def draw(self, canvas: Surface) -> None:
        """Draw everything at the top and at the bottom of the page."""
        canvas.lines_of_text(self.title, PAD, 1.1 * self.font, canvas.ink)
        top = canvas.height - self.below + GAP
        for row in self.key:
            self._draw_row(canvas, row, top + self.font * LINE / 2)
            top += self.font * LINE
        top += GAP if self.key else 0.0
        canvas.lines_of_text(self.notes, top, self.small, canvas.muted)
        top += len(self.notes) * self.small * LINE + (GAP if self.notes else 0.0)
        canvas.lines_of_text(self.caption, top, self.font, canvas.ink)

    def _length(self, entry: Entry) -> float:
        return _SWATCH * self.font + GAP + fonts.width(entry.label, 0.9 * self.font) + self._room(entry) + 3 * GAP

    def _room(self, entry: Entry) -> float:
        return GAP + fonts.width(entry.room, 0.9 * self.font) if entry.room else 0.0

    def _rows(self, entries: Sequence[Entry], room: float) -> list[list[Entry]]:
        rows: list[list[Entry]] = []
        for entry in entries:
            if rows and sum(self._length(other) for other in rows[-1]) + self._length(entry) <= room + 3 * GAP:
                rows[-1].append(entry)
            else:
                rows.append([entry])
        return rows

    def _draw_row(self, canvas: Surface, row: list[Entry], y: float) -> None:
        x = (self.width - sum(self._length(entry) for entry in row) + 3 * GAP) / 2
        for entry in row:
            end = x + _SWATCH * self.font
            if entry.boxed:
                canvas.box(x, y - 0.4 * self.font, end - x, 0.8 * self.font, edge=entry.color, line=entry.width)
            else:
                dashes = DASHES if entry.dashed else None
                canvas.line((x, end), (y, y), color=entry.color, width=entry.width, dashes=dashes)
            canvas.text(end + GAP, y, entry.label, 0.9 * self.font, canvas.ink, ha="left")
            x += self._length(entry)
            if entry.reading:
                canvas.text(x - 3 * GAP, y, entry.reading, 0.9 * self.font, canvas.ink, ha="right")


def page_width(style: Style, natural: float) -> float:
    """Return the width asked for, or else the natural one, in points."""
    return natural if style.width is None else style.width * POINTS_PER_MM


def page_height(style: Style, needed: float) -> float:
    """Return the height asked for where that is enough, or else the needed one, in points."""
    return needed if style.height is None else max(needed, style.height * POINTS_PER_MM)
