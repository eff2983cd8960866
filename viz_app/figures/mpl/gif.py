"""Animations as GIF: frames drawn by matplotlib, put together by Pillow, with one palette for all."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from viz_app.figures.build.steps import Animation
from viz_app.figures.model.pixels import GIF_DPI, check_pixels
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.renderer import render
from viz_app.figures.record import provenance_json


def to_gif(animation: Animation, style: Style, *, dpi: int = GIF_DPI) -> bytes:
    """Return the animation, repeated without end; the same arguments give the same bytes.

    Frames that differ in size, because a heading needs another line, are padded at the bottom.

    Raises:
        PictureTooLarge: Its frames together would have too many pixels.
    """
    pictures = [render(animation.frames[0], "png", style, dpi=dpi)]
    width, height = _size(pictures[0])
    check_pixels(width / dpi, height / dpi, dpi, frames=len(animation.frames))
    pictures += [render(frame, "png", style, dpi=dpi) for frame in animation.frames[1:]]
    sizes = [_size(picture) for picture in pictures]
    size = max(width for width, _ in sizes), max(height for _, height in sizes)
    sample = [_page(picture, size) for picture in pictures[:: max(1, len(pictures) // 8)]]
    palette = _palette(sample)
    frames = [_page(picture, size).quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    times = [round(1000 * animation.seconds)] * len(frames)
    times[-1] = round(1000 * (animation.hold or 2 * animation.seconds))
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


def _size(png: bytes) -> tuple[int, int]:
    return Image.open(io.BytesIO(png)).size


def _page(png: bytes, size: tuple[int, int]) -> Image.Image:
    """Return a picture, with more of its background at the right and at the bottom."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    page = Image.new("RGB", size, picture.getpixel((0, 0)))
    page.paste(picture, (0, 0))
    return page


def _palette(pages: list[Image.Image]) -> Image.Image:
    """Return a palette of 256 colours for all pages, from a strip of what differs between them."""
    strip = np.concatenate([np.asarray(page) for page in pages], axis=0)
    return Image.fromarray(strip).quantize(colors=256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
