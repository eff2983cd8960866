"""Figures drawn by Plotly: screen and HTML."""
