"""Captions and alternative texts."""
