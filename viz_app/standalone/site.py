"""A site for any web host: translators, parser, lessons and questions as pages of one folder, in every language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from pathlib import Path

from viz_app.export.provenance import checkpoint_record
from viz_app.figures.record import PROGRAM, xml_safe
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import CHAPTERS, LESSONS, QUESTIONS, ROUTE, Entry
from viz_app.lessons.context import LessonContext
from viz_app.lessons.exit_ticket import load_exit_ticket
from viz_app.lessons.html import to_html
from viz_app.lessons.lesson_markdown import inline
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.registry import display_name
from viz_app.serving.models.translation_service import TranslationService
from viz_app.standalone.document import page_document
from viz_app.standalone.lessons import render_lesson
from viz_app.standalone.sentences import MAX_SENTENCES, render_sentences
from viz_app.standalone.site_folder import SiteFolder
from viz_app.text import LANGUAGES, texts

_TRANSLATE = "translate"  # the first stop of the route
_HOME, _QUESTIONS = "index.html", "questions.html"


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
        services: The models, with different names; the lessons use the first.
        lessons: The lessons, in their order.
        examples: Example sentences of each model, at most.

    Raises:
        PageTooLarge: A page has too many numbers.
    """
    site = SiteFolder(folder)
    editions = [_Edition(site, language, services, lessons, examples) for language in LANGUAGES]
    for edition in editions:
        edition.write()
    for edition in editions:
        edition.write_index()
    site.finish({language: texts(language)("site.about") for language in LANGUAGES})


