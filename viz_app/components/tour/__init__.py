"""A tour of a page for a visitor who has never been there: a few steps, each beside what it is about.

The browser remembers that it was shown (`localStorage`), so that nobody meets it twice unless they ask for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from viz_app.components.registration import register

_mount = register("tour", Path(__file__).parent)


def tour(steps: Sequence[str], texts: Mapping[str, str], *, language: str, first: bool, asked: str) -> None:
    """Put the tour on the page; it waits until its first place is there.

    Args:
        steps: For each step a CSS selector of its place, which may be inside a component.
        texts: `title_N` and `text_N` of each step, from 1; `next`, `back`, `skip`, `done`, `progress`.
        language: Code of their language.
        first: Whether it starts by itself, in a browser that has never shown it.
        asked: A mark of the visitor's wish to see it, another one each time; empty without one.
    """
    data = {"steps": list(steps), "texts": dict(texts), "language": language, "first": first, "asked": asked}
    _mount(key="tour", data=data, height="content")
