"""The widgets of the page Figures: each starts at the spec's value and gives back what the visitor has made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from viz_app.text import Texts


class Widgets:
    """Makes widgets.

    Args:
        t: Labels in the visitor's language.
        scope: Tells the widgets of one kind of figure from those of another, which start at the spec's value then.
    """

    def __init__(self, t: Texts, scope: str = "") -> None:
        self.t, self.scope = t, scope

    def list(self, name: str, options: Sequence[Any], now: Any, format_option: Callable[[Any], str]) -> Any:
        """A list to choose one of."""
        index = [*options].index(now)
        return st.selectbox(
            self.t(f"studio.{name}"), [*options], index=index, format_func=format_option, key=self.key(name)
        )

    def row(self, name: str, options: Sequence[Any], now: Any, format_option: Callable[[Any], str]) -> Any:
        """A row of buttons to choose one of."""
        label, key = self.t(f"studio.{name}"), self.key(name)
        return st.segmented_control(label, [*options], default=now, format_func=format_option, key=key, required=True)

    def index_pills(self, name: str, numbers: Sequence[int], now: int) -> int:
        """A layer or head, counted from 1 on the screen."""
        label, key = self.t(f"studio.{name}"), self.key(name)
        return st.pills(label, [*numbers], default=now, format_func=one_based, key=key, required=True)

    def number(
        self, name: str, now: float | None, low: float, high: float, step: float, format: str = "%.1f"
    ) -> float | None:
        """A number, or none where none is needed."""
        return st.number_input(
            self.t(f"studio.{name}"),
            low,
            high,
            now,
            step,
            format=format,
            placeholder=self.t("studio.auto"),
            key=self.key(name),
        )

    def key(self, name: str) -> str:
        """Identity of a widget: in another language it is another one, which starts at the spec's value."""
        return f"studio-{self.t.language}-{self.scope}{name}"


def one_based(number: int) -> str:
    """A number counted from 0, as it is shown."""
    return str(number + 1)
