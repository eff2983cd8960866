"""QR code of a link, in a menu or over the whole screen. The presenter's view of a lesson takes the same data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from viz_app.components.registration import register

_mount = register("share_code", Path(__file__).parent)


def share_code(data: Mapping[str, Any], *, key: str = "share-code") -> None:
    """Show the code.

    Args:
        data: `url`, the link; `rows` of its QR code, None if the link is too long; `command` that opens the app to
            others, "" while they can open it; `texts`, the table [share]; `language`.
        key: Of the code, where a page shows two.
    """
    _mount(key=key, data=dict(data), height="content")
