"""Points in named rows: a table of numbers as a picture, one column for each kind of number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_app.figures.colours.scales import format_number
from viz_app.figures.model.figure import Figure

FloatArray = npt.NDArray[np.float64]

_ROOM = 0.08  # of an axis beside its outermost point
_TICKS = 4  # of an axis at most
_DECADES = 20.0  # a logarithmic axis whose ends are further apart has its ticks at powers of ten


@dataclass(frozen=True, kw_only=True)
class Dots:
    """One column of points, on an axis of its own.

    Args:
        values: (R,) a number for each row; NaN where there is none.
        title: Stands above the column.
        axis: What the numbers are.
        base: From here a line goes to each point; None for no lines.
        low: (R,) where the band behind a row begins; NaN for no band; None for no bands.
        high: (R,) where it ends.
        hollow: (R,) whether a point is drawn empty; None for none.
        digits: Of the numbers as they are written, after the point; None for three in all, with powers of ten.
        log: Whether the axis is logarithmic.
        falling: Whether less is to the right.
        holds: Numbers that the axis reaches, whether there are points or not, so that two columns have one axis.

    Raises:
        ValueError: Lengths differ, no value is a number, or a logarithmic axis has one that is not positive.
    """

    values: npt.ArrayLike
    title: str
    axis: str
    base: float | None = None
    low: npt.ArrayLike | None = None
    high: npt.ArrayLike | None = None
    hollow: Sequence[bool] | None = None
    digits: int | None = 2
    log: bool = False
    falling: bool = False
    holds: Sequence[float] = ()

    def __post_init__(self) -> None:
        rows = len(np.atleast_1d(np.asarray(self.values, dtype=np.float64)))
        none = [np.nan] * rows
        for name, given in (("values", self.values), ("low", self.low), ("high", self.high)):
            array = np.array(none if given is None else given, dtype=np.float64)
            array.setflags(write=False)
            if array.shape != (rows,):
                raise ValueError(f"{name} has shape {array.shape}, but must have a number for each of the {rows} rows")
            object.__setattr__(self, name, array)
        object.__setattr__(self, "hollow", tuple(self.hollow or (False,) * rows))
        if len(self.hollow or ()) != rows:
            raise ValueError(f"hollow has {len(self.hollow or ())} entries, but there are {rows} rows")
        numbers = self._numbers()
        if not np.isfinite(self.places).any() or np.isinf(numbers).any():
            raise ValueError("values must hold a finite number, and nothing infinite; NaN leaves a row empty")
        if self.log and (numbers <= 0).any():
            raise ValueError("a logarithmic axis cannot show a number that is not positive")

    def _numbers(self) -> FloatArray:
        base = [*self.holds, *([] if self.base is None else [self.base])]
        every: FloatArray = np.concatenate([self.places, self.bands.ravel(), np.array(base, dtype=np.float64)])
        return np.asarray(every[~np.isnan(every)], dtype=np.float64)

    @property
    def places(self) -> FloatArray:
        """(R,) the values as an array."""
        return np.asarray(self.values, dtype=np.float64)

    @property
    def bands(self) -> FloatArray:
        """(R, 2) the ends of the bands."""
        return np.stack([np.asarray(self.low, dtype=np.float64), np.asarray(self.high, dtype=np.float64)], axis=1)

    @property
    def empty(self) -> tuple[bool, ...]:
        """(R,) whether a point is drawn empty."""
        return tuple(self.hollow or ())

    def ends(self) -> tuple[float, float]:
        """Return both ends of the axis, the left one first."""
        numbers = np.log(self._numbers()) if self.log else self._numbers()
        low, high = float(numbers.min()), float(numbers.max())
        room = _ROOM * (high - low) or _ROOM * (abs(low) or 1.0)
        ends = (low - room, high + room)
        left, right = (float(np.exp(end)) for end in ends) if self.log else ends
        return (right, left) if self.falling else (left, right)

    def ticks(self, count: int = _TICKS) -> tuple[float, ...]:
        """Return at most `count` round numbers along the axis."""
        low, high = sorted(self.ends())
        if self.log and high > _DECADES * low:
            powers = np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)
            return tuple(float(10.0**power) for power in powers[:: -(-len(powers) // count)])
        power = int(np.floor(np.log10((high - low) / count)))
        for step in (factor * 10.0**exponent for exponent in range(power, power + 3) for factor in (1, 2, 5)):
            first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
            if last - first < count:
                return tuple(round(number * step, 10) for number in range(first, last + 1))
        return ()

    def tick_labels(self, count: int = _TICKS) -> tuple[str, ...]:
        """Return the ticks as they are written, with as many digits as tell them apart."""
        ticks = self.ticks(count)
        short = tuple(map(format_number, ticks))
        return short if len(set(short)) == len(ticks) else tuple(f"{tick:g}".replace("-", "\u2212") for tick in ticks)

    def format_value(self, row: int) -> str:
        """Return a value as it is written."""
        value = float(self.places[row])
        if np.isnan(value):
            return "\u2013"
        return format_number(value) if self.digits is None else f"{value:.{self.digits}f}".replace("-", "\u2212")


@dataclass(frozen=True, kw_only=True)
class DotsFigure(Figure):
    """Rows with a name, and a point in each column.

    Args:
        row_labels: (R,) names of the rows, from the top.
        columns: From the left.
        row_title: What the rows are.
        notes: What bands and empty points mean; below the figure, with its legend.

    Raises:
        ValueError: There is no row or no column, or their numbers differ.
    """

    row_labels: Sequence[str]
    columns: Sequence[Dots]
    row_title: str
    notes: Sequence[str] = ()
    name: str = "headlight_dots"

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in ("row_labels", "columns", "notes"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        if not self.row_labels or not self.columns:
            raise ValueError("a figure of dots needs at least one row and one column")
        for column in self.columns:
            if len(column.places) != len(self.row_labels):
                raise ValueError(f"{column.title!r} has {len(column.places)} values for {len(self.row_labels)} rows")
