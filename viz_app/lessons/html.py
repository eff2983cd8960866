"""Prose as HTML, for the handout."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from viz_app.lessons.lesson_markdown import Node


def to_html(node: Node) -> str:
    """Render a node of the prose as HTML or MathML; text is escaped."""
    if isinstance(node, str):
        return escape(node)
    tag, attributes, children = node
    attribute_text = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<{tag}{attribute_text}>{''.join(map(to_html, children))}</{tag}>"
