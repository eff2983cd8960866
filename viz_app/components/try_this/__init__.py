"""Strip *Try this*: six cards that lead to what a visitor would not find, the same in the app and on the site."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viz_app.components import events
from viz_app.components.modules import join_modules
from viz_app.components.registration import component
from viz_app.components.styles import join_styles
from viz_app.components.try_this.thumbnails import CARDS, thumbnail
from viz_app.text import texts

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_FOLDER = Path(__file__).parent
_KEY = "try-this"


def strip_html(language: str, addresses: Mapping[str, str]) -> str:
    """Return the markup of the strip, which `strip_style` has the rules for.

    Args:
        language: "en" or "ko".
        addresses: Where each of `CARDS` leads; a card without an address says that it needs the app.
    """
    t = texts(language)
    cards = []
    for name in CARDS:
        words = f"<strong>{escape(t(f'try_this.{name}'))}</strong><span>{escape(t(f'try_this.about_{name}'))}</span>"
        if name in addresses:
            address = escape(addresses[name])
            cards.append(f'<a class="card" href="{address}" data-card="{name}">{thumbnail(name)}{words}</a>')
        else:
            cards.append(f'<div class="card">{thumbnail(name)}{words}<em>{escape(t("try_this.app"))}</em></div>')
    return f'<section class="try-this"><h2>{escape(t("try_this.title"))}</h2><div>{"".join(cards)}</div></section>'


def strip_style() -> str:
    """Return the rules of the strip, which use the theme's variables."""
    return join_styles(_FOLDER / "try_this.css")


def try_this(language: str, addresses: Mapping[str, str]) -> tuple[str, int] | None:
    """Show the strip in the app.

    Args:
        language: "en" or "ko".
        addresses: Where each card leads in another tab; a press in this one is reported instead.

    Returns:
        The card that was pressed and the number for `answered`, until it is answered; None for none.
    """
    result: Any = _mount(language, tuple(addresses.items()))(key=_KEY, on_open_change=events.keep)
    return events.new_named_event(_KEY, result.get("open"))


def answered(number: int) -> None:
    """Remember that a press is answered."""
    events.answered(_KEY, number)


@cache
def _mount(language: str, addresses: tuple[tuple[str, str], ...]) -> ComponentRenderer:
    return component(
        f"try_this_{language}",
        html=strip_html(language, dict(addresses)),
        css=strip_style,
        js=lambda: join_modules(_FOLDER / "js" / "main.js"),
    )
