"""Colours and colour scales of screen and print."""
