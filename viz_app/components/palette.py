"""The colours that every component gets with its data: the tables of the figures, so that screen and print agree."""

from __future__ import annotations

import base64
from typing import Any

from viz_app.figures.colours.palette import KIND_COLORS, MASK_HATCH, THEMES, kind_color
from viz_app.figures.colours.scales import Colors, diverging, sequential


def palettes() -> dict[str, dict[str, Any]]:
    """For light and dark: scales of weights and differences, colours of the kinds, hatch of masked cells.

    The scales are RGB triples in base64: 256 for weights, 257 for differences, of which the middle one means zero.
    """
    return {
        theme: {
            "scale": _packed(sequential(theme=theme)),
            "diverging": _packed(diverging(theme)),
            "kinds": {kind: kind_color(kind, theme) for kind in KIND_COLORS},
            "hatch": MASK_HATCH[theme],
        }
        for theme in THEMES
    }


def _packed(colors: Colors) -> str:
    return base64.b64encode(colors.tobytes()).decode()
