"""Beam trees in print: a column for each step, the most probable candidate at the top."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Plan:
    """Places in points: the page, left edge of each column, middle of the first row, from row to row, font."""

    width: float
    height: float
    columns: tuple[float, ...]
    first: float
    pitch: float
    label_font: float
    frame: Frame


def plan(figure: BeamTreeFigure, style: Style) -> Plan:
    """Where everything goes."""
    font = style.font
    widths = [0.0] * figure.steps
    for node in figure.nodes:
        widest = max(fonts.width(display_label(node.label, MAX_LABEL), 1.0), _SCORE * fonts.width(_score(node), 1.0))
        widths[node.step - 1] = max(widths[node.step - 1], widest)
    unit = sum(widths) + _EDGE * figure.steps  # width of the tree at font size 1
    if style.width is None:
        label_font = max(min(font, (PAGE_WIDTH - 2 * PAD) / unit), min(font, _MIN_FONT))
        width = max(unit * label_font + 2 * PAD, 80 * POINTS_PER_MM)
    else:
        width = page_width(style, 0.0)
        label_font = max(1.0, min(font, (width - 2 * PAD) / unit))
    frame = Frame(figure, style, width, _entries(figure), [figure.score_title] if style.legend else [])
    above = frame.above + font * LINE + GAP
    rows = max(figure.ranks()) + 1
    pitch = _PITCH * label_font
    if style.height is not None:
        pitch = min(1.6 * pitch, max(1.0, (style.height * POINTS_PER_MM - above - frame.below) / rows))
        label_font = min(label_font, pitch / 1.9)
    needed = above + rows * pitch + frame.below
    height = page_height(style, needed)
    columns = []
    # A given width that the tree does not need goes between the columns.
    spare = min(2 * _EDGE * label_font, max(0.0, width - 2 * PAD - unit * label_font) / figure.steps)
    x = max(PAD, (width - unit * label_font - spare * figure.steps) / 2)
    for each in widths:
        columns.append(x + _EDGE * label_font + spare)
        x = columns[-1] + each * label_font
    return Plan(
        width=width,
        height=height,
        columns=tuple(columns),
        first=above + (height - needed) / 2 + pitch / 2,
        pitch=pitch,
        label_font=label_font,
        frame=frame,
    )


def draw(figure: BeamTreeFigure, style: Style, format: str, dpi: int) -> Canvas:
    """The figure on a page."""
    place = plan(figure, style)
    canvas = Canvas(figure, style, format, dpi, place.width, place.height)
    place.frame.draw(canvas)
    size = min(0.9 * style.font, place.label_font)
    heading = place.first - place.pitch / 2 - GAP - 0.5 * size * LINE
    for step, x in enumerate(place.columns, start=1):
        text = f"{figure.step_title} {step}" if step == 1 else str(step)
        canvas.text(x, heading, text, size, canvas.muted, ha="left")
    ranks = figure.ranks()
    for i, node in enumerate(figure.nodes):
        _draw_edge(canvas, figure, place, ranks, i)
        _draw_node(canvas, place, node, ranks[i])
    return canvas


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


def _draw_edge(canvas: Canvas, figure: BeamTreeFigure, place: Plan, ranks: tuple[int, ...], index: int) -> None:
    node = figure.nodes[index]
    size = place.label_font
    x1, y1 = place.columns[node.step - 1] - 2.5, place.first + ranks[index] * place.pitch
    if node.parent < 0:
        x0, y0 = place.columns[0] - _EDGE * size, place.first
    else:
        parent = figure.nodes[node.parent]
        long = max(
            fonts.width(display_label(parent.label, MAX_LABEL), size), fonts.width(_score(parent), _SCORE * size)
        )
        x0 = place.columns[parent.step - 1] + long + 2.5
        y0 = place.first + ranks[node.parent] * place.pitch
    bend = 0.5 * (place.columns[node.step - 1] - x0)
    pruned = node.status == "pruned"
    color = BEST[figure.theme] if node.best else canvas.faint if pruned else canvas.ink
    width = 1.8 if node.best else 0.5 if pruned else 0.7
    order = 3 if node.best else 1 if pruned else 2
    canvas.curve([(x0, y0), (x0 + bend, y0), (x1 - bend, y1), (x1, y1)], color, width, zorder=order)


def _draw_node(canvas: Canvas, place: Plan, node: TreeNode, rank: int) -> None:
    size, x, y = place.label_font, place.columns[node.step - 1], place.first + rank * place.pitch
    text, score = display_label(node.label, MAX_LABEL), _score(node)
    color = BEST[canvas.spec.theme] if node.best else canvas.muted if node.status == "pruned" else canvas.ink
    middle = y - 0.42 * size
    canvas.text(x, middle, text, size, color, ha="left")
    canvas.text(x, y + 0.62 * size, score, _SCORE * size, canvas.muted, ha="left")
    if node.status == "finished":
        canvas.box(x - 2, middle - 0.68 * size, fonts.width(text, size) + 4, 1.36 * size, edge=color, line=0.6)
