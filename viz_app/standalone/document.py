"""The HTML file around a component: what it shows is inside, with its origin and all licences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core import __version__
from viz_app.components.buffer import split_buffer
from viz_app.components.explorer.code import explorer_code, licences
from viz_app.components.html_document import PageTheme, html_document, json_element, packed_element, theme_style
from viz_app.components.modules import join_modules, self_starting
from viz_app.figures.record import PROGRAM, record_json, xml_safe
from viz_app.standalone.origin import Origin
from viz_app.standalone.page_font import font_style
from viz_app.text import texts

if TYPE_CHECKING:
    from viz_app.standalone.paper import Paper

MAX_BYTES = 64_000_000  # of maps, arrays and weights; compressed and as text they have about 0.7 of that

FOLDER = Path(__file__).parent


class PageTooLarge(ValueError):
    """A page over its limit; the message says its size and the limit."""


def check_size(size: int) -> None:
    """Raise PageTooLarge for too many bytes of numbers."""
    if size > MAX_BYTES:
        raise PageTooLarge(f"the page has {size / 1e6:,.0f} MB of numbers, but may have {MAX_BYTES / 1e6:,.0f} MB")


@dataclass(frozen=True, kw_only=True)
class PageSentence:
    """A sentence of a page.

    Args:
        text: The sentence as typed.
        branches: Payloads of `viz_app.components.explorer.pack`, one for each branch from 0 on.
        off: Findings of `without_head`, by head, such as "cross.6.8".
        needed: Finding of `needed_head`; None for none.
        free: Finding of `free_search`; None for none.
        flow: Finding of `explorer_view.flow`, of the first branch; None for none.
    """

    text: str
    branches: Sequence[bytes]
    off: Mapping[str, Any] = field(default_factory=dict)
    needed: Mapping[str, Any] | None = None
    free: Mapping[str, Any] | None = None
    flow: Mapping[str, Any] | None = None


def explorer_page(
    sentences: Sequence[PageSentence],
    *,
    language: str,
    origin: Origin,
    cards: Mapping[str, Any] | None = None,
    roles: Mapping[str, Any] | None = None,
    theme: PageTheme = "auto",
    title: str = "",
) -> bytes:
    """Return a page with the explorer; the same arguments give the same bytes.

    Args:
        sentences: At least one; the first is shown first.
        language: "en" or "ko", as in the payloads.
        origin: Its origin.
        cards: Card of each head, such as "cross.6.8".
        roles: Finding of `roles`; None for none.
        theme: As for `theme_style`.
        title: Its title; "" for the first sentence.
    """
    blocks = {
        f"s{number}b{branch}": payload
        for number, sentence in enumerate(sentences)
        for branch, payload in enumerate(sentence.branches)
    }
    blocks |= {f"s{number}flow": _json(sentence.flow) for number, sentence in enumerate(sentences)}
    findings = {
        "cards": cards or {},
        "roles": roles,
        "sentences": [
            {"off": sentence.off, "needed": sentence.needed, "free": sentence.free} for sentence in sentences
        ],
    }
    about = {
        "label": texts(language)("page.sentences"),
        "sentences": [
            {"text": sentence.text, "branches": [f"s{number}b{branch}" for branch in range(len(sentence.branches))]}
            for number, sentence in enumerate(sentences)
        ],
        "start": split_buffer(sentences[0].branches[0])[0]["selection"],
    }
    return standalone_page(
        title or sentences[0].text,
        [explorer_code(), join_modules(FOLDER / "js" / "explorer_page.js")],
        about,
        {**blocks, "findings": _json(findings)},
        language=language,
        origin=Origin(record=origin.record, licences={**licences(), **origin.licences}),
        theme=theme,
    )


def standalone_page(
    title: str,
    modules: Sequence[str],
    about: Mapping[str, Any],
    blocks: Mapping[str, bytes],
    *,
    language: str,
    origin: Origin,
    theme: PageTheme = "auto",
    allowed: Mapping[str, str] | None = None,
    style: str = "",
    letters: str = "",
    paper: Paper | None = None,
) -> bytes:
    """Return a page whose modules read the blocks of data.

    Args:
        title: Its title, as plain text.
        modules: Joined modules; each is started.
        about: Plain values of the block `page`.
        blocks: Bytes by name.
        language: "en" or "ko".
        origin: Its origin.
        theme: As for `theme_style`.
        allowed: As for `html_document`.
        style: Further rules.
        letters: Text of a page that has few letters; its font has no others of the language.
        paper: What it prints instead of what is on the screen.
    """
    t = texts(language)
    record = {"program": PROGRAM, "version": __version__, **origin.record}
    rows = {
        t("page.made_by"): f"{PROGRAM} {__version__}",
        t("page.model"): " ".join(record[name] for name in ("checkpoint", "checkpoint_sha256") if record.get(name)),
        t("page.command"): record.get("command", ""),
        **{t("page.licence", what=what): text for what, text in origin.licences.items()},
    }
    terms = "".join(
        f"<dt>{_text(name)}</dt><dd><pre>{_text(value)}</pre></dd>" for name, value in rows.items() if value
    )
    body = (
        f'<header><span class="brand">{PROGRAM}</span><h1 class="page-title"><bdi>{_text(title)}</bdi></h1></header>\n'
        f'<p class="page-note" role="status"></p>\n<noscript>{_text(t("page.failed"))}</noscript>\n'
        '<main id="content"></main>\n'
        f"<footer><details><summary>{_text(t('page.about'))}</summary><dl>{terms}</dl></details></footer>\n"
        f"{paper.markup if paper else ''}\n"
    )
    body += "\n".join(
        [
            json_element("page", {**about, "failed": t("page.failed"), "missing": t("page.missing")}),
            *(packed_element(name, data) for name, data in blocks.items()),
        ]
    )
    head = (
        '\n<meta name="viewport" content="width=device-width, initial-scale=1">'
        '\n<meta name="generator" content="Headlight">'
        f'\n<meta name="provenance" content="{escape(record_json(record))}">'
    )
    rules = (FOLDER / "page.css").read_text(encoding="utf-8")
    style = "".join((theme_style(theme), font_style(language, letters), style, rules, paper.style if paper else ""))
    scripts = [*map(self_starting, modules)]
    page = html_document(
        f"{title} · {PROGRAM}",
        style=style,
        body=body,
        scripts=scripts,
        language=language,
        head=head,
        type="module",
        allowed={"font-src": "'self' data:", **(allowed or {})},
    )
    return page.encode("utf-8", errors="replace")


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _text(text: str) -> str:
    return escape(xml_safe(text))
