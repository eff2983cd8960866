"""Styles of components, joined with those that several share."""

from __future__ import annotations

from pathlib import Path

_COMMON = Path(__file__).parent / "common"


def join_styles(sheet: Path, *shared: str) -> str:
    """Return the rules of a component, then `common/NAME.css` for each name, and `common/scrolls.css`."""
    files = (sheet, *(_COMMON / f"{name}.css" for name in (*shared, "scrolls")))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)
