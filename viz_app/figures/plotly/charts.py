"""Lines, beam trees, curves and matrices on screen. Every text is escaped; axes of tokens are numeric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz_app.figures.colours.palette import BACKGROUND, INK, MASK_HATCH, MUTED, kind_color
from viz_app.figures.colours.scales import numbers_map, weights_map
from viz_app.figures.model.beam_tree import BEST, BeamTreeFigure
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.model.dots import DotsFigure
from viz_app.figures.model.figure import Figure, display_label
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.model.style import Style
from viz_app.figures.plotly.constituency import constituency
from viz_app.figures.plotly.dots import dots
from viz_app.figures.plotly.parts import base_layout, color_bar, escaped, plotly_scale

_MAX_LABEL = 16
_BINS = 8  # strengths of lines; each is one trace
_ROW = 26  # pixels
_BAND = 0.18  # how strong the band around a curve is


def to_plotly(figure: Figure, style: Style) -> go.Figure:
    """A figure that is no heatmap. Raises ValueError for one that does not stand still."""
    if isinstance(figure, LinesFigure):
        return _lines(figure, style)
    if isinstance(figure, BeamTreeFigure):
        return _tree(figure, style)
    if isinstance(figure, ConstituencyFigure):
        return constituency(figure, style)
    if isinstance(figure, CurvesFigure):
        return _curves(figure, style)
    if isinstance(figure, MatrixFigure):
        return _matrix(figure, style)
    if isinstance(figure, DotsFigure):
        return dots(figure, style)
    raise ValueError(f"a figure of class {type(figure).__name__} cannot be shown; show one of its frames")


def _lines(figure: LinesFigure, style: Style) -> go.Figure:
    panel = figure.panels[0]
    queries, keys = len(panel.query_labels), len(panel.key_labels)
    longest = max(queries, keys)
    places = (np.arange(queries) + (longest - queries) / 2, np.arange(keys) + (longest - keys) / 2)
    accent = kind_color(figure.kind, figure.theme) if figure.kind else MUTED[figure.theme]
    colors = figure.colors if len(figure.panels) > 1 else (accent,)
    data = _line_traces(figure, style, colors, places)
    data += [_hover_points(figure, side, places[side]) for side in (0, 1)]
    if len(figure.panels) > 1 and style.legend:
        data += [_legend_entry(each.title, color) for each, color in zip(figure.panels, colors, strict=True)]
    left = _token_axis(panel.query_labels, places[0], figure.query_title, longest)
    right = _token_axis(panel.key_labels, places[1], figure.key_title, longest)
    layout = {
        **base_layout(figure),
        "height": longest * _ROW + 150,
        "xaxis": {"type": "linear", "range": [0, 1], "visible": False, "fixedrange": True},
        "yaxis": left,
        "yaxis2": {**right, "overlaying": "y", "side": "right"},
        "legend": {"orientation": "h", "y": -0.05},
    }
    return go.Figure({"data": data, "layout": layout})


def _line_traces(
    figure: LinesFigure, style: Style, colors: tuple[str, ...], places: tuple[Any, Any]
) -> list[dict[str, Any]]:
    """The lines, those of one head and about one strength in one trace, weak ones first."""
    scale = weights_map([each.weights for each in figure.panels], style, figure.theme)
    count = len(figure.panels)
    beside = [0.5 * (i - (count - 1) / 2) / count for i in range(count)]  # lines of several heads lie side by side
    bins: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for number, row, column, weight in figure.links():
        strength = int(np.ceil(float(scale.position(weight)) * _BINS))
        bins.setdefault((max(strength, 1), number), []).append((row, column))
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [x for _ in links for x in (0, 1, None)],
            "y": [
                y
                for row, column in links
                for y in (places[0][row] + beside[number], places[1][column] + beside[number], None)
            ],
            "line": {"color": colors[number], "width": 0.5 + 3 * strength / _BINS},
            "opacity": (strength / _BINS) ** 0.5,
            "hoverinfo": "skip",
            "showlegend": False,
        }
        for (strength, number), links in sorted(bins.items())
    ]


def _token_axis(labels: Sequence[str], places: Any, title: str, longest: int) -> dict[str, Any]:
    """A column of tokens, from the top."""
    return {
        "type": "linear",
        "range": [longest - 0.5, -0.5],
        "tickmode": "array",
        "tickvals": places.tolist(),
        "ticktext": [escaped(display_label(label, _MAX_LABEL)) for label in labels],
        "title": {"text": escaped(title)},
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "automargin": True,
    }


def _hover_points(figure: LinesFigure, side: int, places: Any) -> dict[str, Any]:
    """Invisible points at the tokens, which tell the weights of their lines."""
    panel = figure.panels[0]
    labels = (panel.query_labels, panel.key_labels)[side]
    hover_texts = []
    for i, label in enumerate(labels):
        lines = [f"<b>{escaped(display_label(label))}</b>"]
        for each in figure.panels:
            row = each.weights[i] if side == 0 else each.weights[:, i]
            best = int(row.argmax())
            other = (panel.key_labels if side == 0 else panel.query_labels)[best]
            name = f"{escaped(each.title)}: " if len(figure.panels) > 1 else ""
            lines.append(f"{name}{escaped(display_label(other))} {float(row[best]):.3f}")
        hover_texts.append("<br>".join(lines))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [float(side)] * len(labels),
        "y": places.tolist(),
        "yaxis": "y2" if side else "y",
        "marker": {"size": 14, "opacity": 0},
        "customdata": hover_texts,
        "hovertemplate": "%{customdata}<extra></extra>",
        "showlegend": False,
    }


def _legend_entry(title: str, color: str) -> dict[str, Any]:
    line = {"color": color, "width": 3}
    return {"type": "scatter", "mode": "lines", "x": [None], "y": [None], "name": escaped(title), "line": line}


def _tree(figure: BeamTreeFigure, style: Style) -> go.Figure:
    ranks = figure.ranks()
    titles = dict(zip(("kept", "finished", "pruned"), figure.status_titles, strict=True)) | {"best": figure.best_title}
    hover_texts = [
        f"<b>{escaped(display_label(node.label))}</b><br>{node.log_probability:.3f} ({node.token_log_probability:.3f})"
        f"<br>{escaped(titles[node.status])}"
        for node in figure.nodes
    ]
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": [node.step for node in figure.nodes],
        "y": list(ranks),
        "marker": {"size": 18, "opacity": 0},
        "customdata": hover_texts,
        "hovertemplate": "%{customdata}<extra></extra>",
        "showlegend": False,
    }
    layout = {
        **base_layout(figure),
        "height": (max(ranks) + 1) * 44 + 170,
        "annotations": _tree_labels(figure, ranks),
        "xaxis": {
            **_plain(figure.step_title, figure),
            "tickvals": list(range(1, figure.steps + 1)),
            "range": [0, figure.steps + 0.6],
        },
        "yaxis": {"visible": False, "range": [max(ranks) + 0.6, -0.6]},
        "legend": {"orientation": "h", "y": -0.15},
    }
    return go.Figure({"data": [*_tree_edges(figure, style, ranks, titles), points], "layout": layout})


def _tree_edges(
    figure: BeamTreeFigure, style: Style, ranks: tuple[int, ...], titles: Mapping[str, str]
) -> list[dict[str, Any]]:
    """A trace for the pruned, the kept and the chosen branches."""
    colors = {"pruned": MASK_HATCH[figure.theme], "kept": INK[figure.theme], "best": BEST[figure.theme]}
    edges: dict[str, list[tuple[float | None, float | None]]] = {name: [] for name in colors}
    for i, node in enumerate(figure.nodes):
        name = "best" if node.best else "pruned" if node.status == "pruned" else "kept"
        start = (figure.nodes[node.parent].step, ranks[node.parent]) if node.parent >= 0 else (0, 0)
        edges[name] += [start, (node.step, ranks[i]), (None, None)]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [x for x, _ in points],
            "y": [y for _, y in points],
            "line": {"color": colors[name], "width": 3 if name == "best" else 1},
            "hoverinfo": "skip",
            "name": escaped(titles[name]),
            "showlegend": style.legend,
        }
        for name, points in edges.items()
        if points
    ]


def _tree_labels(figure: BeamTreeFigure, ranks: tuple[int, ...]) -> list[dict[str, Any]]:
    """Labels in boxes of the page's colour: as annotations, since text of a trace has no background."""
    theme = figure.theme
    return [
        {
            "x": node.step,
            "y": ranks[i],
            "text": escaped(display_label(node.label, _MAX_LABEL)),
            "showarrow": False,
            "bgcolor": BACKGROUND[theme],
            "borderpad": 2,
            "bordercolor": INK[theme] if node.status == "finished" else BACKGROUND[theme],
            "font": {"color": BEST[theme] if node.best else MUTED[theme] if node.status == "pruned" else INK[theme]},
        }
        for i, node in enumerate(figure.nodes)
    ]


