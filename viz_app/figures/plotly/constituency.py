"""Phrase-structure trees on screen: labels as annotations, whose colour can have a background."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from viz_app.figures import fonts
from viz_app.figures.colours.palette import BACKGROUND, MUTED
from viz_app.figures.model.constituency import ConstituencyFigure, TreePlaces, label_of, place_tree
from viz_app.figures.model.figure import display_label
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.renderer import drawing_settings
from viz_app.figures.plotly.parts import base_layout, color_bar, escaped, plotly_scale

_WIDTH = 900  # pixels that a page has for the tree, about
_LARGEST, _MIN = 14.0, 8.0  # font size in pixels
_PIXELS = 22  # height of a font size


def constituency(figure: ConstituencyFigure, style: Style) -> go.Figure:
    """The tree, root at the top; pointing at a label tells its words, probability and weight."""
    with drawing_settings():
        places = place_tree(figure, fonts.width)
    axis = {"visible": False, "type": "linear", "fixedrange": False}
    layout = {
        **base_layout(figure),
        "height": places.height * _PIXELS + 150,
        "showlegend": False,
        "xaxis": {**axis, "range": [0, places.width]},
        "yaxis": {**axis, "range": [places.height + 1, -1]},
        "annotations": _labels(figure, style, places),
    }
    data = [_edges(figure, places), _points(figure, places)]
    if style.legend and figure.is_tinted:
        data.append(_key(figure, style))
    return go.Figure({"data": data, "layout": layout})


def _edges(figure: ConstituencyFigure, places: TreePlaces) -> dict[str, Any]:
    points = [point for edge in places.edges for point in (*edge, (None, None))]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "line": {"color": MUTED[figure.theme], "width": 1},
        "hoverinfo": "skip",
    }


def _labels(figure: ConstituencyFigure, style: Style, places: TreePlaces) -> list[dict[str, Any]]:
    size = max(_MIN, min(_LARGEST, _WIDTH / places.width))
    nodes = [
        (node.label, at, figure.node_tint(i, style))
        for i, (node, at) in enumerate(zip(figure.nodes, places.nodes, strict=True))
    ]
    words = [
        (word, at, figure.word_tint(i, style))
        for i, (word, at) in enumerate(zip(figure.words, places.words, strict=True))
    ]
    return [
        {
            "x": x,
            "y": y,
            "text": escaped(label_of(text)),
            "showarrow": False,
            "bgcolor": tint or BACKGROUND[figure.theme],
            "borderpad": 2,
            "font": {"size": size, "color": figure.ink_on(tint)},
        }
        for text, (x, y), tint in (*nodes, *words)
    ]


def _points(figure: ConstituencyFigure, places: TreePlaces) -> dict[str, Any]:
    """Invisible points that tell about their labels."""
    texts = []
    for i, node in enumerate(figure.nodes):
        lines = [f"<b>{escaped(display_label(node.label))}</b>", escaped(display_label(figure.phrase(i)))]
        if node.probability is not None:
            lines.append(f"{escaped(figure.probability_title)}: {node.probability:.3f}")
        texts.append("<br>".join(lines))
    for i, word in enumerate(figure.words):
        lines = [f"<b>{escaped(display_label(word))}</b>"]
        if figure.weights is not None:
            lines.append(f"{escaped(figure.weight_title)}: {figure.weights[i]:.3f}")
        texts.append("<br>".join(lines))
    places_of_all = (*places.nodes, *places.words)
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [x for x, _ in places_of_all],
        "y": [y for _, y in places_of_all],
        "marker": {"size": 18, "opacity": 0},
        "customdata": texts,
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _key(figure: ConstituencyFigure, style: Style) -> dict[str, Any]:
    """Nothing but a colour bar."""
    scale = figure.color_map(style)
    parts = plotly_scale(scale)
    marker = {
        "color": [scale.low],
        "cmin": parts["zmin"],
        "cmax": parts["zmax"],
        "colorscale": parts["colorscale"],
        "showscale": True,
        "colorbar": color_bar(scale, ", ".join(figure.tint_titles())),
    }
    return {"type": "scatter", "mode": "markers", "x": [None], "y": [None], "marker": marker, "hoverinfo": "skip"}
