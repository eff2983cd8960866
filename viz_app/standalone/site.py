"""A site for any web host: translators, parser, lessons and questions as pages of one folder, in every language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from itertools import islice
from pathlib import Path

from viz_app.figures.record import xml_safe
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSONS, QUESTIONS, ROUTE, Entry
from viz_app.lessons.context import LessonContext
from viz_app.lessons.exit_ticket import load_exit_ticket
from viz_app.lessons.index import Stop
from viz_app.lessons.route_handout import prose_html
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.registry import display_name
from viz_app.serving.models.translation_service import TranslationService
from viz_app.standalone.document import standalone_page
from viz_app.standalone.lessons import render_lesson
from viz_app.standalone.origin import Origin
from viz_app.standalone.sentences import MAX_SENTENCES, render_sentences
from viz_app.standalone.site_folder import ROOTS, SiteFolder
from viz_app.text import LANGUAGES, texts

INDEX = "index"
OWN_PAGES = (INDEX, QUESTIONS, *(entry.name for entry in LESSONS))  # no model may be called so

_FOLDER = Path(__file__).parent
_PLACE = re.compile(r"\{([a-z_.]+)\}")  # of a label, or of markup, in a template


def write_site(
    folder: Path,
    services: Sequence[TranslationService],
    *,
    lessons: Sequence[Entry] = LESSONS,
    examples: int = MAX_SENTENCES,
) -> None:
    """Write the site; the same arguments give the same bytes.

    Args:
        folder: An empty folder.
        services: The models, each with a name of its own; the lessons use the first.
        lessons: The lessons, in their order.
        examples: Example sentences of each model, at most.

    Raises:
        PageTooLarge: A page has too many numbers.
    """
    site = SiteFolder(folder)
    editions = [_Edition(site, language, services, lessons) for language in LANGUAGES]
    for edition in editions:
        edition.write_models(examples)
        edition.write_lessons()
        edition.write_questions()
    for edition in editions:
        edition.write_index()
    site.finish()


class _Edition:
    """Pages in one language."""

    def __init__(
        self, site: SiteFolder, language: str, services: Sequence[TranslationService], lessons: Sequence[Entry]
    ) -> None:
        self.site, self.t, self.services = site, texts(language), services
        t, self.words = self.t, {entry.name: load_lesson(entry.name, language) for entry in lessons}
        self.models = [
            Stop(each.name, f"{display_name(t, each.name, each.card.languages)} ({each.name})", t("site.prepared"))
            for each in services
        ]
        stops = [Stop(name, words.title, words.summary, ROUTE.get(name, 0)) for name, words in self.words.items()]
        first = replace(self.models[0], title=t("nav.translate"), minutes=ROUTE["translate"])
        last = Stop(QUESTIONS, t("index.stop_questions"), t("index.about_questions"), ROUTE[QUESTIONS])
        self.route = [first, *(stop for stop in stops if stop.minutes), last]
        self.others = [stop for stop in stops if not stop.minutes]
        self.scenes = {entry.name: entry.opens_at for entry in lessons if entry.opens_at}

    def write_models(self, examples: int) -> None:
        """Write a page for each model, with its example sentences."""
        for service in self.services:
            sentences = map(service.validate, islice(service.examples.values(), examples))
            good = [sentence for sentence in sentences if sentence.status == "good"]
            self._add(service.name, render_sentences(service, good, self.t.language, session="site"))

    def write_lessons(self) -> None:
        """Write a page for each lesson."""
        service = self.services[0]
        for name in self.words:
            context = LessonContext(
                service.first_example, LessonState(), self.t.language, lambda: service, "site", parses=service.parses
            )
            after = self._neighbours(name)[1]
            self._add(name, render_lesson(name, context, after and (after.title, self._address(after.name))))

    def write_questions(self) -> None:
        """Write the exit ticket, and the ways to the predictions."""
        language = self.t.language
        ticket = "".join(
            f"<li><details><summary>{prose_html(each.question, self.t)}</summary>"
            f"<p>{prose_html(each.answer, self.t)}</p>{self._scene(each.lesson, each.scene)}</details></li>"
            for each in load_exit_ticket(language)
            if each.lesson in self.words
        )
        asked = [(name, scene) for name, words in self.words.items() for scene in words.scenes if scene.question]
        predictions = "".join(f"<li>{self._scene(name, scene.name)}</li>" for name, scene in asked if name in ROUTE)
        self._add_text(QUESTIONS, ticket=ticket, predictions=predictions)

    def write_index(self) -> None:
        """Write the start page: what is where, with the sizes of all pages."""
        lists = {"models": self.models, "route": self.route, "others": self.others}
        entries = {name: "".join(map(self._entry, stops)) for name, stops in lists.items()}
        self._add_text(INDEX, total=_megabytes(self.site.kept_size), **entries)

    def _add(self, name: str, page: bytes) -> None:
        before, after = self._neighbours(name)
        nav = "" if name == INDEX else self._link(INDEX, self.t("site.home"))
        nav += self._link(before.name, f"← {before.title}") if before else ""
        nav += self._link(after.name, f"{after.title} →") if after else ""
        self.site.add_page(f"{name}.html", self.t.language, page.decode(), nav)

    def _add_text(self, name: str, **markup: str) -> None:
        """Write the page of a template, in which labels and markup have places."""
        template = (_FOLDER / f"site_{name}.html").read_text(encoding="utf-8")
        body = _PLACE.sub(lambda at: markup[at[1]] if at[1] in markup else _text(self.t(at[1])), template)
        title, origin = self.t("site.title"), Origin(licences={"STIX Two Math": "assets/STIX-LICENSE.txt"})
        page = standalone_page(title, [], {}, {}, language=self.t.language, origin=origin)
        self._add(name, page.replace(b"<main></main>", f'<main class="site">{body}</main>'.encode()))

    def _neighbours(self, name: str) -> tuple[Stop | None, Stop | None]:
        """Return the stops before and after one of the route, or of the other lessons."""
        for stops in (self.route, self.others):
            padded = [None, *stops, None]
            for before, stop, after in zip(padded, stops, padded[2:], strict=False):
                if stop.name == name:
                    return before, after
        return None, None

    def _entry(self, stop: Stop) -> str:
        minutes = f"{stop.minutes}\u202f{self.t('index.minutes')} · " if stop.minutes else ""
        size = _megabytes(self.site.size(f"{ROOTS[self.t.language]}{stop.name}.html"))
        return f"<li>{self._link(stop.name, stop.title)} <small>{minutes}{size}</small><p>{_text(stop.about)}</p></li>"

    def _scene(self, lesson: str, scene: str) -> str:
        title = next(each.title for each in self.words[lesson].scenes if each.name == scene)
        return f'<a href="{lesson}.html?scene={scene}">{_text(f"{self.words[lesson].title}: {title}")}</a>'

    def _address(self, name: str) -> str:
        return f"{name}.html" + (f"?scene={self.scenes[name]}" if name in self.scenes else "")

    def _link(self, name: str, title: str) -> str:
        return f'<a href="{self._address(name)}">{_text(title)}</a>'


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f}\u202fMB"


def _text(text: str) -> str:
    return escape(xml_safe(text))
