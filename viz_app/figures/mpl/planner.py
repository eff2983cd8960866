"""Layout of a figure of heatmaps. Arithmetic, no drawing.

Cells are square. Labels stand beside the first and below the last panels when all panels share them, and they get the
room that their text needs; when cells are too small for labels, a line below the figure tells what the axes are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, sqrt

from viz_app.figures.layout import MAX_LABEL, PAD, PAGE_HEIGHT, PAGE_WIDTH, POINTS_PER_MM, Measure, wrap
from viz_app.figures.model.figure import HeatmapFigure, display_label
from viz_app.figures.model.style import Style

_GAP = 4.0  # between neighbouring parts
_MIN_WIDTH = 80 * POINTS_PER_MM
_LARGEST_CELL = {1: 15.0, 2: 11.0}  # points; a single panel, several panels
_ROOMY_CELL = 3.5  # times the font size: a given width with few tokens leaves margins instead of larger cells
_MIN_CELL = 6.6  # of a single panel when the width is free: labels of 6 points
_MIN_LABEL = {1: 3.0, 2: 4.5}  # smaller labels are left out
_LINE = 1.3  # line height over font size
_SLANT = 1 / sqrt(2)
_BAR = 7.0  # width of the colour bar
_BAR_HEIGHT = 110.0
_MIN_BAR = 60.0


class Layout:
    """Places and sizes of one figure, in points from the top left corner.

    Args:
        figure: What is drawn.
        measure: Width of a text in points at a font size.
        style: Size, font and what is drawn around the panels.

    Attributes:
        width: Of the figure.
        height: Of the figure.
        cell: Side of a cell.
        slot: Width and height of the place of each panel.
        font: Size of titles.
        label_font: Size of token labels; 0 when there are none.
        key_angle: Rotation of the key labels: 0, 45 or 90 degrees.
        panels: Left and top of each panel.
        panel_titles: Text above each panel, with its letter; may be empty.
        query_title: Middle of the rotated title of the rows.
        row_titles: Middle of the rotated titles of the rows of panels.
        group_titles: Middle of the rotated titles of groups of rows.
        key_title: Middle of the title of the columns.
        notes_title: Baseline for the heading over the second row labels.
        bars: Left, top, width and height of each colour bar.
        title_lines: Heading, broken into lines; `foot_lines` and `caption_lines` likewise.
        shared: Whether the panels share their labels.
    """

    def __init__(self, figure: HeatmapFigure, measure: Measure, style: Style) -> None:
        self.figure, self.measure, self.style, self.font = figure, measure, style, style.font
        self.requested_width = None if style.width is None else style.width * POINTS_PER_MM
        self.asked_height = None if style.height is None else style.height * POINTS_PER_MM
        self.largest, self.lowered = inf, 0.0  # limits of a given height: side of a cell; room above
        panels = figure.panels
        self.queries = max(len(figure.room_queries), *(len(panel.query_labels) for panel in panels))
        self.keys = max(len(figure.room_keys), *(len(panel.key_labels) for panel in panels))
        self.shared = _prefixes([p.query_labels for p in panels]) and _prefixes([p.key_labels for p in panels])
        self.size_class = 1 if len(panels) == 1 else 2
        self.query_width = self._widest([*figure.room_queries, *(t for panel in panels for t in panel.query_labels)])
        self.key_width = self._widest([*figure.room_keys, *(t for panel in panels for t in panel.key_labels)])
        notes = panels[0].query_notes if figure.draw_notes else None
        self.notes_width = 0.0
        if notes:
            heading = measure(figure.note_title, 1.0)
            self.notes_width = max(self._widest(notes) + measure("\u2192 ", 1.0), heading)
        self.panel_titles = figure.panel_titles(letters=style.letters)
        self.bar_count = int(bool(figure.weights)) + int(bool(figure.differences)) if style.legend else 0
        self._solve()
        if self.asked_height is not None:
            self._keep_height(self.asked_height)

    def _keep_height(self, height: float) -> None:
        """Make cells smaller until the height is kept; the rest goes above and below."""
        for _ in range(12):
            excess = self.height - height
            if excess <= 0.01 or self.cell <= 0.1:
                break
            self.largest = max(0.1, self.cell - excess / (self.figure.rows * self.queries))
            self._solve()
        self.lowered = max(0.0, (height - self.height) / 2)
        self._solve()

    def _solve(self) -> None:
        """Find the sizes of cells and labels, which depend on each other, by a few rounds of both."""
        label = self._usable(self.font)
        cell = 0.0
        for _ in range(8):
            cell = self._cell(label)
            label = self._usable(min(self.font, 0.9 * cell))
        cell = self._cell(label)
        self._place(cell, label)

    def _widest(self, labels: Iterable[str]) -> float:
        """Widest label at font size 1."""
        return max((self.measure(display_label(label, MAX_LABEL), 1.0) for label in labels), default=0.0)

    def _usable(self, label: float) -> float:
        return label if label >= _MIN_LABEL[self.size_class] else 0.0

    def _sides(self, label: float) -> tuple[float, float, float]:
        """Room left of the panels, between two of them, and right of them (with the colour bar)."""
        font = self.font
        labels = label * self.query_width + 2 * _GAP if label else 0.0
        titles = (bool(label), bool(self.figure.row_titles), bool(self.figure.row_groups))
        left = PAD + sum(titles) * font * _LINE + labels
        if label:  # the first slanted key label reaches to the left of its cell
            left = max(left, PAD + self.key_width * label * _SLANT)
        between = (2.5 * _GAP if label else 1.5 * _GAP) + (0.0 if self.shared else labels)
        notes = label * self.notes_width + 2 * _GAP if label and self.notes_width else 0.0
        return left, between, notes + self.bar_count * self._bar_width() + (PAD if self.bar_count else 2 * PAD)

    def _bar_width(self) -> float:
        """Return a colour bar with the room before it, its numbers and its title."""
        return 3 * _GAP + _BAR + self.measure("\u22120.75", 0.85 * self.font) + 1.5 * _GAP + self.font * _LINE

    def _heights(self, cell: float, label: float) -> tuple[float, float, float]:
        """Room above the first row of panels (below the heading), between two rows, and below the last."""
        font = self.font
        title = font * _LINE + 0.5 * _GAP if any(self.panel_titles) else 0.0
        if label and self.notes_width:
            title = max(title, font * _LINE)
        labels = self._key_label_height(cell, label)
        between = 2 * _GAP + (0.0 if self.figure.row_titles else title) + (0.0 if self.shared else labels)
        return title, between, labels + (font * _LINE if label else 0.0)

    def _key_angle(self, cell: float, label: float) -> int:
        if self.style.rotation != "auto":
            return int(self.style.rotation)
        if label * self.key_width <= 0.92 * cell:
            return 0
        return 45 if label <= 0.7 * cell else 90

    def _key_label_height(self, cell: float, label: float) -> float:
        if not label:
            return 0.0
        long = label * self.key_width
        height = {0: label * _LINE, 45: (long + label) * _SLANT, 90: long}[self._key_angle(cell, label)]
        return height + 2 * _GAP

    def _cell(self, label: float) -> float:
        """Side of a cell for labels of this size."""
        left, between, right = self._sides(label)
        columns = self.figure.columns
        spent = left + right + between * (columns - 1)
        across = columns * self.keys
        if self.requested_width is not None:
            tall = self._cell_of_a_page(label, _ROOMY_CELL * self.font) if self.size_class > 1 else inf
            return max(0.1, min((self.requested_width - spent) / across, _ROOMY_CELL * self.font, self.largest, tall))
        largest = _LARGEST_CELL[self.size_class]
        wide = (PAGE_WIDTH - spent) / across
        tall = self._cell_of_a_page(label, largest)
        if self.asked_height is not None:
            return max(0.1, min(self.largest, _ROOMY_CELL * self.font))
        cell = min(largest, wide, tall)
        return max(cell, _MIN_CELL) if self.size_class == 1 else max(cell, 0.5)

    def _cell_of_a_page(self, label: float, largest: float) -> float:
        """Side of a cell with which all rows of panels fit on a page."""
        rows = self.figure.rows
        title, apart, below = self._heights(largest, label)
        lines = len(self.figure.caption) * self.font / (PAGE_WIDTH / 2) + 1 if self.style.caption else 0.0
        spent = title + apart * (rows - 1) + below + (5 + 1.5 * lines) * self.font
        return (PAGE_HEIGHT - spent) / (rows * self.queries)

    def _place(self, cell: float, label: float) -> None:
        figure, font = self.figure, self.font
        self.cell, self.label_font, self.key_angle = cell, label, self._key_angle(cell, label)
        left, between, right = self._sides(label)
        width_panel, height_panel = cell * self.keys, cell * self.queries
        block = width_panel * figure.columns + between * (figure.columns - 1)
        natural = left + block + right
        self.slot = width_panel, height_panel
        self.width = self.requested_width if self.requested_width is not None else max(natural, _MIN_WIDTH)
        left += max(0.0, (self.width - natural) / 2)
        room = self.width - 2 * PAD
        self.title_lines = wrap(figure.title, font * 1.1, room, self.measure) if self.style.title else ()
        self.caption_lines = wrap(figure.caption, font, room, self.measure) if self.style.caption else ()
        self.foot_lines = self._foot_lines(label, room)
        self.title_top = PAD + self.lowered
        head = self.title_top + len(self.title_lines) * font * 1.1 * _LINE + (_GAP if self.title_lines else 0.0)
        above, apart, below = self._heights(cell, label)
        rows = figure.rows
        tall = rows * height_panel + (rows - 1) * apart
        beside = self._beside(label)
        top = max(head + above, head + (beside - tall) / 2 + _GAP)
        bottom = top + tall
        self.panels = tuple(
            (
                left + (i % figure.columns) * (width_panel + between),
                top + (i // figure.columns) * (height_panel + apart),
            )
            for i in range(len(figure.panels))
        )
        middle = (top + bottom) / 2
        bar_height = min(_BAR_HEIGHT, max(tall, _MIN_BAR))
        notes = label * self.notes_width + 2 * _GAP if label and self.notes_width else 0.0
        titles = label * self.query_width + 2 * _GAP if label else _GAP
        self.row_titles = left - titles - font * _LINE / 2
        self.group_titles = self.row_titles - (font * _LINE if figure.row_titles else 0.0)
        self.query_title = self.group_titles - (font * _LINE if figure.row_groups else 0.0), middle
        self.key_title = (left + block / 2, bottom + below - font * _LINE / 2)
        if self.key_title[0] - self.measure(figure.key_title, font) / 2 < self.query_title[0] + font:
            # They meet below few rows.
            self.key_title = (
                self.key_title[0],
                max(self.key_title[1], middle + beside / 2 + font * _LINE / 2 + _GAP),
            )
        foot = max(self.key_title[1] + font * _LINE / 2 if label else bottom + below, middle + beside / 2 + _GAP)
        self.foot_top = foot + (_GAP if self.foot_lines else 0.0)
        self.caption_top = self.foot_top + len(self.foot_lines) * 0.85 * font * _LINE
        self.caption_top += _GAP if self.caption_lines else 0.0
        self.height = self.caption_top + len(self.caption_lines) * font * _LINE + PAD + self.lowered
        self.panel_title_font = self._fitting(self.panel_titles, 0.9 * font, width_panel + 0.7 * between)
        self.row_title_font = self._fitting(figure.row_titles, 0.9 * font, height_panel)
        self.group_title_font = self._group_title_font(height_panel, apart)
        self.notes_title = top - 0.5 * _GAP
        first_bar = left + block + notes + 3 * _GAP
        self.bars = tuple(
            (first_bar + i * self._bar_width(), middle - bar_height / 2, _BAR, bar_height)
            for i in range(self.bar_count)
        )

    def _beside(self, label: float) -> float:
        """Height of the tallest thing beside the panels: a map of few rows is lower than its rotated title."""
        titles = [self.figure.query_title] if label else []
        if self.bar_count:
            titles += [self.figure.scale_title] if self.figure.weights else []
            titles += [self.figure.difference_title] if self.figure.differences else []
        least = _MIN_BAR + self.font if self.bar_count else 0.0
        return max([least, *(self.measure(title, self.font) for title in titles)])

    def _fitting(self, titles: Sequence[str], size: float, room: float) -> float:
        """Return the largest font size up to `size` at which no title is longer than its room."""
        longest = max((self.measure(title, 1.0) for title in titles), default=0.0)
        return min(size, room / longest) if longest else size

    def _group_title_font(self, height: float, apart: float) -> float:
        """Size at which the title of each group of rows is no longer than its rows."""
        sizes = [
            self._fitting([title], self.font, rows * height + (rows - 0.3) * apart)
            for title, rows in self.figure.row_groups
        ]
        return min(sizes, default=self.font)

    def _foot_lines(self, label: float, room: float) -> tuple[str, ...]:
        notes = (self.figure.masked_note, "" if label else self.figure.tile_note)
        return tuple(line for note in notes for line in wrap(note, 0.85 * self.font, room, self.measure))


def _prefixes(labels: Sequence[Sequence[str]]) -> bool:
    """Return whether each list of labels is the start of the longest one."""
    longest: Sequence[str] = max(labels, key=len)
    return all(tuple(each) == tuple(longest[: len(each)]) for each in labels)
