"""Comparing a picture of the explorer with the approved one.

Versions of a browser draw the edges of letters and lines a little differently. So a pixel only counts as differing when
it lies clearly outside of what stands around its place in the other picture. Beside that the mean colour of every small
square has to agree, so that wide changes are found too. What this cannot see: the colour scale with its numbers moved
by 4 pixels to the side passes, by 5 it does not (up or down: by 2 it does not).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

LEVELS = 64  # so many of its 256 levels a channel may lie outside of what the other picture has
REACH = 1  # within so many pixels
SIDE = 32  # of the squares that are looked at one by one
MAX_OF_ALL = 0.005  # share of the whole picture that may differ
MAX_OF_SQUARE = 0.045  # and of each square, so that a small element that moved is not lost in a large picture
MEAN_LEVELS = 5.0  # by which the mean of a channel in a square may differ

Pixels = npt.NDArray[np.uint8]


def read(path: Path) -> Pixels:
    """(height, width, 3)."""
    pixels: Pixels = np.asarray(Image.open(path).convert("RGB"))
    return pixels


def differing(new: Pixels, approved: Pixels) -> npt.NDArray[np.bool_]:
    """(height, width): pixels that lie clearly outside of what the other picture has there, either way."""
    result: npt.NDArray[np.bool_] = np.logical_or(_outside(new, approved), _outside(approved, new))
    return result


def _outside(one: Pixels, other: Pixels) -> npt.NDArray[np.bool_]:
    low, high = _around(other, np.minimum).astype(np.int16), _around(other, np.maximum).astype(np.int16)
    outside: npt.NDArray[np.bool_] = np.any((one < low - LEVELS) | (one > high + LEVELS), axis=-1)
    return outside


def _around(picture: Pixels, choose: np.ufunc) -> Pixels:
    """The least or the largest that stands within REACH of each pixel: along the rows first, then along the columns."""
    for axis in (1, 0):
        reach = [(0, 0)] * 3
        reach[axis] = (REACH, REACH)
        padded, size = np.pad(picture, reach, mode="edge"), picture.shape[axis]
        slices = [np.take(padded, range(start, start + size), axis=axis) for start in range(2 * REACH + 1)]
        picture = choose.reduce(slices)
    return picture


def mismatch(new: Pixels, approved: Pixels) -> str | None:
    """What is wrong with a picture, in words; None when it passes for the approved one."""
    if new.shape != approved.shape:
        return f"it is {new.shape[1]} x {new.shape[0]} pixels, approved are {approved.shape[1]} x {approved.shape[0]}"
    if np.array_equal(new, approved):
        return None
    wrong = differing(new, approved)
    if wrong.mean() > MAX_OF_ALL:
        return f"{wrong.mean():.2%} of its pixels differ, allowed are {MAX_OF_ALL:.2%}"
    share, x, y = worst_square(wrong)
    if share > MAX_OF_SQUARE:
        return f"{share:.1%} of the {SIDE} x {SIDE} pixels at ({x}, {y}) differ, allowed are {MAX_OF_SQUARE:.1%}"
    for channel in range(3):
        levels, x, y = worst_square(new[..., channel].astype(np.float64) - approved[..., channel])
        if levels > MEAN_LEVELS:
            return f"the mean colours of the {SIDE} x {SIDE} pixels at ({x}, {y}) differ by {levels:.1f} levels"
    return None


def worst_square(values: npt.NDArray[np.bool_] | npt.NDArray[np.float64]) -> tuple[float, int, int]:
    """The mean of a square that is farthest from 0, without its sign, and its left upper corner (x, y)."""
    height, width = values.shape
    rows, columns = -(-height // SIDE), -(-width // SIDE)
    padded = np.pad(values, ((0, rows * SIDE - height), (0, columns * SIDE - width)))
    means = np.abs(padded.reshape(rows, SIDE, columns, SIDE).mean(axis=(1, 3)))
    row, column = np.unravel_index(int(means.argmax()), means.shape)
    return float(means[row, column]), int(column) * SIDE, int(row) * SIDE


def marked(new: Pixels, approved: Pixels) -> Image.Image:
    """The approved picture, pale, with what differs in red; where the sizes differ, what both have."""
    height, width = (min(a, b) for a, b in zip(new.shape[:2], approved.shape[:2], strict=True))
    picture = 200 + approved[:height, :width] // 5
    picture[differing(new[:height, :width], approved[:height, :width])] = (220, 0, 0)
    return Image.fromarray(picture.astype(np.uint8))
