"""Names for opened models, in folders and in addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping


def plain_name(text: str) -> str:
    """Return a name for a folder and for an address, from any text."""
    return re.sub(r"[^\w.-]+", "-", text, flags=re.ASCII)[:40].strip(".-") or "model"


def unused_name(text: str, others: Mapping[str, object]) -> str:
    """Return a plain name that no other model has."""
    plain = plain_name(text)
    name, number = plain, 2
    while name in others:
        name, number = f"{plain}-{number}", number + 1
    return name
