"""What of a page's state lives in its URL, and in which form.

Layers, heads, steps, tokens and branches count from 1 in the URL, as on screen; in code all but steps count from 0. A
parameter that makes no sense is left out of account, so that an old or mistyped link still opens.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from transformer_core.renamed import KEYS
from viz_app.components.explorer.selection import CHOICES, MAX_COMPARED, OTHER_VIEWS, OtherView, Selection

_PIN = re.compile(r"([qk])([1-9][0-9]{0,3})")
_HEAD = re.compile(r"(encoder|decoder|cross)\.([1-9][0-9]?)\.([1-9][0-9]?)")
_DEFAULT = Selection()
_OPTIONAL = ("unit", "view", "zoom", "form", "order", "average", "scale")  # left out while they are as at the start
_MAX_THRESHOLD = 99
_MAX_CHARACTERS = 2_000  # of a sentence that still goes into the address


def selection_from_params(params: Mapping[str, str], default: Selection) -> Selection:
    """The selection that a URL asks for; what it does not say, or says wrongly, comes from the default."""
    chosen = {name: KEYS.get(params[name], params[name]) for name in CHOICES if name in params}
    changes: dict[str, Any] = {name: value for name, value in chosen.items() if value in CHOICES[name]}
    for name in ("layer", "head", "branch", "vsbranch"):
        number = _positive_number(params.get(name))
        if number is not None:
            changes[name] = number - 1
    for name in ("step", "threshold"):
        number = _positive_number(params.get(name))
        if number is not None and (name == "step" or number <= _MAX_THRESHOLD):
            changes[name] = number
    for name in ("vs", "vsmodel"):
        text = " ".join(params.get(name, "").split())
        if 0 < len(text) <= MAX_COMPARED:
            changes[name] = text
    if params.get("special") == "off":
        changes["special"] = False
    if params.get("card") == "open":
        changes["card"] = True
    if pin := _PIN.fullmatch(params.get("pin", "")):
        changes["pin"] = f"{pin[1]}{int(pin[2]) - 1}"
    if other := _HEAD.fullmatch(params.get("against", "")):
        changes["against"] = f"{other[1]}.{int(other[2]) - 1}.{int(other[3]) - 1}"
    return dataclasses.replace(default, **changes)


def selection_to_params(selection: Selection) -> dict[str, str | None]:
    """The URL parameters of a selection; None for one that is not to stand there."""
    params: dict[str, str | None] = {
        "kind": selection.kind,
        "layer": str(selection.layer + 1),
        "head": str(selection.head + 1),
        "step": None if selection.step is None else str(selection.step),
        "threshold": str(selection.threshold) if selection.threshold else None,
        "special": None if selection.special else "off",
        "branch": str(selection.branch + 1) if selection.branch else None,
        "card": "open" if selection.card else None,
        "pin": None if selection.pin is None else f"{selection.pin[0]}{int(selection.pin[1:]) + 1}",
        "against": None,
        "vs": None,
        "vsmodel": None,
        "vsbranch": None,
    }
    if selection.against is not None:
        params |= {"vs": selection.vs, "vsmodel": selection.vsmodel}
        params["vsbranch"] = str(selection.vsbranch + 1) if selection.vsbranch else None
        kind, layer, head = selection.against.split(".")
        params["against"] = f"{kind}.{int(layer) + 1}.{int(head) + 1}"
    for name in _OPTIONAL:
        value = getattr(selection, name)
        params[name] = None if value == getattr(_DEFAULT, name) else value
    return params


def text_to_param(text: str) -> str | None:
    """The sentence as the URL parameter `text`; None for one that is too long for an address."""
    return text if len(text) <= _MAX_CHARACTERS else None


def _positive_number(text: str | None) -> int | None:
    """A whole number from 1 to 9999, or None."""
    if text is None or not (text.isascii() and text.isdigit() and len(text) <= 4):
        return None
    return int(text) or None


def other_view_from_params(params: Mapping[str, str]) -> OtherView | None:
    """Which of the other views a URL wants open; None for none, or for one that does not exist."""
    return next((view for view in OTHER_VIEWS if params.get("other") == view), None)
