"""Tour of a page for first visitors: a few steps, each beside its place. Shown once per browser (`localStorage`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from viz_app.components.registration import register

_mount = register("tour", Path(__file__).parent)


def tour(steps: Sequence[str], texts: Mapping[str, str], *, language: str, first: bool, asked: str) -> None:
    """Show the tour; it waits until its first place is on the page.

    Args:
        steps: CSS selector of each step's place, which may be inside a component.
        texts: `title_N` and `text_N` of each step, from 1; `next`, `back`, `skip`, `done`, `progress`.
        language: Code of the language.
        first: Whether it starts by itself in a browser that has never shown it.
        asked: Mark of a visitor's request, another one each time; empty without a request.
    """
    data = {"steps": list(steps), "texts": dict(texts), "language": language, "first": first, "asked": asked}
    _mount(key="tour", data=data, height="content")
