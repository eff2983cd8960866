"""Picture of a link to a page: its title above every head of a sentence, in the dark."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from transformer_core.attention_maps import AttentionMaps
from viz_app.figures.colours.palette import BACKGROUND, INK, MUTED, kind_color, scale
from viz_app.figures.fonts import SOURCE
from viz_app.text import Texts

SIZE = (1200, 630)
_EDGE, _BETWEEN = 40, 26  # around the picture, between kinds
_GAP = 0.09  # between tiles, of a tile
_TOP, _BOTTOM = 300, 582  # of the tiles


def link_picture(title: str, about: str, wall: Image.Image) -> bytes:
    """Return a PNG; the same arguments give the same bytes.

    Args:
        title: Of the page.
        about: One line below it.
        wall: From `head_wall`.
    """
    picture = wall.copy()
    draw = ImageDraw.Draw(picture)
    width = SIZE[0] - 2 * _EDGE
    draw.rounded_rectangle((_EDGE, 36, _EDGE + 44, 80), 10, fill="#1d2b3a")
    draw.pieslice((_EDGE + 1, 47, _EDGE + 25, 69), -90, 90, fill="#ffd977")
    for x, y in ((37, 49), (38, 58), (37, 67)):
        draw.line((_EDGE + 29, 58 + (y - 58) * 0.8, _EDGE + x, y), fill="#ffd977", width=3)
    draw.text((_EDGE + 60, 58), "Headlight", fill="#8ab8e0", font=_font(34), anchor="lm")
    size = next(size for size in range(62, 0, -1) if draw.textlength(title, _font(size)) <= width)
    draw.text((_EDGE, 138), title, fill=INK["dark"], font=_font(size), anchor="lm", stroke_width=1)
    lines = [""]
    for word in about.split():
        longer = f"{lines[-1]} {word}".lstrip()
        lines = [*lines[:-1], longer] if draw.textlength(longer, _font(27)) <= width else [*lines, word]
    draw.text((_EDGE, 188), "\n".join(lines[:2]), fill=MUTED["dark"], font=_font(27), spacing=10)
    file = io.BytesIO()
    picture.quantize(kmeans=1, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


def head_wall(maps: AttentionMaps, t: Texts) -> Image.Image:
    """Return an empty picture with every head of a sentence, the kinds beside each other, a row for each layer."""
    picture = Image.new("RGB", SIZE, BACKGROUND["dark"])
    draw = ImageDraw.Draw(picture)
    width = (SIZE[0] - 2 * _EDGE - _BETWEEN * (len(maps.kinds) - 1)) / len(maps.kinds)
    for number, kind in enumerate(maps.kinds):
        weights, left = maps.weights(kind), _EDGE + number * (width + _BETWEEN)
        layers, heads = weights.shape[:2]
        pitch = min(width / heads, (_BOTTOM - _TOP) / layers)
        size = max(1, int(pitch * (1 - _GAP)))
        for layer in range(layers):
            for head in range(heads):
                place = round(left + head * pitch), round(_TOP + layer * pitch)
                picture.paste(Image.fromarray(_tile(weights[layer, head], size)), place)
        draw.text((left, _BOTTOM + 4), t(f"explorer.kind_{kind}"), fill=kind_color(kind, "dark"), font=_font(22))
    return picture


def _tile(weights: npt.NDArray[np.float32], size: int) -> npt.NDArray[np.uint8]:
    """(Q, K) weights -> (size, size, 3) colours."""
    rows, columns = (np.arange(size) * count // size for count in weights.shape)
    levels = np.rint(np.nan_to_num(weights).clip(0, 1) ** 0.7 * 255).astype(np.uint8)
    colours: npt.NDArray[np.uint8] = scale("dark")[np.maximum(levels, 12)][rows[:, None], columns]
    return colours


def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(SOURCE, size)
