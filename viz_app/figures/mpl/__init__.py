"""Figures drawn by matplotlib: PDF, SVG, PNG, GIF."""
