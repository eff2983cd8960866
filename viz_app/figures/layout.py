"""Size of a printed page, in points (1/72 inch), and how text breaks into lines."""

from __future__ import annotations

from collections.abc import Callable

POINTS_PER_MM = 72 / 25.4
Measure = Callable[[str, float], float]  # text, font size -> width in points

MAX_LABEL = 16  # characters of a token that are drawn
PAD = 6.0  # around everything
PAGE_WIDTH = 180 * POINTS_PER_MM  # text width of an A4 page
PAGE_HEIGHT = 235 * POINTS_PER_MM


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
