"""Animations as GIF: frames drawn by matplotlib, put together by Pillow, with one palette for all."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from viz_app.figures.build.steps import Animation
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.renderer import render
from viz_app.figures.record import provenance_json

DEFAULT_DPI = 150


def to_gif(animation: Animation, style: Style, *, dpi: int = DEFAULT_DPI) -> bytes:
    """The animation, repeated without end; the same arguments give the same bytes.

    Frames that differ in size, because a heading needs another line, are padded at the bottom.
    """
    pictures = [
        Image.open(io.BytesIO(render(frame, "png", style, dpi=dpi))).convert("RGB") for frame in animation.frames
    ]
    size = (max(picture.width for picture in pictures), max(picture.height for picture in pictures))
    background = pictures[0].getpixel((0, 0))
    padded = []
    for picture in pictures:
        page = Image.new("RGB", size, background)
        page.paste(picture, (0, 0))
        padded.append(page)
    palette = _palette(padded)
    frames = [page.quantize(palette=palette, dither=Image.Dither.NONE) for page in padded]
    times = [round(1000 * animation.seconds)] * len(frames)
    times[-1] *= 2
    buffer = io.BytesIO()
    frames[0].save(
        buffer,
        format="GIF",
        save_all=True,
        append_images=frames[1:],
        duration=times,
        loop=0,
        optimize=False,
        comment=provenance_json(animation, style).encode("utf-8"),
    )
    return buffer.getvalue()


def _palette(pages: list[Image.Image]) -> Image.Image:
    """The 256 colours that stand for those of all pages, from a strip of what differs between them."""
    strip = np.concatenate([np.asarray(page) for page in pages[:: max(1, len(pages) // 8)]], axis=0)
    return Image.fromarray(strip).quantize(colors=256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
