"""Curves and matrices."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.app.figures.samples import curves, matrix, pdf_text
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import (
    Series,
    export,
)


def test_curves_and_matrices_write_numbers_as_text(maps: AttentionMaps) -> None:
    text = pdf_text(export(curves(y_log=True, x_log=True), "pdf"))
    for word in ("학습률", "1/x <b>", "뿌리", "rate_$x$", "100", "0.01"):
        assert word in text
    words = pdf_text(export(matrix(), "pdf"))
    for word in ("Positions", "차원", "position", "\u22121"):
        assert word in words


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Series(x=[1, 2], y=[1]), "both must be one row of equally many numbers"),
        (lambda: Series(x=[1, math.inf], y=[1, 2]), "x that is not a finite number"),
        (lambda: curves(series=[]), "at least one series"),
        (
            lambda: curves(series=[Series(x=[0, 1], y=[1, 2], label="a")], x_log=True),
            "'a' has a x that is not positive",
        ),
        (lambda: matrix(values=[1, 2]), r"shape \(2,\), but must be \(rows, columns\)"),
        (lambda: matrix(values=[[1, math.nan]]), "row 0 of the values"),
    ],
)
def test_charts_check_what_they_are_given(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
