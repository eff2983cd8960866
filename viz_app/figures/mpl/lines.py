"""Lines between two columns of tokens in print."""

from __future__ import annotations

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


def draw(figure: LinesFigure, style: Style, format: str, dpi: int) -> Canvas:
    """Draw the figure on a page."""
    return _Drawing(figure, style).on_canvas(format, dpi)


class _Drawing:
    """Places of both columns and of their rows, in points, and the drawing."""

    def __init__(self, figure: LinesFigure, style: Style) -> None:
        self.figure, self.style = figure, style
        font, panel = style.font, figure.panels[0]
        self.queries, self.keys = len(panel.query_labels), len(panel.key_labels)
        self.squares = len(figure.panels) if figure.query is not None and len(figure.panels) > 1 else 0
        lefts, rights = (
            max(fonts.width(display_label(label, MAX_LABEL), 1.0) for label in labels)
            for labels in (panel.query_labels, panel.key_labels)
        )
        beside = self.squares * _SQUARE * font + (GAP if self.squares else 0.0)
        natural = (lefts + rights) * font + beside + _MIDDLE + 2 * PAD + 2 * GAP
        self.width = page_width(style, natural)
        label_font = min(font, max(1.0, (0.75 * self.width - 2 * PAD - beside) / (lefts + rights)))
        self.titles = [
            wrap(title, 0.9 * font, self.width / 2 - PAD - GAP, fonts.width)
            for title in (figure.query_title, figure.key_title)
        ]
        entries = [Entry(panel.title, color, 2.5) for panel, color in zip(figure.panels, figure.colors, strict=True)]
        notes = [figure.line_note] if style.legend else []
        self.frame = Frame(figure, style, self.width, entries if len(entries) > 1 else (), notes)
        above = self.frame.above + max(len(lines) for lines in self.titles) * 0.9 * font * LINE + GAP
        rows = max(self.queries, self.keys)
        self.pitch = _PITCH * font
        if style.height is not None:
            room = style.height * POINTS_PER_MM - above - self.frame.below
            self.pitch = min(self.pitch, max(1.0, room / rows))
        needed = above + rows * self.pitch + self.frame.below
        self.height = page_height(style, needed)
        self.left = PAD + lefts * label_font + GAP
        self.right = self.width - PAD - rights * label_font - beside - GAP
        self.first = above + (self.height - needed) / 2 + self.pitch / 2
        self.label_font = min(label_font, self.pitch / 1.15)

    def on_canvas(self, format: str, dpi: int) -> Canvas:
        """Draw titles, labels and lines."""
        canvas = Canvas(self.figure, self.style, format, dpi, self.width, self.height)
        self.frame.draw(canvas)
        size, color = 0.9 * self.style.font, canvas.accent(self.figure.kind, text=True)
        for i in range(max(len(lines) for lines in self.titles)):
            y = self.frame.above + (i + 0.5) * size * LINE
            for lines, x, ha in zip(self.titles, (PAD, self.width - PAD), ("left", "right"), strict=True):
                if i < len(lines):
                    canvas.text(x, y, lines[i], size, color, ha=ha)
        self._labels(canvas)
        self._links(canvas)
        return canvas

    def _y(self, row: int, count: int) -> float:
        """Middle of a row; the shorter column is centred beside the longer one."""
        return self.first + (row + (max(self.queries, self.keys) - count) / 2) * self.pitch

    def _labels(self, canvas: Canvas) -> None:
        figure, panel, size = self.figure, self.figure.panels[0], self.label_font
        for row, label in enumerate(panel.query_labels):
            y = self._y(row, self.queries)
            emphasis = figure.query is None or figure.query == row
            text = display_label(label, MAX_LABEL)
            if figure.query == row:
                long = fonts.width(text, size)
                box = self.left - GAP - long - 2, y - 0.65 * size, long + 4, 1.3 * size
                canvas.box(*box, edge=canvas.ink, zorder=1)
            color = canvas.ink if emphasis else canvas.muted
            canvas.text(self.left - GAP, y, text, size, color, ha="right")
        side = _SQUARE * size
        start = self.right + GAP + self.squares * side + (GAP if self.squares else 0.0)
        for row, label in enumerate(panel.key_labels):
            y = self._y(row, self.keys)
            canvas.text(start, y, display_label(label, MAX_LABEL), size, canvas.ink, ha="left")
            for i in range(self.squares):
                weight = float(figure.panels[i].weights[figure.query or 0, row])
                fill = canvas.mixed(figure.colors[i], min(1.0, weight) ** 0.5)
                canvas.box(
                    self.right + GAP + i * side, y - side / 2, side, side, edge=canvas.faint, fill=fill, line=0.3
                )

    def _links(self, canvas: Canvas) -> None:
        figure = self.figure
        scale = weights_map([each.weights for each in figure.panels], self.style, figure.theme)
        links, count = figure.links(), len(figure.panels)
        colors = figure.colors if count > 1 else (canvas.accent(figure.kind),)
        # Lines of several heads between the same tokens lie beside each other.
        beside = [(i - (count - 1) / 2) * _SPREAD * self.label_font / count for i in range(count)]
        shares = scale.position([weight for *_, weight in links])
        canvas.axes.add_collection(
            LineCollection(
                [
                    [
                        (self.left, self._y(row, self.queries) + beside[number]),
                        (self.right, self._y(column, self.keys) + beside[number]),
                    ]
                    for number, row, column, _ in links
                ],
                # By the root, so that weights spread over many keys are seen; widths are in proportion.
                colors=[canvas.mixed(colors[n], share**0.5) for (n, *_), share in zip(links, shares, strict=True)],
                linewidths=[_THIN + (_THICK - _THIN) * share for share in shares],
                zorder=2,
            ),
            autolim=False,
        )
