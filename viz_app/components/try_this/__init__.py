"""Strip *Try this*: six cards that lead to what a visitor would not find, the same in the app and on the site."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def links(name: str, html: str, style: str, on_press: Callable[[str], None]) -> bool:
    """Show markup in the app whose links of the class "card" go on in this session; in another tab they are addresses.

    Args:
        name: Of the component; each language has its own.
        html: Markup, in which `data-card` names each link.
        style: Its rules.
        on_press: Called with the name of the link that was pressed; at least once.

    Returns:
        Whether one was just pressed.
    """
    result: Any = _mount(name, html, style)(key=name, on_open_change=events.keep)
    pressed = events.new_named_event(name, result.get("open"))
    if pressed is not None:
        on_press(pressed[0])
        events.answered(name, pressed[1])
    return pressed is not None


@cache
def _mount(name: str, html: str, style: str) -> ComponentRenderer:
    return component(name, html=html, css=lambda: style, js=lambda: join_modules(_FOLDER / "js" / "main.js"))