def _plain(title: str, figure: Figure) -> dict[str, Any]:
    return {
        "title": {"text": escaped(title)},
        "type": "linear",
        "gridcolor": MASK_HATCH[figure.theme],
        "zeroline": False,
        "automargin": True,
        "showgrid": False,
    }


def _curves(figure: CurvesFigure, style: Style) -> go.Figure:
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": np.concatenate([series.xs, series.xs[::-1]]),
            "y": np.concatenate([series.band[0], series.band[1][::-1]]),
            "fill": "toself",
            "fillcolor": color,
            "opacity": _BAND,
            "line": {"color": color, "width": 0},
            "showlegend": False,
            "hoverinfo": "skip",
        }
        for series, color in zip(figure.series, figure.colors, strict=True)
        if series.band is not None
    ]
    data += [
        {
            "type": "scatter",
            "mode": "lines+markers" if series.marked else "lines",
            "x": series.xs,
            "y": series.ys,
            "name": escaped(name),
            "line": {"color": color, "width": 2, "dash": "dash" if series.dashed else "solid"},
        }
        for series, color, name in zip(figure.series, figure.colors, figure.legend(), strict=True)
    ]
    if figure.cut is not None:
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [figure.cut] * len(figure.series),
                "y": figure.readings(),
                "marker": {"color": figure.colors, "size": 8},
                "cliponaxis": False,
                "showlegend": False,
                "hoverinfo": "x+y",
            }
        )
    layout = {
        **base_layout(figure),
        "height": 420,
        "showlegend": style.legend and any(series.label for series in figure.series),
        "xaxis": {**_plain(figure.x_title, figure), "showgrid": True, **_numbers(figure.x_log)},
        "yaxis": {**_plain(figure.y_title, figure), "showgrid": True, **_numbers(figure.y_log)},
        "legend": {"orientation": "h", "y": -0.2},
        "shapes": _cut(figure),
    }
    return go.Figure({"data": data, "layout": layout})


