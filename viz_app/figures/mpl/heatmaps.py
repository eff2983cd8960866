"""Heatmaps in print: the panels at the places that `planner.py` finds."""

from __future__ import annotations

from viz_app.figures import fonts
from viz_app.figures.colours.scales import ColorMap, format_number
from viz_app.figures.layout import MAX_LABEL
from viz_app.figures.model.figure import DifferencePanel, HeatmapFigure, HeatmapPanel, display_label, word_starts
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.canvas import Canvas
from viz_app.figures.mpl.planner import Layout

_TICK = 3.0  # length of a word boundary mark, points


def plan(figure: HeatmapFigure, style: Style) -> Layout:
    """Find the layout."""
    return Layout(figure, fonts.width, style)


def draw(figure: HeatmapFigure, style: Style, format: str, dpi: int) -> Canvas:
    """Return the figure on a page."""
    layout = plan(figure, style)
    canvas = Canvas(figure, style, format, dpi, layout.width, layout.height)
    _Drawing(figure, style, layout, canvas).draw()
    return canvas


class _Drawing:
    """One figure on its way to a page."""

    def __init__(self, figure: HeatmapFigure, style: Style, layout: Layout, canvas: Canvas) -> None:
        self.spec, self.style, self.layout, self.canvas = figure, style, layout, canvas
        self.map, self.difference_map = figure.color_maps(style)
        self.title_color = canvas.accent(figure.kind, text=True)

    def draw(self) -> None:
        spec, layout, canvas = self.spec, self.layout, self.canvas
        canvas.lines_of_text(layout.title_lines, layout.title_top, layout.font * 1.1, canvas.ink)
        for i, panel in enumerate(spec.panels):
            self.panel(panel, i)
        if layout.label_font:
            canvas.text(*layout.query_title, spec.query_title, layout.font, self.title_color, rotation=90)
            canvas.text(*layout.key_title, spec.key_title, layout.font, self.title_color)
        for row, title in enumerate(spec.row_titles):
            top = layout.panels[row * spec.columns][1]
            size = layout.row_title_font
            canvas.text(layout.row_titles, top + layout.slot[1] / 2, title, size, canvas.ink, rotation=90)
        first = 0
        for title, rows in spec.row_groups:
            top, last = layout.panels[first * spec.columns][1], layout.panels[(first + rows - 1) * spec.columns][1]
            color = canvas.accent(spec.panels[first * spec.columns].kind, text=True)
            middle = (top + last + layout.slot[1]) / 2
            canvas.text(layout.group_titles, middle, title, layout.group_title_font, color, rotation=90)
            first += rows
        canvas.lines_of_text(layout.foot_lines, layout.foot_top, 0.85 * layout.font, canvas.muted)
        canvas.lines_of_text(layout.caption_lines, layout.caption_top, layout.font, canvas.ink)
        for bar, colors, title in zip(
            layout.bars,
            (self.map, self.difference_map) if spec.weights else (self.difference_map,),
            (spec.scale_title, spec.difference_title) if spec.weights else (spec.difference_title,),
            strict=False,
        ):
            color_bar(canvas, colors, title, *bar, font=layout.font)

    def panel(self, panel: HeatmapPanel, index: int) -> None:
        """Draw cells, hatching, frame, and the labels of this panel."""
        spec, layout, canvas, cell = self.spec, self.layout, self.canvas, self.layout.cell
        left, top = layout.panels[index]
        rows, columns = panel.weights.shape
        pixels = (self.difference_map if isinstance(panel, DifferencePanel) else self.map).rgb(panel.weights)
        canvas.cells(pixels, panel.allowed, left, top, columns * cell, rows * cell)
        if layout.shared and (rows * cell, columns * cell) != (layout.slot[1], layout.slot[0]):
            canvas.box(left, top, *layout.slot, edge=canvas.faint, zorder=0)  # what is not written yet
        frame = canvas.accent(panel.kind or spec.kind)
        canvas.box(left, top, columns * cell, rows * cell, edge=frame, line=0.8)  # above the hatching
        title = layout.panel_titles[index]
        if title:
            size = layout.panel_title_font
            canvas.text(left + layout.slot[0] / 2, top - layout.font * 0.7, title, size, canvas.ink)
        if layout.label_font:
            if index % spec.columns == 0 or not layout.shared:
                self.query_labels(self.longest(index) if layout.shared else panel, left, top)
            if index + spec.columns >= len(spec.panels) or not layout.shared:
                bottom = top + (layout.slot[1] if layout.shared else rows * cell)
                self.key_labels(panel, left, bottom)
            if spec.draw_notes and panel.query_notes and index == 0:
                self.notes(panel, left + layout.slot[0], top)

    def longest(self, index: int) -> HeatmapPanel:
        """Return the panel with most rows of those beside this one; it names the rows of all."""
        row = self.spec.panels[index : index + self.spec.columns]
        return max(row, key=lambda panel: len(panel.query_labels))

    def query_labels(self, panel: HeatmapPanel, left: float, top: float) -> None:
        cell, size = self.layout.cell, self.layout.label_font
        for row, label in enumerate(panel.query_labels):
            self.label(left - 5, top + (row + 0.5) * cell, label, size, ha="right")
        for start in word_starts(panel.query_words):
            self.canvas.line((left - _TICK, left), (top + start * cell,) * 2)

    def key_labels(self, panel: HeatmapPanel, left: float, bottom: float) -> None:
        cell, size, angle = self.layout.cell, self.layout.label_font, self.layout.key_angle
        for column, label in enumerate(panel.key_labels):
            x = left + (column + 0.5) * cell
            if angle == 0:
                self.label(x, bottom + 4 + size * 0.6, label, size, ha="center")
            else:  # anchored at the end of the text, which points at its column
                self.label(x, bottom + 5, label, size, ha="right", rotation=angle)
        for start in word_starts(panel.key_words):
            self.canvas.line((left + start * cell,) * 2, (bottom, bottom + _TICK))

    def notes(self, panel: HeatmapPanel, right: float, top: float) -> None:
        """Draw the second labels of the rows, with their heading."""
        cell, size, canvas = self.layout.cell, self.layout.label_font, self.canvas
        for row, label in enumerate(panel.query_notes or ()):
            if label:
                text = f"\u2192 {display_label(label, MAX_LABEL)}"
                canvas.text(right + 5, top + (row + 0.5) * cell, text, size, canvas.muted, ha="left")
        heading = self.layout.notes_title - size * 0.5
        canvas.text(right + 5, heading, self.spec.note_title, size, self.title_color, ha="left")

    def label(self, x: float, y: float, label: str, size: float, *, ha: str, rotation: float = 0) -> None:
        self.canvas.text(x, y, display_label(label, MAX_LABEL), size, self.canvas.ink, ha=ha, rotation=rotation)


def color_bar(
    canvas: Canvas, colors: ColorMap, title: str, left: float, top: float, width: float, height: float, *, font: float
) -> None:
    """Draw the key of a colour scale, its largest value at the top."""
    size = 0.85 * font
    canvas.image(colors.colors[::-1, None, :], left, top, width, height)
    canvas.box(left, top, width, height, edge=canvas.muted)
    ticks = [(float(colors.position(value)), format_number(value)) for value in colors.ticks()]
    for place, text in ticks:
        y = top + (1 - place) * height
        canvas.line((left + width, left + width + 2), (y, y))
        canvas.text(left + width + 4, y, text, size, canvas.ink, ha="left")
    widest = max(fonts.width(text, size) for _, text in ticks)
    x = left + width + 6 + widest + font * 0.65
    canvas.text(x, top + height / 2, title, font, canvas.ink, rotation=90)
