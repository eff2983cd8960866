"""URL parameters of a page's state.

A head stands there by its name, such as `cross.6.8`. Steps, tokens and branches count from 1 in the URL, as on screen;
in code all but steps count from 0. A parameter that makes no sense is left out of account, so that a mistyped link
still opens.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from transformer_core.head import Head, head_named
from viz_app.components.explorer.selection import OTHER_VIEWS, HeadForm, OtherView, Selection
from viz_app.figures.option import from_query, to_query

_MAX_CHARACTERS = 2_000  # of a sentence that still goes into the address
_OF_COMPARISON = ("vs", "vsmodel", "vsbranch")


def selection_from_params(params: Mapping[str, str], default: Selection) -> Selection:
    """Return the selection that a URL asks for; what it does not say, or says wrongly, comes from the default."""
    others = {name: value for name, value in params.items() if name not in Head._fields}
    return dataclasses.replace(default, **_head_from_params(params), **from_query(Selection, others))


def selection_to_params(selection: Selection) -> dict[str, str | None]:
    """Return the URL parameters of a selection; None for one that is not to stand there."""
    params = {name: value for name, value in to_query(Selection, selection).items() if name not in Head._fields}
    params["head"] = str(Head(selection.kind, selection.layer, selection.head))
    return params if selection.against is not None else {**params, **dict.fromkeys(_OF_COMPARISON)}


def _head_from_params(params: Mapping[str, str]) -> dict[str, Any]:
    try:
        return head_named(params.get("head", ""))._asdict()
    except ValueError:
        return {}


def head_off_from_params(params: Mapping[str, str]) -> str | None:
    """Return the head that a URL switches off, such as `cross.6.8`; None for none, or for no head."""
    try:
        return HeadForm().loads(params.get("off", ""))
    except ValueError:
        return None


def text_to_param(text: str) -> str | None:
    """Return the sentence as the URL parameter `text`; None for one that is too long for an address."""
    return text if len(text) <= _MAX_CHARACTERS else None


def other_view_from_params(params: Mapping[str, str]) -> OtherView | None:
    """Return the view beside the explorer that a URL opens; None for none, or for one that does not exist."""
    return next((view for view in OTHER_VIEWS if params.get("other") == view), None)