class _Edition:
    """Pages in one language."""

    def __init__(
        self,
        site: SiteFolder,
        language: str,
        services: Sequence[TranslationService],
        lessons: Sequence[Entry],
        examples: int,
    ) -> None:
        self.site, self.t, self.services, self.lessons, self.examples = (
            site,
            texts(language),
            services,
            lessons,
            examples,
        )
        self.paths: dict[str, str] = {}  # of the pages that are written, by file
        # Title and address of each stop, in the order of the lessons.
        self.stops = {
            _TRANSLATE: (self.t("nav.translate"), _model_page(services[0])),
            **{each.name: (load_lesson(each.name, language).title, _lesson_page(each)) for each in lessons},
            QUESTIONS: (self.t("index.stop_questions"), _QUESTIONS),
        }

    def write(self) -> None:
        """Write all pages but the index."""
        for service in self.services:
            self._write_model(service)
        for entry in self.lessons:
            self._write_lesson(entry)
        self._write_questions()

    def _add(self, name: str, page: str, stop: str = "") -> None:
        self.paths[name] = self.site.add_page(name, self.t.language, page, self._nav(name, stop))

    def _add_text(self, name: str, title: str, body: str, stop: str = "") -> None:
        body = f'<main class="site"><h1>{_text(title)}</h1>{body}</main>'
        self._add(name, page_document(title, body, [], {"program": PROGRAM}, language=self.t.language), stop)

    def _nav(self, name: str, stop: str) -> str:
        """Return links to the start page and to the stops before and after."""
        links = [] if name == _HOME else [(_HOME, self.t("site.home"))]
        before, after = self._neighbours(stop)
        links += [(page, f"← {title}") for title, page in before]
        links += [(page, f"{title} →") for title, page in after]
        return "".join(_link(page, title) for page, title in links)

    def _neighbours(self, stop: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return the stops right before and after one of the route; of another lesson, those in the list of lessons."""
        order = [each for each in self.stops if each in ROUTE or stop not in ROUTE]
        at = order.index(stop) if stop in order else len(order)
        return [self.stops[each] for each in order[max(0, at - 1) : at] if stop], [
            self.stops[each] for each in order[at + 1 : at + 2]
        ]

    def _write_model(self, service: TranslationService) -> None:
        """Write the page of a model, with its example sentences."""
        found = map(service.validate, islice(service.examples.values(), self.examples))
        sentences = [each for each in found if each.status == "good"]
        page = render_sentences(service, sentences, self.t.language, session="site").decode()
        self._add(_model_page(service), page, _TRANSLATE if service is self.services[0] else "")

    def _write_lesson(self, entry: Entry) -> None:
        service = self.services[0]
        context = LessonContext(
            service.first_example, LessonState(), self.t.language, lambda: service, "site", parses=service.parses
        )
        after = self._neighbours(entry.name)[1]
        page = render_lesson(entry.name, context, after[0] if after else None).decode()
        self._add(_lesson_page(entry).partition("?")[0], page, entry.name)

    def _write_questions(self) -> None:
        """Write the exit ticket, and the way to each prediction."""
        t, language = self.t, self.t.language
        names = {entry.name for entry in self.lessons}
        ticket = "".join(
            f"<li><details><summary>{_prose(each.question, language)}</summary><p>{_prose(each.answer, language)}</p>"
            f"{self._scene_link(each.lesson, each.scene)}</details></li>"
            for each in load_exit_ticket(language)
            if each.lesson in names
        )
        predictions = "".join(
            f"<li>{self._scene_link(entry.name, scene.name)}</li>"
            for entry in self.lessons
            for scene in load_lesson(entry.name, language).scenes
            if entry.name in ROUTE and scene.question is not None
        )
        body = (
            f"<h2>{_text(t('questions.ticket'))}</h2><p>{_text(t('questions.about_ticket'))}</p><ol>{ticket}</ol>"
            f"<h2>{_text(t('questions.predictions'))}</h2><p>{_text(t('index.about_questions'))}</p><ul>{predictions}</ul>"
        )
        self._add_text(_QUESTIONS, t("index.stop_questions"), body, QUESTIONS)

    def _scene_link(self, lesson: str, scene: str) -> str:
        words = load_lesson(lesson, self.t.language)
        title = next(each.title for each in words.scenes if each.name == scene)
        return _link(f"lesson-{lesson}.html?scene={scene}", f"{words.title}: {title}")

    def write_index(self) -> None:
        """Write the start page: what is where, with the sizes of all pages."""
        t = self.t
        models = "".join(
            self._entry(_model_page(each), title, t("site.prepared"))
            for each, title in zip(self.services, self._titles(), strict=True)
        )
        route = [entry for entry in self.lessons if entry.name in ROUTE]
        stops = self._entry(_model_page(self.services[0]), t("nav.translate"), t("index.about_translate"), _TRANSLATE)
        stops += "".join(map(self._lesson_entry, route))
        stops += self._entry(_QUESTIONS, t("index.stop_questions"), t("index.about_questions"), QUESTIONS)
        minutes = f"{sum(ROUTE.values())}\u202f{t('index.minutes')}"
        body = (
            f"<p>{_text(t('site.about'))}</p><p>{_text(t('site.offline', size=_size(self.site.total())))} "
            f"<strong data-kept hidden>{_text(t('site.kept'))}</strong></p>"
            f"<h2>{_text(t('nav.translate'))}</h2><ul>{models}</ul>"
            f"<h2>{_text(t('index.route'))} ({minutes})</h2><ol>{stops}</ol>"
        )
        for chapter in CHAPTERS:
            others = [each for each in self.lessons if each.chapter == chapter and each.name not in ROUTE]
            if others:
                entries = "".join(map(self._lesson_entry, others))
                body += f"<h2>{_text(t(f'lessons.chapter_{chapter}'))}</h2><ul>{entries}</ul>"
        body += self._commands("figures", t("nav.figures"), self._figure_commands())
        body += self._commands("class", t("nav.classroom"), ["python -m viz_app class"])
        self._add_text(_HOME, t("site.title"), body)

    def _titles(self) -> Iterable[str]:
        """Return the languages of each model; the name too, where an earlier model has the same ones."""
        known: set[str] = set()
        for service in self.services:
            title = display_name(self.t, service.name, service.card.languages)
            yield f"{title} ({service.name})" if title in known else title
            known.add(title)

    def _lesson_entry(self, entry: Entry) -> str:
        words = load_lesson(entry.name, self.t.language)
        return self._entry(_lesson_page(entry), words.title, words.summary, entry.name)

    def _entry(self, page: str, title: str, about: str, stop: str = "") -> str:
        size = self.t("site.size", size=_size(self.site.size(self.paths[page.partition("?")[0]])))
        minutes = f"{ROUTE[stop]}\u202f{self.t('index.minutes')} · " if stop in ROUTE else ""
        return f"<li>{_link(page, title)} <small>{minutes}{_text(size)}</small><p>{_text(about)}</p></li>"

    def _figure_commands(self) -> list[str]:
        start = f"python -m viz_app {{}} --checkpoint {checkpoint_record(self.services[0].translator)['checkpoint']}"
        text = '--text "A man rides a bicycle."'
        return [
            f"{start.format('export')} {text} --view head --kind cross --layer 4 --head 6 --out bicycle.pdf",
            f"{start.format('sentence')} {text} --out bicycle.zip",
            f"{start.format('lesson')} --lesson positions --scene waves --out waves.pdf",
        ]

    def _commands(self, name: str, title: str, commands: Sequence[str]) -> str:
        code = "".join(f"<pre>{_text(command)}</pre>" for command in commands)
        return f"<h2>{_text(title)}</h2><p>{_text(self.t(f'site.{name}'))}</p>{code}"


def _model_page(service: TranslationService) -> str:
    return f"model-{re.sub(r'[^A-Za-z0-9.-]+', '_', service.name)}.html"


def _lesson_page(entry: Entry) -> str:
    return f"lesson-{entry.name}.html" + (f"?scene={entry.opens_at}" if entry.opens_at else "")


def _link(address: str, text: str) -> str:
    return f'<a href="{escape(address)}">{_text(text)}</a>'


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f}"


def _text(text: str) -> str:
    return escape(xml_safe(text))


def _prose(text: str, language: str) -> str:
    return "".join(map(to_html, inline(text, language)))
