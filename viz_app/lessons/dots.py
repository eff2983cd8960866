"""A column of points in named rows: its axis, and its numbers as they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viz_app.figures.colours.scales import format_number

_ROOM = 0.08  # of an axis beside its outermost point
_TICKS = 4  # of an axis at most
_DECADES = 20.0  # a logarithmic axis whose ends are further apart has its ticks at powers of ten
MISSING = (float("nan"), float("nan"))  # the band of a row without one


@dataclass(frozen=True, kw_only=True)
class Dots:
    """One column of points, on an axis of its own.

    Args:
        values: (R,) a number for each row; NaN where there is none. At least one is finite.
        title: Stands above the column.
        axis: What the numbers are.
        base: From here a line goes to each point; None for no lines.
        bands: (R, 2) low and high end of the band behind each row, `MISSING` for none; empty for no bands.
        hollow: (R,) whether a point is drawn empty; empty for none.
        digits: Of the numbers as they are written, after the point; None for three in all, with powers of ten.
        log: Whether the axis is logarithmic.
        falling: Whether less is to the right.
        holds: Numbers that the axis reaches, whether there are points or not, so that two columns have one axis.
    """

    values: Sequence[float]
    title: str
    axis: str
    base: float | None = None
    bands: Sequence[tuple[float, float]] = ()
    hollow: Sequence[bool] = ()
    digits: int | None = 2
    log: bool = False
    falling: bool = False
    holds: Sequence[float] = ()

    def ends(self) -> tuple[float, float]:
        """Return both ends of the axis, the left one first."""
        base = [] if self.base is None else [self.base]
        numbers = np.array([*self.values, *(end for band in self.bands for end in band), *self.holds, *base])
        numbers = numbers[~np.isnan(numbers)]
        numbers = np.log(numbers) if self.log else numbers
        low, high = float(numbers.min()), float(numbers.max())
        room = _ROOM * (high - low) or _ROOM * (abs(low) or 1.0)
        ends = (low - room, high + room)
        left, right = (float(np.exp(end)) for end in ends) if self.log else ends
        return (right, left) if self.falling else (left, right)

    def ticks(self) -> list[tuple[float, str]]:
        """Return at most `_TICKS` round numbers along the axis, with as many digits as tell them apart."""
        places = self._places()
        short = [*map(format_number, places)]
        distinct = short if len({*short}) == len(places) else [f"{place:g}".replace("-", "\u2212") for place in places]
        return [*zip(places, distinct, strict=True)]

    def _places(self) -> list[float]:
        low, high = sorted(self.ends())
        if self.log and high > _DECADES * low:
            powers = np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)
            return [float(10.0**power) for power in powers[:: -(-len(powers) // _TICKS)]]
        power = int(np.floor(np.log10((high - low) / _TICKS)))
        for step in (factor * 10.0**exponent for exponent in range(power, power + 3) for factor in (1, 2, 5)):
            first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
            if last - first < _TICKS:
                return [round(number * step, 10) for number in range(first, last + 1)]
        return []

    def texts(self) -> list[str]:
        """Return the values as they are written."""
        return [self._text(float(value)) for value in self.values]

    def _text(self, value: float) -> str:
        if np.isnan(value):
            return "\u2013"
        return format_number(value) if self.digits is None else f"{value:.{self.digits}f}".replace("-", "\u2212")
