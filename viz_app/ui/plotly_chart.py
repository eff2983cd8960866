"""Figure as an interactive Plotly chart."""

from __future__ import annotations

from typing import Any

import streamlit as st

from viz_app.figures import Figure, to_plotly
from viz_app.figures.colours.palette import Theme


def page_theme() -> Theme:
    """Return the theme of the visitor's page."""
    return "dark" if st.context.theme.type == "dark" else "light"


def draw_plotly(figure: Figure, key: str, **layout: Any) -> None:
    """Draw a figure; `layout` changes Plotly's layout."""
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": figure.name}}
    chart = to_plotly(figure).update_layout(**layout)
    st.plotly_chart(chart, theme=None, key=key, alt=figure.alt, config=config)
