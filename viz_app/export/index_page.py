"""An index of files as one HTML page: no scripts, no network, every text escaped."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

from viz_app.export.pictures import size
from viz_app.figures.record import xml_safe
from viz_app.text import texts

_THUMBNAIL = 160  # pixels on the screen, of the longer side
_STYLE = """
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem; font-family: Pretendard, system-ui, sans-serif; }
body { color: #1a1a1a; background: #fff; }
ul { display: flex; flex-wrap: wrap; gap: 1.5rem; padding: 0; list-style: none; }
li { width: 12rem; } .wide li { width: 100%; }
img { image-rendering: pixelated; border: 1px solid #ccc; max-width: 100%; }
.wide img { image-rendering: auto; border: 0; }
p { margin: .3rem 0; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; overflow-wrap: anywhere; }
small, .links { font-size: .85rem; } a { color: #0b5cad; margin-right: .6rem; }
code { font-size: .8rem; overflow-wrap: anywhere; }
"""


@dataclass(frozen=True, kw_only=True)
class Card:
    """A figure on the page.

    Args:
        files: Names of its files, relative to the page.
        png: Its picture.
        alt: Text instead of the picture.
        title: Heading.
        caption: Its caption.
        notes: Further lines, such as warnings.
        command: The command that makes it again; empty for none.
    """

    files: Sequence[str]
    png: bytes
    alt: str
    title: str
    caption: str = ""
    notes: Sequence[str] = ()
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of the page: a heading, a text below it, and cards."""

    title: str = ""
    text: str = ""
    cards: Sequence[Card] = field(default_factory=tuple)


def index_page(
    title: str, parts: Iterable[Part], *, language: str, about: Sequence[str] = (), enlarged: bool = False
) -> str:
    """Return the page.

    Args:
        title: Its heading.
        parts: What stands on it.
        language: "en" or "ko".
        about: Lines below the heading, such as the checkpoint.
        enlarged: Whether pictures are a pixel a weight, to be enlarged; otherwise they stand as they are.
    """
    t = texts(language)
    body = "".join(_part(part, t("export.command"), enlarged) for part in parts)
    lines = "".join(f"<p><small>{_text(line)}</small></p>\n" for line in about)
    return f"""<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Headlight">
<title>{_text(title)}</title>
<style>{_STYLE}</style>
</head>
<body{"" if enlarged else ' class="wide"'}>
<h1>{_text(title)}</h1>
{lines}{body}</body>
</html>
"""


def _part(part: Part, command: str, enlarged: bool) -> str:
    heading = f"<h2>{_text(part.title)}</h2>\n" if part.title else ""
    text = f"<p>{_text(part.text)}</p>\n" if part.text else ""
    cards = "".join(_card(card, command, enlarged) for card in part.cards)
    return f"<section>\n{heading}{text}" + (f"<ul>\n{cards}</ul>\n" if cards else "") + "</section>\n"


def _card(card: Card, command: str, enlarged: bool) -> str:
    width, height = size(card.png)
    if enlarged:
        factor = _THUMBNAIL / max(width, height)
        width, height = max(1, round(width * factor)), max(1, round(height * factor))
    data = base64.b64encode(card.png).decode("ascii")
    links = "".join(f'<a href="{quote(name)}">{_text(_ending(name))}</a>' for name in card.files)
    lines = "".join(f"<p><small>{_text(line)}</small></p>" for line in (card.caption, *card.notes) if line)
    made = f"<p><small>{_text(command)}</small> <code>{_text(card.command)}</code></p>" if card.command else ""
    return (
        f'<li><img src="data:image/png;base64,{data}" width="{width}" height="{height}" alt="{_text(card.alt)}">'
        f'<p>{_text(card.title)}</p><p class="links">{links}</p>{lines}{made}</li>\n'
    )


def _ending(name: str) -> str:
    ending = re.search(r"\.([a-z]+(?:\.json)?)$", name)  # csv.json is the record of a CSV
    return ending[1].upper() if ending else name


def _text(text: str) -> str:
    return escape(xml_safe(text))
