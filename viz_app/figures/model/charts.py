"""Figures that are no attention map: curves over a number, and matrices of any numbers, such as positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from viz_app.figures.colours.scales import format_number
from viz_app.figures.model.figure import Figure
from viz_app.figures.model.lines import head_colors


@dataclass(frozen=True, kw_only=True)
class Series:
    """One curve.

    Args:
        x: Places, as many as values; drawn in this order.
        y: Values; NaN leaves a gap.
        label: Its name in the legend.
        dashed: Whether its line is dashed, as a theory beside a measurement often is.
        marked: Whether each of its points is marked, where the line between them only leads the eye.
        low: Where a band around the curve begins, a number for each value; None for no band.
        high: Where it ends.

    Raises:
        ValueError: x, y, low and high are not equally many, or there are none; or half of a band is missing.
    """

    x: npt.ArrayLike
    y: npt.ArrayLike
    label: str = ""
    dashed: bool = False
    marked: bool = False
    low: npt.ArrayLike | None = None
    high: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise ValueError(f"series {self.label!r} has half of a band: low and high go together")
        for name in ("x", "y") if self.low is None else ("x", "y", "low", "high"):
            values = np.array(getattr(self, name), dtype=np.float64)
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        if self.xs.ndim != 1 or self.xs.shape != self.ys.shape or not len(self.xs):
            raise ValueError(
                f"series {self.label!r} has x of shape {self.xs.shape} and y of shape {self.ys.shape}, "
                "but both must be one row of equally many numbers"
            )
        if self.band is not None and not (
            self.band.shape == (2, len(self.xs))
            and np.isfinite(self.band).all()
            and (self.band[0] <= self.band[1]).all()
        ):
            raise ValueError(
                f"series {self.label!r} has a band that is not low and high, finite, for each of its values"
            )
        if not np.isfinite(self.xs).all():
            raise ValueError(
                f"series {self.label!r} has an x that is not a finite number; only y may be NaN, for a gap"
            )
        if np.isinf(self.ys).any():
            raise ValueError(f"series {self.label!r} has an infinite y; NaN leaves a gap")

    @property
    def xs(self) -> npt.NDArray[np.float64]:
        """The places as an array."""
        return np.asarray(self.x, dtype=np.float64)

    @property
    def ys(self) -> npt.NDArray[np.float64]:
        """The values as an array."""
        return np.asarray(self.y, dtype=np.float64)

    @property
    def band(self) -> npt.NDArray[np.float64] | None:
        """(2, values) both ends of the band; None without."""
        if self.low is None or self.high is None:
            return None
        low, high = np.asarray(self.low, dtype=np.float64), np.asarray(self.high, dtype=np.float64)
        return np.stack([low, high]) if low.shape == high.shape else np.empty((2, 0))


@dataclass(frozen=True, kw_only=True)
class CurvesFigure(Figure):
    """Curves over a number, such as the learning rate over the steps of training.

    Args:
        series: The curves; the first ones get the most distinct colours.
        x_title: What the places are.
        y_title: What the values are.
        x_log: Whether the axis of places is logarithmic.
        y_log: Whether the axis of values is logarithmic.
        cut: A place at which all curves are read: a line stands there, and the readings beside it; None for none.
        signed: Whether readings that are not negative have a plus sign.

    Raises:
        ValueError: There is no curve, a logarithmic axis would have to show a number that is not positive, or a cut
            lies beside all curves.
    """

    series: Sequence[Series]
    x_title: str
    y_title: str
    x_log: bool = False
    y_log: bool = False
    cut: float | None = None
    signed: bool = True
    name: str = "headlight_curves"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "series", tuple(self.series))
        if not self.series:
            raise ValueError("a figure of curves needs at least one series")
        for series in self.series:
            band = np.empty(0) if series.band is None else series.band.ravel()
            for axis, log, values in (("x", self.x_log, series.xs), ("y", self.y_log, np.append(series.ys, band))):
                if log and np.any(values[np.isfinite(values)] <= 0):
                    raise ValueError(
                        f"series {series.label!r} has a {axis} that is not positive, but the {axis} axis is logarithmic"
                    )
        if self.cut is not None:
            low = min(float(series.xs.min()) for series in self.series)
            high = max(float(series.xs.max()) for series in self.series)
            if not low <= self.cut <= high:
                raise ValueError(f"cut is {self.cut}, but must be between {low:g} and {high:g}, where the curves are")

    @property
    def colors(self) -> tuple[str, ...]:
        """A colour for each curve."""
        return head_colors(self.theme, len(self.series))

    def readings(self) -> tuple[float, ...]:
        """Return the value of each curve at the cut, on the straight line between its points; NaN beside the curve."""
        if self.cut is None:
            return ()
        return tuple(
            float(np.interp(self.cut, series.xs, series.ys, left=np.nan, right=np.nan)) for series in self.series
        )

    def formatted_readings(self) -> tuple[str, ...]:
        """Return the readings as they are written, all in one form, with two digits where that tells them apart.

        Without a cut, "" for each curve.
        """
        if self.cut is None:
            return ("",) * len(self.series)
        largest = max(float(np.nanmax(np.abs(series.ys), initial=0.0)) for series in self.series)
        short, sign = 0.1 <= largest < 100, "+" if self.signed else ""
        return tuple(
            "\u2013"
            if np.isnan(value)
            else f"{value:{sign}.2f}".replace("-", "\u2212")
            if short
            else format_number(value)
            for value in self.readings()
        )

    def legend(self) -> tuple[str, ...]:
        """Return the names of the curves, with their readings where there is a cut."""
        return tuple(f"{s.label} {r}".rstrip() for s, r in zip(self.series, self.formatted_readings(), strict=True))


@dataclass(frozen=True, kw_only=True)
class MatrixFigure(Figure):
    """Any matrix as colours, such as the positional encoding: a row for each position, a column for each dimension.

    Args:
        values: (R, C) finite numbers, or NaN where one is missing; row 0 at the top.
        row_title: What the rows are.
        column_title: What the columns are.
        scale_title: What the numbers are.
        diverging: Whether zero is the middle of the colours: for numbers of both signs.
        row_start: Number of the first row.
        column_start: Number of the first column.
        row_labels: A name for each row, such as its token; without names the rows are numbered.
        column_labels: The same for the columns.
        base: A number that the colours begin at, or below; None for the least of the values. Zero in `diverging` ones.
        row_breaks: Rows, counted from 0, above which a line stands, as between groups of rows.
        cell_labels: A text for each cell, by row, in pictures; () for none.

    Raises:
        ValueError: The values are no matrix, one is infinite, there is not a name for each row or column or a text for
            each cell, or a row does not exist.
    """

    values: npt.ArrayLike
    row_title: str
    column_title: str
    scale_title: str
    diverging: bool = False
    row_start: int = 0
    column_start: int = 0
    row_labels: Sequence[str] = ()
    column_labels: Sequence[str] = ()
    base: float | None = None
    row_breaks: Sequence[int] = ()
    cell_labels: Sequence[Sequence[str]] = ()
    name: str = "headlight_matrix"

    def __post_init__(self) -> None:
        super().__post_init__()
        values = np.array(self.values, dtype=np.float64 if np.asarray(self.values).dtype == np.float64 else np.float32)
        values.setflags(write=False)
        object.__setattr__(self, "values", values)
        if values.ndim != 2 or 0 in values.shape:
            raise ValueError(f"values have shape {values.shape}, but must be (rows, columns) with at least one of each")
        if np.isinf(values).any():
            row = int(np.isinf(values).any(axis=1).argmax())
            raise ValueError(f"row {row} of the values (counted from 0) holds a value that is not a finite number")
        for name, count in zip(("row_labels", "column_labels"), values.shape, strict=True):
            labels = tuple(getattr(self, name))
            object.__setattr__(self, name, labels)
            if labels and len(labels) != count:
                raise ValueError(f"{name} has {len(labels)} entries, but the values have {count}")
        if self.cell_labels and [*map(len, self.cell_labels)] != [values.shape[1]] * len(values):
            raise ValueError(f"cell_labels are {len(self.cell_labels)} rows, but must be a text for each cell")
        object.__setattr__(self, "row_breaks", tuple(self.row_breaks))
        if not all(0 < row < len(values) for row in self.row_breaks):
            raise ValueError(f"row_breaks are {list(self.row_breaks)}, but must be from 1 to {len(values) - 1}")

    @property
    def matrix(self) -> npt.NDArray[np.floating[Any]]:
        """The values as an array, in the precision given."""
        return np.asarray(self.values)
