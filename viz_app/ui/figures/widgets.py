"""The widgets of the page Figures: each starts at the spec's value and gives back what the visitor has made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from viz_app.text import Texts
from viz_app.ui.definitions import define

# The words of the glossary that the label of a widget needs.
_TERMS = {
    "kind": ("attention", "cross_attention"),
    "layer": ("layer",),
    "head": ("head",),
    "query": ("query", "key"),
    "unit": ("token", "subword"),
}


class Widgets:
    """Factory of widgets.

    Args:
        t: Labels in the visitor's language.
    """

    def __init__(self, t: Texts) -> None:
        self.t = t

    def list(self, name: str, options: Sequence[Any], now: Any, format_option: Callable[[Any], str]) -> Any:
        """Draw a list and return the choice."""
        return st.selectbox(
            self.label(name),
            [*options],
            index=[*options].index(now),
            format_func=format_option,
            key=self.key(name),
            help=self._about(name),
        )

    def row(self, name: str, options: Sequence[Any], now: Any, format_option: Callable[[Any], str]) -> Any:
        """Draw a row of buttons and return the choice."""
        return st.segmented_control(
            self.label(name),
            [*options],
            default=now,
            format_func=format_option,
            key=self.key(name),
            required=True,
            help=self._about(name),
        )

    def index_pills(self, name: str, numbers: Sequence[int], now: int) -> int:
        """Draw layers or heads, counted from 1 on the screen, and return the choice."""
        label, key, about = self.label(name), self.key(name), self._about(name)
        return st.pills(label, [*numbers], default=now, format_func=one_based, key=key, required=True, help=about)

    def number(
        self, name: str, now: float | None, low: float, high: float, step: float, format: str = "%.1f"
    ) -> float | None:
        """Draw a field for a number, which may be empty, and return it."""
        return st.number_input(
            self.label(name),
            low,
            high,
            now,
            step,
            format=format,
            placeholder=self.t("figures_page.auto"),
            key=self.key(name),
        )

    def _about(self, name: str) -> str | None:
        return define(self.t, *_TERMS[name]) if name in _TERMS else None

    def switch(self, name: str, now: bool) -> bool:
        """Draw a checkbox and return its value."""
        return st.checkbox(self.label(name), value=now, key=self.key(name))

    def label(self, name: str) -> str:
        """Return the label of an option."""
        return self.t(f"figures_page.{name}")

    def key(self, name: str) -> str:
        """Return the key of a widget; in another language it is another widget, which starts at the spec's value."""
        return f"figures-{self.t.language}-{name}"


def one_based(number: int) -> str:
    """Return a number counted from 0, as it is shown."""
    return str(number + 1)
