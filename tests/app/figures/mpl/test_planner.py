"""Labels are measured where matplotlib really puts them: none is cut, none lies on another."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import cos, radians, sin

import numpy as np
import pytest
from matplotlib.text import Text

from viz_app.figures import Style, fonts
from viz_app.figures.layout import POINTS_PER_MM
from viz_app.figures.model.figure import HeatmapFigure, HeatmapPanel
from viz_app.figures.mpl import heatmaps, renderer
from viz_app.figures.mpl.planner import Layout

Box = tuple[float, float, float, float, float]  # anchor x, y (from the top), width, height, degrees


def figure_of(tokens: int, panels: int = 1, *, long: bool = False) -> HeatmapFigure:
    labels = [("Wort" * (1 + i % (9 if long else 2))) + str(i) for i in range(tokens)]
    masked = np.triu(np.ones((tokens, tokens), dtype=bool), k=1)
    panel = HeatmapPanel(
        weights=np.eye(tokens),
        query_labels=labels,
        key_labels=labels,
        masked=masked,
        query_notes=labels,
        title="head 1",
    )
    return HeatmapFigure(
        panels=[panel] * panels,
        columns=4,
        query_title="decoder input token (query)",
        key_title="decoder input token (key)",
        note_title="generates next",
        draw_notes=panels == 1,
        title="Layer 3, head 2: masked decoder self-attention",
        tile_note="Down: tokens. Across: tokens.",
        masked_note="hatched: masked",
        kind="decoder",
    )


def drawn(figure: HeatmapFigure, width_mm: float | None = None) -> tuple[Layout, dict[Text, np.ndarray]]:
    """The layout, and the four corners of each text in points from the top left."""
    style = Style(width_mm=width_mm)
    with renderer.drawing_settings():
        layout = heatmaps.plan(figure, style)
        drawing = heatmaps.draw(figure, style, "png", 72)
        texts = [artist for artist in drawing.axes.get_children() if isinstance(artist, Text) and artist.get_text()]
        return layout, {text: corners(text) for text in texts}


def corners(text: Text) -> np.ndarray:
    """Corners of the box from the baseline to the top of the capitals, turned as the text is."""
    size, angle = float(text.get_fontsize()), radians(float(text.get_rotation()))
    length = fonts.width(text.get_text(), size)
    start = {"left": 0.0, "center": -length / 2, "right": -length}[text.get_horizontalalignment()]
    box = np.array([(start, 0), (start + length, 0), (start + length, -0.7 * size), (start, -0.7 * size)])
    turn = np.array([[cos(angle), sin(angle)], [-sin(angle), cos(angle)]])  # y grows downwards
    turned: np.ndarray = np.array(text.get_position()) + box @ turn.T
    return turned


def apart(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two rectangles have a line between them (separating axis theorem), with 0.1 points to spare."""
    for box in (one, other):
        for edge in (box[1] - box[0], box[2] - box[1]):
            normal = edge / (np.linalg.norm(edge) or 1)
            a, b = one @ normal, other @ normal
            if a.max() < b.min() + 0.1 or b.max() < a.min() + 0.1:
                return True
    return False


def check_labels(layout: Layout, boxes: dict[Text, np.ndarray]) -> None:
    """None is cut, none lies on another one."""
    for box in boxes.values():
        assert box.min() >= -0.5 and box[:, 0].max() <= layout.width + 0.5
    texts = list(boxes)
    low, high = (np.array([getattr(box, end)(axis=0) for box in boxes.values()]) for end in ("min", "max"))
    near = (low[:, None] <= high + 0.1).all(axis=2)  # what lies apart along an axis is apart
    for a, b in np.argwhere(np.triu(near & near.T, 1)):
        assert apart(boxes[texts[a]], boxes[texts[b]]), f"{texts[a].get_text()!r} lies on {texts[b].get_text()!r}"


@pytest.mark.parametrize("tokens", [1, 5, 12, 20, 33, 60, 128])
@pytest.mark.parametrize("long", [False, True])
def test_one_head_has_all_its_labels_and_none_is_cut_or_covered(tokens: int, long: bool) -> None:
    layout, boxes = drawn(figure_of(tokens, long=long))
    assert layout.label_font >= 5.9
    assert max(box[:, 1].max() for box in boxes.values()) <= layout.height + 0.5
    check_labels(layout, boxes)


@pytest.mark.parametrize(
    ("tokens", "panels", "width"), [(12, 8, None), (30, 8, None), (60, 8, None), (15, 1, 85), (10, 8, 160)]
)
def test_grids_and_given_widths_keep_labels_apart(tokens: int, panels: int, width: float | None) -> None:
    layout, boxes = drawn(figure_of(tokens, panels), width)
    if width:
        assert layout.width == pytest.approx(width * POINTS_PER_MM)
    else:
        assert layout.width <= 180.5 * POINTS_PER_MM
    check_labels(layout, boxes)


def test_titles_of_small_panels_and_groups_become_smaller() -> None:
    groups = [("masked decoder self-attention", 1), ("encoder-decoder attention", 1)]
    rows = ["layer 1", "layer 2"]
    figure = replace(figure_of(10, 16), columns=8, row_titles=rows, row_groups=groups)
    layout, boxes = drawn(figure, 77)
    titles = [text for text in boxes if text.get_text() in ("head 1", *rows, *(title for title, _ in groups))]
    assert len(titles) == 8 + 2 + 2
    for a, b in combinations(titles, 2):
        assert apart(boxes[a], boxes[b]), f"{a.get_text()!r} lies on {b.get_text()!r}"
    assert layout.panel_title_font < 0.9 * layout.font


def test_cells_too_small_for_labels_are_explained_instead() -> None:
    layout, boxes = drawn(figure_of(60, 8))
    assert layout.label_font == 0
    texts = {text.get_text() for text in boxes}
    assert "Down: tokens. Across: tokens." in texts
    assert "Wort0" not in texts


def test_panels_do_not_overlap_and_lie_within_the_figure() -> None:
    figure = figure_of(12, 8)
    layout, _ = drawn(figure)
    side = 12 * layout.cell
    for (x0, y0), (x1, y1) in combinations(layout.panels, 2):
        assert abs(x0 - x1) >= side or abs(y0 - y1) >= side
    assert max(x for x, _ in layout.panels) + side < layout.bars[0][0]
