"""Pictures of the doors of the home, as SVG, drawn from the numbers that they lead to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from transformer_core.attention_maps import AttentionMaps
from transformer_core.model.positions import sinusoidal_positions
from transformer_core.training.schedule import learning_rate
from viz_app.figures.colours.palette import KIND_COLORS_DARK, MASK_HATCH, MUTED
from viz_app.figures.colours.scales import sequential

WIDTH, HEIGHT = 320, 170
_MARGIN = 18
_D_MODEL = 512  # of the paper, for waves and warm-up
_BLUE, _ORANGE, _GREEN = (KIND_COLORS_DARK[kind] for kind in ("encoder", "decoder", "cross"))
_LEAST = 0.04  # share of what adds to a word, below which no ribbon is drawn

Floats = npt.NDArray[np.floating]


def waves() -> str:
    """Return six dimensions of the sinusoidal positions, from fast to slow."""
    shown = sinusoidal_positions(97, _D_MODEL)[:, [40, 80, 120, 160, 200, 240]].numpy()
    colors = sequential(theme="dark")[np.linspace(235, 90, 6).astype(int)]
    step = (HEIGHT - 2 * _MARGIN) / 6
    lines = []
    for row, (values, color) in enumerate(zip(shown.T, colors, strict=True)):
        y = _MARGIN + (row + 0.5) * step
        lines.append(_line(_across(97), y - 0.42 * step * values, _rgb(color), 1.8))
    return _picture(lines)


def warmup() -> str:
    """Return the learning rate of the paper with four warm-ups."""
    steps = np.linspace(1, 12_000, 160)
    curves = [(1_000, MUTED["dark"]), (2_000, MUTED["dark"]), (8_000, MUTED["dark"]), (4_000, _ORANGE)]
    rates = [np.array([learning_rate(int(at), d_model=_D_MODEL, warmup_steps=n) for at in steps]) for n, _ in curves]
    scale = (HEIGHT - 2 * _MARGIN) / max(map(np.max, rates))
    drawn = zip(rates, curves, strict=True)
    return _picture(
        _line(_across(160), HEIGHT - _MARGIN - scale * rate, color, 3 if color == _ORANGE else 1.3)
        for rate, (_, color) in drawn
    )


def mask(maps: AttentionMaps) -> str:
    """Return the sharpest head of the encoder, without a mask, beside the sharpest of the decoder, with it."""
    size = HEIGHT - 2 * _MARGIN
    left = (WIDTH - 2 * size - 24) / 2
    cells: list[str] = []
    for at, kind in enumerate(("encoder", "decoder")):
        weights = maps.weights("encoder" if kind == "encoder" else "decoder")
        flat = weights.reshape(-1, *weights.shape[2:])
        sharpest = flat[np.argsort(_spread(flat))[-1]]
        cells += _cells(sharpest, left + at * (size + 24), size, masked=kind == "decoder")
    return _picture(cells)


def flow(source: Sequence[float], inputs: Sequence[float]) -> str:
    """Return the ribbons from a word to the words that add to it, by the parts of its logit."""
    above, below = np.array(source), np.array(inputs)
    whole = sum(np.maximum(0, values).sum() for values in (above, below))
    ribbons: list[str] = []
    x = WIDTH * 0.62
    for values, y, color in ((above, _MARGIN, _GREEN), (below, HEIGHT - _MARGIN, _ORANGE)):
        places = np.linspace(_MARGIN + 10, WIDTH - _MARGIN - 10, len(above) + 1)
        for place, value in zip(places, values, strict=False):
            strong = max(0.0, float(value / whole))
            ribbons.append(f'<circle cx="{place:.1f}" cy="{y:.1f}" r="{2 + 7 * strong:.1f}" fill="{color}"/>')
            if strong >= _LEAST:
                middle = (y + HEIGHT / 2) / 2
                way = f"M{x:.1f} {HEIGHT / 2}C{x:.1f} {middle:.1f} {place:.1f} {middle:.1f} {place:.1f} {y:.1f}"
                look = f'stroke-width="{1 + 26 * strong:.1f}" opacity="{0.35 + 0.6 * strong:.2f}"'
                ribbons.append(f'<path d="{way}" fill="none" stroke="{color}" {look}/>')
    return _picture([*ribbons, f'<circle cx="{x:.1f}" cy="{HEIGHT / 2}" r="7" fill="#fff"/>'])


def _spread(maps: Floats) -> Floats:
    """Return how much the largest weights of each head lie in different columns."""
    columns = maps.argmax(axis=2)
    different = np.array([len(set(each)) for each in columns.tolist()])
    spread: Floats = different + maps.max(axis=2).mean(axis=1)
    return spread


def _cells(weights: Floats, left: float, size: float, masked: bool) -> list[str]:
    count = len(weights)
    side = size / count
    colors = sequential(theme="dark")
    cells = []
    for row in range(count):
        for column in range(weights.shape[1]):
            hidden = masked and column > row
            faint = ' opacity="0.3"' if hidden else ""
            fill = MASK_HATCH["dark"] if hidden else _rgb(colors[round(255 * float(weights[row, column]) ** 0.6)])
            place = f'x="{left + column * side:.1f}" y="{_MARGIN + row * side:.1f}"'
            look = f'width="{side - 1.5:.1f}" height="{side - 1.5:.1f}" fill="{fill}"'
            cells.append(f"<rect {place} {look}{faint}/>")
    return cells


def _across(count: int) -> Floats:
    return np.linspace(_MARGIN, WIDTH - _MARGIN, count)


def _line(x: Floats, y: Floats, color: str, width: float) -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    return f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="{width}" stroke-linejoin="round"/>'


def _picture(shapes: Iterable[str]) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{"".join(shapes)}</svg>'


def _rgb(color: npt.NDArray[np.uint8]) -> str:
    return "#" + "".join(f"{each:02x}" for each in color.tolist())
