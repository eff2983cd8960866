"""Figure as an interactive Plotly chart."""

from __future__ import annotations

from typing import Any

import streamlit as st

from viz_app.figures import CurvesFigure, HeatmapFigure
from viz_app.figures.colours.palette import Theme


def page_theme() -> Theme:
    """Return the theme of the visitor's page."""
    return "dark" if st.context.theme.type == "dark" else "light"


def draw_plotly(figure: HeatmapFigure | CurvesFigure, key: str, **layout: Any) -> None:
    """Draw a figure; `layout` changes Plotly's layout."""
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": figure.name}}
    if isinstance(figure, HeatmapFigure):
        from viz_app.figures.plotly.renderer import heatmaps

        chart = heatmaps(figure)
    else:
        from viz_app.figures.plotly.curves import curves

        chart = curves(figure)
    chart.update_layout(**layout)
    st.plotly_chart(chart, theme=None, key=key, alt=figure.alt, config=config)
