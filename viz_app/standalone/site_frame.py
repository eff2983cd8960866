"""Frame of the site's pages: the header that every page has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from viz_app.lessons.index import Stop
from viz_app.text import LANGUAGE_NAMES, Texts

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
    """

    t: Texts
    models: Sequence[Stop]
    route: Sequence[Stop]
    others: Sequence[Stop]

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
        ways = [
            link(
                f"{stop.name}.html",
                sign,
                f' rel="{rel}" title="{escape(stop.title)}" aria-label="{escape(stop.title)}"',
            )
            if stop
            else ""
            for stop, sign, rel in ((before, "‹", "prev"), (after, "›", "next"))
        ]
        return f'<span class="site-place">{ways[0]}<span>{at}</span>{ways[1]}</span>' if any(ways) else ""


def _here(name: str, open_page: str) -> str:
    """Return the attribute of a link to the page that is open."""
    return ' aria-current="page"' if name == open_page else ""
