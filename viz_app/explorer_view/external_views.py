"""The views beside the explorer: the selected head in Plotly, and BertViz' head view and model view.

They follow what is selected in the explorer: kind, layer, head, step, and tokens or words. Plotly and BertViz are
imported when the first such view is made, not before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transformer_core.attention_maps import AttentionMaps
from viz_app.components.explorer.selection import OtherView, Selection
from viz_app.figures import HeatmapFigure, Request, layer_heads, one_head, upto_step
from viz_app.figures.colours.palette import Theme

# The most weights that a view draws at once. BertViz makes an SVG line of each, Plotly a cell with a hover text of its
# own. Measured on two cores with Chromium, from the choice to the picture: Plotly 2.9 s for 10,000 (of which it loads
# for 1.5 s the first time), BertViz' head view 2.8 s for 96,800 and its model view 2.8 s for 172,800. Documents of
# BertViz have 8 bytes for a weight of any layer, so that these stay far below 20 MB.
MAX_WEIGHTS: dict[OtherView, int] = {"plotly": 12_000, "head": 100_000, "model": 160_000}


@dataclass(frozen=True)
class DrawingCost:
    """Number of weights of a view, against its limit.

    Args:
        weights: Weights to draw.
        limit: The most that the view draws.
        tokens: How many tokens on each side the limit allows, as many queries as keys.
    """

    weights: int
    limit: int
    tokens: int

    @property
    def is_within_limit(self) -> bool:
        """Whether the view can be drawn."""
        return self.weights <= self.limit


def select_maps(maps: AttentionMaps, selection: Selection) -> AttentionMaps:
    """Return the maps up to the selected step, by tokens or merged to words."""
    if selection.step is not None:
        maps = upto_step(maps, selection.step)
    return maps.merged_to_words() if selection.unit == "words" else maps


def drawing_cost(maps: AttentionMaps, selection: Selection, view: OtherView) -> DrawingCost:
    """Count the weights that a view of these maps would draw.

    Args:
        maps: Maps as selected.
        selection: Fitted to the maps.
        view: One of OTHER_VIEWS.
    """
    layers, heads, queries, keys = maps.weights(selection.kind).shape
    drawn_heads = {"plotly": heads if selection.view == "layer" else 1, "head": heads, "model": layers * heads}[view]
    limit = MAX_WEIGHTS[view]
    return DrawingCost(drawn_heads * queries * keys, limit, math.isqrt(limit // drawn_heads))


def head_figure(
    maps: AttentionMaps, selection: Selection, *, language: str, theme: Theme, provenance: Mapping[str, Any]
) -> HeatmapFigure:
    """Return the selected head, or all heads of its layer when these stand side by side in the explorer.

    Args:
        maps: All maps of the translation, by tokens.
        selection: Fitted to the maps.
        language: "en" or "ko".
        theme: "light" or "dark".
        provenance: Where the picture comes from.
    """
    request = Request(
        maps=maps,
        kind=selection.kind,
        layer=selection.layer,
        head=selection.head,
        unit=selection.unit,
        step=selection.step,
        language=language,
        theme=theme,
        provenance=provenance,
    )
    return layer_heads(request) if selection.view == "layer" else one_head(request)
