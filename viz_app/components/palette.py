"""Colours for the components: the tables of the figures, so that screen and print agree."""

from __future__ import annotations

import base64
from typing import TypedDict

from viz_app.figures.colours.palette import KIND_COLORS, MASK_HATCH, THEMES, kind_color
from viz_app.figures.colours.scales import Colors, diverging, sequential


class Palette(TypedDict):
    """Colours of one theme, as "#rrggbb"; the scales are RGB triples in base64.

    Args:
        scale: 256 triples for weights.
        diverging: 257 triples for differences; the middle one is zero.
        kinds: For each kind of attention.
        hatch: Of masked cells.
    """

    scale: str
    diverging: str
    kinds: dict[str, str]
    hatch: str


def palettes() -> dict[str, Palette]:
    """Return the colours of the light and the dark theme."""
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
