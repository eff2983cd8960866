"""Prose as HTML, for paper and for the site."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from viz_app.lessons.lesson_markdown import Node, inline


def to_html(node: Node) -> str:
    """Render a node of the prose as HTML or MathML; text is escaped."""
    if isinstance(node, str):
        return escape(node)
    tag, attributes, children = node
    attribute_text = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<{tag}{attribute_text}>{html_of(children)}</{tag}>"


def html_of(nodes: Sequence[Node]) -> str:
    """Render nodes one after the other."""
    return "".join(map(to_html, nodes))


def prose_html(text: str, language: str) -> str:
    """Render a line of prose."""
    return html_of(inline(text, language))
