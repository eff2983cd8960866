"""Sections of the page Model."""
