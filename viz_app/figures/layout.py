"""Places of a printed figure, in points (1/72 inch) from the top left corner; `planner.py` finds them.

Size of a page, and how text breaks into lines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

POINTS_PER_MM = 72 / 25.4
Measure = Callable[[str, float], float]  # text, font size -> width in points

MAX_LABEL = 16  # characters of a token that are drawn
PAD = 6.0  # around everything
PAGE_WIDTH = 180 * POINTS_PER_MM  # text width of an A4 page
PAGE_HEIGHT = 235 * POINTS_PER_MM


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Places and sizes in points.

    Args:
        width: Of the figure.
        height: Of the figure.
        cell: Side of a cell.
        slot: Width and height of the place of each panel.
        font: Size of titles.
        label_font: Size of token labels; 0 when there are none.
        key_angle: Rotation of the key labels: 0, 45 or 90 degrees.
        panels: Left and top of each panel.
        panel_titles: What stands above each panel, with its letter; may be empty.
        panel_title_font: Their size.
        query_title: Middle of the rotated title of the rows.
        row_titles: Middle of the rotated titles of the rows of panels.
        row_title_font: Their size.
        group_titles: Middle of the rotated titles of groups of rows.
        group_title_font: Their size.
        key_title: Middle of the title of the columns.
        notes_title: Baseline for the heading over the second row labels.
        bars: Left, top, width and height of each colour bar.
        title_lines: Heading, broken into lines.
        foot_lines: Lines below the figure.
        title_top: Top of the heading.
        foot_top: Top of the lines below.
        caption_lines: Caption, broken into lines.
        caption_top: Top of the caption.
        shared: Whether the panels share their labels.
    """

    width: float
    height: float
    cell: float
    slot: tuple[float, float]
    font: float
    label_font: float
    key_angle: int
    panels: tuple[tuple[float, float], ...]
    panel_titles: tuple[str, ...]
    panel_title_font: float
    query_title: tuple[float, float]
    row_titles: float
    row_title_font: float
    group_titles: float
    group_title_font: float
    key_title: tuple[float, float]
    notes_title: float
    bars: tuple[tuple[float, float, float, float], ...]
    title_lines: tuple[str, ...]
    foot_lines: tuple[str, ...]
    title_top: float
    foot_top: float
    caption_lines: tuple[str, ...]
    caption_top: float
    shared: bool


def wrap(text: str, size: float, room: float, measure: Measure) -> tuple[str, ...]:
    """Break a text at its spaces into lines that fit; a word wider than a line keeps a line of its own."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and measure(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return tuple(lines)
