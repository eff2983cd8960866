"""An image of cells for PNG, each device pixel in the colour of the cell that its middle lies in.

matplotlib's own images resample with transparency in floating point, whatever the interpolation; for a large map that
took most of the time of a file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.image import AxesImage
from matplotlib.transforms import IdentityTransform


class Cells(AxesImage):
    """An opaque RGB image; add it to axes with `add_image` after `set_data` and `set_extent`."""

    def make_image(
        self, renderer: Any, magnification: float = 1.0, unsampled: bool = False
    ) -> tuple[npt.NDArray[np.uint8], float, float, Any]:
        """(rows, columns, 4) device pixels, row 0 at the bottom, and where their lower left corner lies."""
        left, right, low, high = self.get_extent()
        corners = self.axes.transData.transform([(left, low), (right, high)]) * magnification
        (x0, y0), (x1, y1) = corners
        data = np.asarray(self.get_array())  # (cells down, cells across, 3), the uppermost first
        across, begin = _picked(x0, x1, data.shape[1])
        up, bottom = _picked(y0, y1, data.shape[0])
        pixels = np.full((len(up), len(across), 4), 255, dtype=np.uint8)
        pixels[..., :3] = data[::-1][up][:, across]
        return pixels, begin, bottom, IdentityTransform()


def _picked(start: float, end: float, count: int) -> tuple[npt.NDArray[np.intp], float]:
    """For each device pixel between two edges the number of its cell, and where the first pixel lies."""
    first, last = round(start), round(end)
    middles = (np.arange(first, max(last, first + 1)) + 0.5 - start) / (end - start) * count
    return np.clip(middles.astype(np.intp), 0, count - 1), float(first)
