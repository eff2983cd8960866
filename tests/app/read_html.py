"""What an HTML document holds, for tests."""

from __future__ import annotations

from html.parser import HTMLParser


class Document(HTMLParser):
    """Tags, addresses and text of a document.

    Args:
        html: The document.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag and what it points to."""
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        """A stretch of text."""
        self.text += data