def _cut(figure: CurvesFigure) -> list[dict[str, Any]]:
    """The line at which the curves are read."""
    if figure.cut is None:
        return []
    line = {"color": INK[figure.theme], "width": 1.5}
    return [{"type": "line", "x0": figure.cut, "x1": figure.cut, "y0": 0, "y1": 1, "yref": "paper", "line": line}]


def _break(figure: MatrixFigure, row: int) -> dict[str, Any]:
    """A line above a row."""
    y, line = figure.row_start + row - 0.5, {"color": INK[figure.theme], "width": 1.5}
    return {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": y, "y1": y, "line": line}


def _numbers(log: bool) -> dict[str, Any]:
    """An axis of numbers; a logarithmic one counts in powers of ten."""
    return {"type": "log", "dtick": 1, "exponentformat": "power"} if log else {"type": "linear"}


def _names(labels: Sequence[str], start: int) -> dict[str, Any]:
    """Names in place of the numbers of rows or columns."""
    if not labels:
        return {}
    names = [escaped(display_label(label, _MAX_LABEL)) for label in labels]
    return {"tickmode": "array", "tickvals": [*range(start, start + len(labels))], "ticktext": names}


def _matrix(figure: MatrixFigure, style: Style) -> go.Figure:
    rows = len(figure.matrix)
    scale = numbers_map(figure.matrix, figure.diverging, style, figure.theme, figure.base)
    trace = {
        "type": "heatmap",
        "z": figure.matrix,
        "x0": figure.column_start,
        "y0": figure.row_start,
        "dx": 1,
        "dy": 1,
        **plotly_scale(scale),
        "showscale": style.legend,
        "colorbar": color_bar(scale, figure.scale_title),
        "zsmooth": False,
        "hovertemplate": (
            f"{escaped(figure.row_title)}: %{{y}}<br>{escaped(figure.column_title)}: %{{x}}"
            f"<br>{escaped(figure.scale_title)}: %{{z}}<extra></extra>"
        ),
    }
    layout = {
        **base_layout(figure),
        "height": 460,
        "xaxis": {**_plain(figure.column_title, figure), **_names(figure.column_labels, figure.column_start)},
        "yaxis": {
            **_plain(figure.row_title, figure),
            **_names(figure.row_labels, figure.row_start),
            "range": [figure.row_start + rows - 0.5, figure.row_start - 0.5],
        },
        "shapes": [_break(figure, row) for row in figure.row_breaks],
    }
    return go.Figure({"data": [trace], "layout": layout})
