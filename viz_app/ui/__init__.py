"""Widgets and sections of pages."""
