"""Limits on bitmap size: a page two metres wide takes gigabytes at 600 dpi."""

from __future__ import annotations

import math

MAX_PIXELS = 40_000_000  # of a picture: A4 at 600 dpi has 35 million
GIF_DPI = 150  # dots per inch of an animation, if nobody asks for others
MAX_ANIMATION_PIXELS = 160_000_000  # of all frames of an animation


class PictureTooLarge(ValueError):
    """A picture would have more pixels than it may.

    Args:
        pixels: What it would have; an animation in all its frames together.
        most: What it may have.
        dpi: The highest resolution that fits, in dots per inch.
    """

    def __init__(self, pixels: float, most: int, dpi: int) -> None:
        super().__init__(
            f"the picture would have {pixels / 1e6:,.0f} million pixels, but may have at most {most / 1e6:,.0f} "
            f"million; {dpi} dpi would fit"
        )
        self.pixels, self.most, self.dpi = pixels, most, dpi


def check_pixels(width: float, height: float, dpi: float, *, frames: int = 1) -> None:
    """Raise PictureTooLarge when pages of this size in inches have too many pixels at this resolution."""
    most = MAX_PIXELS if frames == 1 else MAX_ANIMATION_PIXELS
    pixels = width * height * frames * dpi**2
    if pixels > most:
        raise PictureTooLarge(pixels, most, math.floor(math.sqrt(most / (width * height * frames))))
