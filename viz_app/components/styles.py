"""Joins the style of a component with those of the parts that it shares with others."""

from __future__ import annotations

from pathlib import Path

_COMMON = Path(__file__).parent / "common"


def join_styles(own: Path, *shared: str) -> str:
    """The rules of a component, then those of `common/NAME.css` for each name."""
    files = (own, *(_COMMON / f"{name}.css" for name in shared))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)
