"""Common parts of figures on screen: escaped text, layout of the page, colour scales."""

from __future__ import annotations

from typing import Any

from viz_app.figures.colours.palette import BACKGROUND, INK
from viz_app.figures.colours.scales import ColorMap, format_number
from viz_app.figures.model.figure import Figure

FONT = "Pretendard, sans-serif"


def escaped(text: str) -> str:
    """Return a text that Plotly shows literally: no tags, no entities, no formulas between dollar signs."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("$", "&#36;")


def base_layout(figure: Figure) -> dict[str, Any]:
    """Return the common part of every layout."""
    return {
        "template": None,
        "font": {"family": FONT, "color": INK[figure.theme], "size": 14},
        "paper_bgcolor": BACKGROUND[figure.theme],
        "plot_bgcolor": BACKGROUND[figure.theme],
        "title": {"text": escaped(figure.title), "font": {"size": 16}, "x": 0.5, "xanchor": "center"},
        "margin": {"l": 20, "r": 20, "t": 60, "b": 20},
        "hoverlabel": {"font": {"family": FONT}, "align": "left"},
        "shapes": [],
        "annotations": [],
    }


def plotly_scale(scale: ColorMap) -> dict[str, Any]:
    """Range and colours of a heatmap trace; a root is in the places of the colours, so that `z` stays the weights."""
    last = len(scale.colors) - 1
    places = [(scale.value(i / last) - scale.low) / (scale.high - scale.low) for i in range(last + 1)]
    colors = [[min(max(place, 0.0), 1.0), color] for place, color in zip(places, scale.hex(), strict=True)]
    return {"zmin": scale.low, "zmax": scale.high, "colorscale": colors}


def color_bar(scale: ColorMap, title: str) -> dict[str, Any]:
    """Return the key of a scale."""
    return {
        "title": {"text": escaped(title), "side": "right"},
        "tickvals": list(scale.ticks()),
        "ticktext": [format_number(value) for value in scale.ticks()],
        "thickness": 12,
        "outlinewidth": 0.5,
    }
