"""Menu and expander whose content is made when it is opened, so that a closed one costs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st


@contextmanager
def menu(label: str, *, key: str, icon: str) -> Iterator[bool]:
    """Open a popover; yield whether it is open.

    Args:
        label: Label of its button.
        key: Its identity on the page.
        icon: Icon of its button.
    """
    popover = st.popover(label, key=key, icon=icon, on_change="rerun")
    with popover:
        yield bool(popover.open)


@contextmanager
def expander(label: str, *, key: str, icon: str) -> Iterator[bool]:
    """Open an expander; yield whether it is open. The arguments are as for `menu`."""
    place = st.expander(label, key=key, icon=icon, on_change="rerun")
    with place:
        yield bool(place.open)
