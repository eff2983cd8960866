"""Thumbnails of the cards as SVG, drawn from recorded numbers of the shipped models; their colours are in try_this.css.

`python -m tests.app.components.try_this_numbers` records the numbers anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

NUMBERS = Path(__file__).parent / "numbers.json"
SENTENCE = "The dog sees the cat."  # that the first card changes
HEAD = "cross.6.3"  # of the shipped English-German model: articles look at their noun
CHANGE = "c6.3.0o4"  # row 0 gives all its weight to key 4, as an edit of the Lab's bench

WIDTH, HEIGHT = 176, 100
_LEVELS = 10  # of opacity


def thumbnail(card: str) -> str:
    """Return the thumbnail of a card; its groups `step` appear one after the other."""
    inside = _DRAWN[card](_numbers()[card])
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{inside}</svg>'


@cache
def _numbers() -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads(NUMBERS.read_text(encoding="utf-8"))
    return numbers


def _redirect(numbers: dict[str, Any]) -> str:
    """Draw the words that were read above the word that comes of it, before and after."""
    widths = [10 + 6.4 * len(word) for word in numbers["source"]]
    edges = np.cumsum([(WIDTH - sum(widths)) / 2, *widths])
    middles = (edges[:-1] + edges[1:]) / 2
    words = "".join(map(_label, numbers["source"], middles, [20] * len(middles)))
    steps = [
        "".join(
            f'<path class="beam" stroke-width="{1 + 7 * weight:.1f}" d="M{x} 76C{x} 50 {end:.0f} 52 {end:.0f} 26"/>'
            for end, weight in zip(middles, numbers[row], strict=True)
            if weight > 0.05
        )
        + _label(word, x, 92, "made")
        for row, word, x in zip(("before", "after"), numbers["tokens"], (62, 114), strict=True)
    ]
    arrow = '<path class="line" d="M82 88h12m-4-4 4 4-4 4"/>'
    return words + _steps([steps[0], arrow + steps[1]])


def _when(numbers: dict[str, Any]) -> str:
    """Draw the probability of each token after each layer, the first layer below."""
    rows = np.array(numbers["p"])
    widths = np.array([16 + 5.2 * len(word) for word in numbers["tokens"]])
    edges = 2 + np.cumsum([0.0, *widths * (WIDTH - 4) / widths.sum()])
    labels = "".join(map(_label, numbers["tokens"], (edges[:-1] + edges[1:]) / 2, [96] * len(widths)))
    drawn = [
        "".join(
            f'<rect class="cell" x="{x:.1f}" y="{74 - 12 * at}" width="{end - x - 1:.1f}" height="11" '
            f'fill-opacity="{max(0.06, value)}"/>'
            for x, end, value in zip(edges[:-1], edges[1:], row, strict=True)
        )
        for at, row in enumerate(rows)
    ]
    return _steps(drawn) + labels


def _plural(numbers: dict[str, Any]) -> str:
    """Draw what each head carries from one sentence into the other: a block for each kind of attention."""
    shares = np.clip(numbers["recovered"], 0, 1)
    kind, layer, head = np.unravel_index(shares.argmax(), shares.shape)
    x, y = _wall_place(int(kind), int(layer), int(head))
    ring = f'<rect class="ring" x="{x - 2}" y="{y - 2}" width="10" height="12"/>'
    return _steps([_wall(shares), ring + _label(f"{HEAD}: {shares.max():.0%}", x - 10, 97, "made")])


def _game(numbers: dict[str, Any]) -> str:
    """Draw training curves, which the lesson does not name either."""
    most = max(map(max, numbers["loss"].values()))
    lines = []
    for values in numbers["loss"].values():
        xs, ys = np.linspace(6, 150, len(values)), 92 - 84 * np.array(values) / most
        points = " ".join(f"{x:.0f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
        lines.append(f'<polyline class="line" points="{points}"/>{_label("?", 160, ys[-1] + 4, "made")}')
    return '<path class="axis" d="M6 4v88h160"/>' + _steps(lines)


def _growth(numbers: dict[str, Any]) -> str:
    """Draw a head at four moments of its training."""
    maps = zip(numbers["maps"], numbers["steps"], strict=True)
    return _steps(
        [
            _frame(4 + 43 * at, 26, 39, 39)
            + _cells(np.array(each), 4 + 43 * at, 26, 39 / len(each), 39 / len(each))
            + _label(f"{step:,}", 23.5 + 43 * at, 82)
            for at, (each, step) in enumerate(maps)
        ]
    )


def _file(numbers: dict[str, Any]) -> str:
    """Draw a window with all heads; the strength of each is the largest weight of its rows, on average."""
    window = '<path class="axis" d="M1 16h174M9 9h.01M17 9h.01M25 9h.01"/>' + _frame(1, 1, 174, 98, 6)
    return window + _steps([_wall(np.array(numbers["focus"]), kinds=(at,)) for at in range(3)])


_DRAWN: dict[str, Callable[[dict[str, Any]], str]] = {
    "redirect": _redirect,
    "when": _when,
    "plural": _plural,
    "game": _game,
    "growth": _growth,
    "file": _file,
}
CARDS = tuple(_DRAWN)


def _wall_place(kind: int, layer: int, head: int) -> tuple[int, int]:
    return 6 + 57 * kind + 6 * head + head // 2, 24 + 10 * layer


def _wall(shares: npt.NDArray[np.float64], kinds: Sequence[int] = (0, 1, 2)) -> str:
    """Draw a tile for each head, of (kinds, layers, heads) numbers from 0 to 1."""
    return "".join(
        f'<rect class="{("encoder", "decoder", "cross")[kind]}" x="{x}" y="{y}" width="6" height="8" '
        f'fill-opacity="{0.12 + 0.88 * value:.2f}"/>'
        for (kind, layer, head), value in np.ndenumerate(shares)
        if kind in kinds
        for x, y in [_wall_place(kind, layer, head)]
    )


def _cells(weights: npt.NDArray[np.float64], x: float, y: float, width: float, height: float) -> str:
    """Draw a matrix of numbers from 0 to 1, one path for all cells of nearly the same opacity."""
    levels = np.rint(weights * _LEVELS).astype(int)
    paths = []
    for level in range(1, _LEVELS + 1):
        places = [f"M{x + width * column:.1f} {y + height * row:.1f}" for row, column in np.argwhere(levels == level)]
        if places:
            cell = f"h{width - 1:.1f}v{height - 1:.1f}h{1 - width:.1f}z"
            outlines = "".join(f"{place}{cell}" for place in places)
            paths.append(f'<path class="cell" fill-opacity="{level / _LEVELS}" d="{outlines}"/>')
    return "".join(paths)


def _frame(x: float, y: float, width: float, height: float, radius: int = 2) -> str:
    return f'<rect class="axis" x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}"/>'


def _label(text: str, x: float, y: float, name: str = "word") -> str:
    return f'<text class="{name}" x="{x:.0f}" y="{y:.0f}">{escape(text)}</text>'


def _steps(drawn: Sequence[str]) -> str:
    return "".join(f'<g class="step">{each}</g>' for each in drawn)
