"""The colours that every component gets with its data: the tables of the figures, so that screen and print agree."""

from __future__ import annotations

import base64
from typing import Any

from viz_app.figures.colours.palette import KIND_COLOURS, MASK_HATCH, THEMES, kind_colour
from viz_app.figures.colours.scales import Colours, diverging, sequential


def palettes() -> dict[str, dict[str, Any]]:
    """For light and dark: scales of weights and differences, colours of the kinds, hatch of masked cells.

    The scales are RGB triples in base64: 256 for weights, 257 for differences, of which the middle one means zero.
    """
    return {
        theme: {
            "scale": _packed(sequential(theme=theme)),
            "diverging": _packed(diverging(theme)),
            "kinds": {kind: kind_colour(kind, theme) for kind in KIND_COLOURS},
            "hatch": MASK_HATCH[theme],
        }
        for theme in THEMES
    }


def _packed(colours: Colours) -> str:
    return base64.b64encode(colours.tobytes()).decode()
