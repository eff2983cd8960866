"""What is said when an address asks for a model that is not here.

It stands apart from the choice itself, so that the frame of the page has little to import.
"""

from __future__ import annotations

import streamlit as st

from viz_app.pages.parts.plain import plain
from viz_app.services import model, session
from viz_app.services.models import titles
from viz_app.text import Texts


def draw_missing(t: Texts) -> None:
    """Says so when an address has asked for a model that is not here."""
    wanted, now = session.model(), model.chosen()
    if wanted not in (None, now):
        told = t("models.missing", wanted=plain(str(wanted)), now=plain(titles(t)[now]))
        st.caption(f":material/warning: {told}")
