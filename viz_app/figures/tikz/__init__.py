"""Figures as TikZ."""
