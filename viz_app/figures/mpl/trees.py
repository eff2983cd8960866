"""Beam trees in print: a column for each step, the most probable candidate at the top."""

from __future__ import annotations

from viz_app.figures import fonts
from viz_app.figures.colours.palette import INK, MASK_HATCH
from viz_app.figures.layout import MAX_LABEL, PAD, PAGE_WIDTH, POINTS_PER_MM
from viz_app.figures.model.beam_tree import BEST, BeamTreeFigure, TreeNode
from viz_app.figures.model.figure import display_label
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.canvas import Canvas
from viz_app.figures.mpl.frame import GAP, LINE, Entry, Frame, page_height, page_width

_EDGE = 2.2  # room between two columns over the font size
_PITCH = 2.5  # from one candidate to the next over the font size
_SCORE = 0.75  # size of scores over that of labels
_MIN_FONT = 6.0


def draw(figure: BeamTreeFigure, style: Style, format: str, dpi: int) -> Canvas:
    """Draw the figure on a page."""
    return _Drawing(figure, style).on_canvas(format, dpi)


class _Drawing:
    """Places of the columns and rows of candidates, in points, and the drawing."""

    def __init__(self, figure: BeamTreeFigure, style: Style) -> None:
        self.figure, self.style, self.ranks = figure, style, figure.ranks()
        font = style.font
        widths = [0.0] * figure.steps
        for node in figure.nodes:
            label, score = fonts.width(display_label(node.label, MAX_LABEL), 1.0), fonts.width(_score(node), 1.0)
            widths[node.step - 1] = max(widths[node.step - 1], label, _SCORE * score)
        unit = sum(widths) + _EDGE * figure.steps  # width of the tree at font size 1
        if style.width is None:
            self.label_font = max(min(font, (PAGE_WIDTH - 2 * PAD) / unit), min(font, _MIN_FONT))
            self.width = max(unit * self.label_font + 2 * PAD, 80 * POINTS_PER_MM)
        else:
            self.width = page_width(style, 0.0)
            self.label_font = max(1.0, min(font, (self.width - 2 * PAD) / unit))
        notes = [figure.score_title] if style.legend else []
        self.frame = Frame(figure, style, self.width, _entries(figure), notes)
        above = self.frame.above + font * LINE + GAP
        rows = max(self.ranks) + 1
        self.pitch = _PITCH * self.label_font
        if style.height is not None:
            room = style.height * POINTS_PER_MM - above - self.frame.below
            self.pitch = min(1.6 * self.pitch, max(1.0, room / rows))
            self.label_font = min(self.label_font, self.pitch / 1.9)
        needed = above + rows * self.pitch + self.frame.below
        self.height = page_height(style, needed)
        self.first = above + (self.height - needed) / 2 + self.pitch / 2
        self.columns: list[float] = []
        # A given width that the tree does not need goes between the columns.
        size, room = self.label_font, self.width - 2 * PAD - unit * self.label_font
        spare = min(2 * _EDGE * size, max(0.0, room) / figure.steps)
        x = max(PAD, (self.width - unit * size - spare * figure.steps) / 2)
        for each in widths:
            self.columns.append(x + _EDGE * size + spare)
            x = self.columns[-1] + each * size

    def on_canvas(self, format: str, dpi: int) -> Canvas:
        """Draw the steps, then each candidate with the edge that leads to it."""
        canvas = Canvas(self.figure, self.style, format, dpi, self.width, self.height)
        self.frame.draw(canvas)
        size = min(0.9 * self.style.font, self.label_font)
        heading = self.first - self.pitch / 2 - GAP - 0.5 * size * LINE
        for step, x in enumerate(self.columns, start=1):
            text = f"{self.figure.step_title} {step}" if step == 1 else str(step)
            canvas.text(x, heading, text, size, canvas.muted, ha="left")
        for node, rank in zip(self.figure.nodes, self.ranks, strict=True):
            self._edge(canvas, node, rank)
            self._node(canvas, node, rank)
        return canvas

    def _edge(self, canvas: Canvas, node: TreeNode, rank: int) -> None:
        size = self.label_font
        x1, y1 = self.columns[node.step - 1] - 2.5, self.first + rank * self.pitch
        if node.parent < 0:
            x0, y0 = self.columns[0] - _EDGE * size, self.first
        else:
            parent = self.figure.nodes[node.parent]
            label = fonts.width(display_label(parent.label, MAX_LABEL), size)
            x0 = self.columns[parent.step - 1] + max(label, fonts.width(_score(parent), _SCORE * size)) + 2.5
            y0 = self.first + self.ranks[node.parent] * self.pitch
        bend = 0.5 * (self.columns[node.step - 1] - x0)
        pruned = node.status == "pruned"
        color = BEST[self.figure.theme] if node.best else canvas.faint if pruned else canvas.ink
        width = 1.8 if node.best else 0.5 if pruned else 0.7
        order = 3 if node.best else 1 if pruned else 2
        canvas.curve([(x0, y0), (x0 + bend, y0), (x1 - bend, y1), (x1, y1)], color, width, zorder=order)

    def _node(self, canvas: Canvas, node: TreeNode, rank: int) -> None:
        size, x, y = self.label_font, self.columns[node.step - 1], self.first + rank * self.pitch
        text = display_label(node.label, MAX_LABEL)
        color = BEST[self.figure.theme] if node.best else canvas.muted if node.status == "pruned" else canvas.ink
        middle = y - 0.42 * size
        canvas.text(x, middle, text, size, color, ha="left")
        canvas.text(x, y + 0.62 * size, _score(node), _SCORE * size, canvas.muted, ha="left")
        if node.status == "finished":
            canvas.box(x - 2, middle - 0.68 * size, fonts.width(text, size) + 4, 1.36 * size, edge=color, line=0.6)


def _score(node: TreeNode) -> str:
    return f"{node.log_probability:.2f}".replace("-", "\u2212")


def _entries(figure: BeamTreeFigure) -> list[Entry]:
    best, ink, faint = BEST[figure.theme], INK[figure.theme], MASK_HATCH[figure.theme]
    titles = dict(zip(("kept", "finished", "pruned"), figure.status_titles, strict=True))
    used = {node.status for node in figure.nodes}
    entries = [Entry(figure.best_title, best, 2.0)] if any(node.best for node in figure.nodes) else []
    entries += [Entry(titles["kept"], ink, 0.8)] if "kept" in used else []
    entries += [Entry(titles["finished"], ink, 0.8, boxed=True)] if "finished" in used else []
    return entries + ([Entry(titles["pruned"], faint, 0.8)] if "pruned" in used else [])
