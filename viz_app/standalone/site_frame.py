"""Frame of the site's pages: header, and what search engines and other programs read of a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from viz_app.components.html_document import html_document, theme_style
from viz_app.lessons.index import Stop
from viz_app.text import LANGUAGE_NAMES, LANGUAGES, Texts, texts

_FOLDER = Path(__file__).parent
_PLACE = re.compile(r"\{([a-z_.]+)\}")  # of a label, or of markup, in a template


def filled(template: str, t: Texts, markup: Mapping[str, str]) -> str:
    """Return a template of this folder with its markup; any other place is that of a label."""
    text = (_FOLDER / template).read_text(encoding="utf-8")
    return _PLACE.sub(lambda at: markup[at[1]] if at[1] in markup else escape(t(at[1])), text)


def link(address: str, text: str, attributes: str = "") -> str:
    """Return a link."""
    return f'<a href="{address}"{attributes}>{escape(text)}</a>'


@dataclass(frozen=True)
class SiteFrame:
    """Frame of the pages of one language.

    Args:
        t: Labels in it.
        models: Their pages.
        route: The stops of a class, in order.
        others: The other lessons, in order.
        address: Where the site will be, with a slash at its end; "" for unknown.
    """

    t: Texts
    models: Sequence[Stop]
    route: Sequence[Stop]
    others: Sequence[Stop]
    address: str = ""

    def head(self, page: Stop) -> str:
        """Return the end of the head of a page."""
        here = f"{self.address or '../'}{self.t.language}/"
        file = f"{page.name}.html"
        absolute = [f'<link rel="canonical" href="{here}{file}">\n<meta property="og:url" content="{here}{file}">\n']
        absolute += [
            f'<link rel="alternate" hreflang="{code}" href="{self.address}{code}/{file}">\n' for code in LANGUAGE_NAMES
        ]
        title = page.title if page.name == "index" else f"{page.title} · Headlight"
        places = {"title": escape(title), "about": escape(page.about), "name": page.name, "base": here}
        places["absolute"] = "".join(absolute) if self.address else ""
        return filled("site_head.html", self.t, places)

    def header(self, name: str) -> str:
        """Return the header of a page, such as "masks"."""
        models = "".join(
            f"<li>{link(f'{each.name}.html', each.title, _here(each.name, name))}</li>" for each in self.models
        )
        languages = "".join(
            f'<a lang="{code}" hreflang="{code}" href="../{code}/{name}.html"{_here(code, self.t.language)}>{title}</a>'
            for code, title in LANGUAGE_NAMES.items()
        )
        pages = {each: _here(each, name) for each in ("lessons", "questions", "glossary")}
        return filled(
            "site_header.html", self.t, {"models": models, "languages": languages, "place": self._place(name), **pages}
        )

    def neighbours(self, name: str) -> tuple[Stop | None, Stop | None]:
        """Return the stops before and after a page."""
        for stops in (self.route, self.others):
            names = [each.name for each in stops]
            if name in names:
                at = names.index(name)
                return stops[at - 1] if at else None, next(iter(stops[at + 1 :]), None)
        return None, None

    def _place(self, name: str) -> str:
        """Return the place on the route, between links to the stops before and after."""
        before, after = self.neighbours(name)
        names = [each.name for each in self.route]
        at = self.t("site.stop", stop=names.index(name) + 1, stops=len(names)) if name in names else ""
        named = ' rel="{}" title="{}" aria-label="{}"'
        ways = [
            link(f"{stop.name}.html", sign, named.format(rel, *2 * [escape(stop.title)])) if stop else ""
            for stop, sign, rel in ((before, "‹", "prev"), (after, "›", "next"))
        ]
        return f'<span class="site-place">{ways[0]}<span>{at}</span>{ways[1]}</span>' if any(ways) else ""


def further_files(address: str, names: Sequence[str]) -> dict[str, str]:
    """Return files for the host and for search engines, by path.

    Args:
        address: Where the site will be, with a slash at its end; "" for unknown.
        names: Of the pages, the same in all languages.
    """
    path = urlsplit(address).path
    lines = [(t, link(f"{path}{t.language}/index.html", t("site.home"))) for t in map(texts, LANGUAGES)]
    body = "".join(f'<p lang="{t.language}">{escape(t("site.nothing"))} {home}</p>' for t, home in lines)
    logo = (_FOLDER.parent / "static" / "logo.svg").read_text(encoding="utf-8")
    style = theme_style() + (_FOLDER / "site_404.css").read_text(encoding="utf-8")
    files = {"404.html": html_document("404 · Headlight", style=style, body=f"<main>{logo}{body}</main>", scripts=[])}
    if not address:
        return files
    places = "".join(
        f"<url><loc>{address}{language}/{name}.html</loc></url>\n" for language in LANGUAGES for name in names
    )
    start = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    files["sitemap.xml"] = f"{start}\n{places}</urlset>\n"
    return {**files, "robots.txt": f"User-agent: *\nAllow: /\nSitemap: {address}sitemap.xml\n"}


def _here(name: str, open_page: str) -> str:
    """Return the attribute of a link to the page that is open."""
    return ' aria-current="page"' if name == open_page else ""
