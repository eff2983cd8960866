"""What of a page's state lives in its URL, and in which form.

Layers, heads and steps count from 1 in the URL, as on screen; in code layers and heads count from 0. A parameter that
makes no sense is left out of account, so that an old or mistyped link still opens.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from transformer_core.attention_maps import KINDS
from viz_app.components.explorer.selection import UNITS, VIEWS, Selection
from viz_app.services.other_views import OTHER_VIEWS, OtherView

_CHOICES = {"kind": KINDS, "unit": UNITS, "view": VIEWS}


def selection_from(params: Mapping[str, str], default: Selection) -> Selection:
    """The selection that a URL asks for; what it does not say, or says wrongly, comes from the default."""
    changes: dict[str, Any] = {name: params[name] for name, allowed in _CHOICES.items() if params.get(name) in allowed}
    for name in ("layer", "head"):
        number = _counted(params.get(name))
        if number is not None:
            changes[name] = number - 1
    step = _counted(params.get("step"))
    if step is not None:
        changes["step"] = step
    return dataclasses.replace(default, **changes)


def params_from(selection: Selection) -> dict[str, str | None]:
    """The URL parameters of a selection; None for one that is not to stand there."""
    return {
        "kind": selection.kind,
        "layer": str(selection.layer + 1),
        "head": str(selection.head + 1),
        "step": None if selection.step is None else str(selection.step),
        "unit": None if selection.unit == UNITS[0] else selection.unit,
        "view": None if selection.view == VIEWS[0] else selection.view,
    }


def _counted(text: str | None) -> int | None:
    """A whole number from 1 to 9999, or None."""
    if text is None or not (text.isascii() and text.isdigit() and len(text) <= 4):
        return None
    return int(text) or None


def other_view_from(params: Mapping[str, str]) -> OtherView | None:
    """Which of the other views a URL wants open; None for none, or for one that does not exist."""
    return next((view for view in OTHER_VIEWS if params.get("other") == view), None)
