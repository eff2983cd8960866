"""Any matrix with labels: effects of heads, gradients, results of patching.

figure = heatmap(effects, row_labels, column_labels, signed=True)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from viz_app.figures.model.arrays import check_lengths, real_numbers
from viz_app.figures.model.charts import MatrixFigure
from viz_app.figures.text.chart_captions import with_caption
from viz_app.text import texts

MAX_CELLS = 250_000


def heatmap(
    values: npt.ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    signed: bool = False,
    language: str = "en",
    **options: Any,
) -> MatrixFigure:
    """Return a figure of any matrix with labels, such as effects of heads, gradients or results of patching.

    Args:
        values: (R, C) numbers; NaN is missing. numpy, or what numpy can read.
        rows: A label for each row, from the top.
        columns: A label for each column.
        signed: Whether 0 is the middle of the colours, for numbers of both signs; else they go from the least.
        language: "en" or "ko".
        options: Further fields of `MatrixFigure`: `row_title`, `column_title`, `scale_title`, `title`, `caption`, ...

    Raises:
        ValueError: One line that says what is wrong and what is allowed.
    """
    array, t = real_numbers("values", values, MAX_CELLS), texts(language)
    for name, labels in (("rows", rows), ("columns", columns)):
        if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
            raise ValueError(f"{name} must be a list with a text for each position")
        check_lengths(name, labels)
    titles = {f"{name}_title": t(f"figures.{name}_own") for name in ("row", "column", "scale")}
    made: dict[str, Any] = {"row_labels": rows, "column_labels": columns, "diverging": signed, "language": language}
    return with_caption(MatrixFigure(values=array, **made, **{**titles, **options}))
