"""Strip *Try this* under the explorer of Translate."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlencode

import streamlit as st

from viz_app.components.try_this import links, strip_html, strip_style
from viz_app.components.try_this.thumbnails import CHANGE, HEAD, SENTENCE
from viz_app.lessons.catalogue import LAB
from viz_app.lessons.stage import LessonState, settings_to_param
from viz_app.serving.models.registry import source_language
from viz_app.state import session
from viz_app.state.selected_model import selected_model
from viz_app.text import Texts
from viz_app.ui.lesson_route import open_stop, state_key

_BENCHES = {
    "redirect": LessonState("redirect", {"chosen": HEAD, "query": 0, "edits": CHANGE}),
    "when": LessonState("depth"),
    "plural": LessonState("swap", {"pair": "number"}),
}
_GAME = "broken"  # the lesson


def draw_try_this(t: Texts) -> None:
    """Draw the strip, and go where a card leads."""
    # Enqueued, so before the field is drawn, whose text a card may change.
    if links(f"try_this_{t.language}", _html(t), strip_style(), lambda card: session.enqueue_callback(_open, card)()):
        st.rerun()


@lru_cache(maxsize=8)
def _html(t: Texts) -> str:
    addresses = {card: _address(LAB, t, **_params(state)) for card, state in _BENCHES.items()}
    addresses["redirect"] = _address(LAB, t, text=SENTENCE, **_params(_BENCHES["redirect"]))
    addresses["game"] = _address("lessons", t, lesson=_GAME)
    addresses |= dict.fromkeys(("growth", "file"), _address("model", t))
    return strip_html(t.language, addresses)


def _address(page: str, t: Texts, **params: str | None) -> str:
    written = {name: value for name, value in {"lang": t.language, **params}.items() if value}
    return f"{page}?{urlencode(written)}"


def _params(state: LessonState) -> dict[str, str | None]:
    return {"scene": state.scene, "with": settings_to_param(state.settings)}


def _open(card: str) -> None:
    if card in _BENCHES:
        st.session_state[state_key(LAB)] = _BENCHES[card]
        reads = source_language(selected_model())
        if card == "redirect" and reads.split("-")[0].lower() in ("", "en"):
            st.session_state[session.TEXT_KEY] = SENTENCE
        session.navigate_to(LAB)
    elif card == "game":
        open_stop(_GAME)
    else:
        session.navigate_to("model")
