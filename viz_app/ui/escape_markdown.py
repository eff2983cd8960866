"""Escape user text for Markdown."""

from __future__ import annotations


def escape_markdown(text: str) -> str:
    """Return a text without Markdown: tokens, or a typed sentence."""
    return "".join(c if c.isalnum() or c in " .,;?!%()/-→" else f"&#{ord(c)};" for c in text)
