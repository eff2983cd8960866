"""One file a page: widgets in, one call, pictures out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_framed: ContextVar[bool] = ContextVar("framed", default=False)


@contextmanager
def frame() -> Iterator[None]:
    """Inside this block a page is drawn by `main.py`, with navigation and language around it."""
    token = _framed.set(True)
    try:
        yield
    finally:
        _framed.reset(token)


def run(page: Callable[[], None]) -> None:
    """Draw a page inside the frame.

    Streamlit takes any folder named `pages` for its older way of many pages until the first session has declared its
    navigation. A page that is opened by its own address right after the start of the server would then run without
    `main.py`; so it starts that first.
    """
    if _framed.get():
        page()
    else:
        from viz_app.main import main

        main()
