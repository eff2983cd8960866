"""Captions and alt texts of figures that were made without, from their numbers, in English and Korean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from viz_app.figures.colours.scales import format_number
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure, Series
from viz_app.figures.model.figure import Figure, HeatmapFigure, display_label
from viz_app.text import Texts, texts

AnyFigure = TypeVar("AnyFigure", bound=Figure)

_LABEL = 60  # characters of a name in a caption
_MAX = 8  # names in a caption


def with_caption(figure: AnyFigure) -> AnyFigure:
    """Give the figure a caption and an alt text where it had none.

    The values at a cut are in the alternative text only; the figure has them in its key.
    """
    t = texts(figure.language)
    caption = figure.caption or _caption(figure, t)
    return replace(figure, caption=caption, alt=figure.alt or _alt(figure, caption, t))


def _caption(figure: Figure, t: Texts) -> str:
    if isinstance(figure, CurvesFigure):
        low, high = (format_number(end) for end in _ends(np.concatenate([series.xs for series in figure.series])))
        titles = {"x": figure.x_title, "y": figure.y_title, "low": low, "high": high}
        names = [display_label(series.label, _LABEL) for series in figure.series if series.label]
        if len(figure.series) == 1:
            caption = t("figures.caption_curve", **titles)
            new = bool(names) and names[0] != figure.y_title
            return f"{caption} {t('figures.caption_name', name=names[0])}" if new else caption
        more = t("figures.caption_more_curves", count=len(names) - _MAX) if len(names) > _MAX else ""
        listed = "; ".join(names[:_MAX])
        return t("figures.caption_curves", **titles, count=len(figure.series), names=f"{listed}{more}")
    if isinstance(figure, MatrixFigure):
        return _cells(figure.matrix, figure.scale_title, figure.row_title, figure.column_title, t)
    if isinstance(figure, HeatmapFigure):
        cells = _cells(figure.panels[0].weights, figure.scale_title, figure.query_title, figure.key_title, t)
        return f"{figure.title}. {cells}"
    return figure.title


def _cells(values: Any, scale: str, row: str, column: str, t: Texts) -> str:
    """Name the rows, the columns and the colours."""
    low, high = (format_number(end) for end in _ends(values))
    rows, columns = values.shape
    fields = {"scale": scale, "rows": rows, "row": row, "columns": columns, "column": column, "low": low, "high": high}
    caption = t("figures.caption_matrix", **fields)
    return f"{caption} {t('figures.missing_note')}" if np.isnan(values).any() else caption


def _alt(figure: Figure, caption: str, t: Texts) -> str:
    if isinstance(figure, CurvesFigure):
        parts = [caption, *(_curve_summary(series, t) for series in figure.series[:_MAX])]
        if figure.cut is not None:
            names = [display_label(series.label, _LABEL) for series in figure.series]
            listed = "; ".join(
                f"{name} {value}" for name, value in zip(names, figure.formatted_readings(), strict=True)
            )
            parts.append(t("figures.alt_cut", x=figure.x_title, place=format_number(figure.cut), readings=listed))
        return " ".join(parts)
    return f"{t('figures.alt_matrix')} {caption}" if isinstance(figure, MatrixFigure) else caption


def _curve_summary(series: Series, t: Texts) -> str:
    """Describe start, end and extremes of a curve."""
    there = series.ys[np.isfinite(series.ys)]
    if not len(there):
        return ""
    low, high = _ends(there)
    places = {"start": there[0], "end": there[-1], "low": low, "high": high}
    formatted = {name: format_number(float(value)) for name, value in places.items()}
    return t("figures.alt_course", name=display_label(series.label, _LABEL) if series.label else "\u2013", **formatted)


def _ends(values: Any) -> tuple[float, float]:
    there = values[~np.isnan(values)]
    return (float(there.min()), float(there.max())) if there.size else (0.0, 0.0)
