"""Contents of an HTML document, for tests."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any


class Page(HTMLParser):
    """A document: its text, every tag with its attributes, and the texts of scripts and styles.

    Args:
        text: The document.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, dict[str, str | None], str]] = []
        self.inside = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag and its attributes."""
        self.tags.append((tag, dict(attrs)))
        self.inside = tag in ("script", "style")
        if self.inside:
            self.texts.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        """The end of a tag."""
        self.inside = False

    def handle_data(self, data: str) -> None:
        """A stretch of text."""
        self.text += data
        if self.inside:
            tag, attributes, before = self.texts.pop()
            self.texts.append((tag, attributes, before + data))

    @property
    def names(self) -> set[str]:
        """Names of the tags."""
        return {tag for tag, _ in self.tags}

    @property
    def addresses(self) -> list[str]:
        """Addresses that the document loads or leads to."""
        return [each for _, values in self.tags for name in ("src", "href") if (each := values.get(name)) is not None]

    @property
    def data(self) -> dict[str, Any]:
        """The only block of JSON."""
        (result,) = [text for _, attributes, text in self.texts if attributes.get("type") == "application/json"]
        parsed: dict[str, Any] = json.loads(result)
        return parsed

    @property
    def scripts(self) -> list[str]:
        """Code in the document."""
        return [text for tag, attributes, text in self.texts if tag == "script" and "type" not in attributes]

    @property
    def policy(self) -> dict[str, list[str]]:
        """The content security policy."""
        (content,) = [
            attributes["content"] or ""
            for tag, attributes in self.tags
            if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
        ]
        parts = [part.split() for part in content.split(";")]
        return {name: values for name, *values in parts}
