"""Figures drawn by Plotly: on the screen."""
