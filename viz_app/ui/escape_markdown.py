"""Text of others among Markdown."""

from __future__ import annotations


def escape_markdown(text: str) -> str:
    """Text in which Markdown finds nothing: it may hold tokens, or a sentence that somebody typed."""
    return "".join(c if c.isalnum() or c in " .,;?!%()/-→" else f"&#{ord(c)};" for c in text)
