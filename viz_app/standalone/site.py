"""A site for any web host: translators, parser, lessons and questions as pages of one folder, in every language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image

from transformer_core.attention_maps import KINDS
from transformer_core.model.transformer import count_parameters
from transformer_core.model_export.refusals import ExportError
from viz_app.components.modules import join_modules
from viz_app.explorer_view.live_model import check_live
from viz_app.figures.colours.palette import THEMES, kind_color
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSON_AT, LESSONS, QUESTIONS, ROUTE, ROUTES
from viz_app.lessons.context import LessonContext
from viz_app.lessons.index import FOLDER as INDEX
from viz_app.lessons.index import Stop
from viz_app.lessons.stage import LessonState
from viz_app.lessons.start_here import start_style
from viz_app.serving.models.registry import display_name
from viz_app.serving.models.translation_service import TranslationService
from viz_app.standalone.document import FOLDER, standalone_page
from viz_app.standalone.gpt_and_bert import render_gpt_and_bert
from viz_app.standalone.home import render_home
from viz_app.standalone.lessons import render_lesson
from viz_app.standalone.link_picture import head_wall, link_picture
from viz_app.standalone.live import live_document, live_weights
from viz_app.standalone.origin import Origin
from viz_app.standalone.page_font import math_style
from viz_app.standalone.sentences import render_sentences
from viz_app.standalone.site_folder import WEIGHTS, SiteFolder
from viz_app.standalone.site_frame import SiteFrame, filled, further_files
from viz_app.standalone.site_texts import glossary_markup, lessons_markup, questions_markup
from viz_app.text import LANGUAGES, Texts, texts


def write_site(folder: Path, services: Sequence[TranslationService], address: str = "") -> None:
    """Write the site; the same arguments give the same bytes.

    Args:
        folder: An empty folder.
        services: The models, each with a name of its own; the lessons use the first.
        address: Where the site will be, with a slash at its end; "" for unknown.

    Raises:
        PageTooLarge: A page has too many numbers.
    """
    site = SiteFolder(folder)
    editions = [_Edition(site, language, services, address) for language in LANGUAGES]
    for edition in editions:
        edition.write()
    for edition in editions:
        edition.write_index()
    site.write_start(editions[0].frame.head(editions[0].home))
    site.write_worker()
    for path, text in further_files(address, editions[0].names).items():
        site.add_file(path, text.encode())


class _Edition:
    """Pages in one language."""

    def __init__(self, site: SiteFolder, language: str, services: Sequence[TranslationService], address: str) -> None:
        self.site, self.services, self.names = site, services, list[str]()
        self.t = t = texts(language)
        self.words = {entry.name: load_lesson(entry.name, language) for entry in LESSONS}
        titles = {each.name: display_name(t, each.name, each.card.languages) for each in services}
        self.models = [
            Stop(f"model-{name}", title if title == name else f"{title} ({name})", t("site.about_model", title=title))
            for name, title in titles.items()
        ]
        stops = [Stop(name, words.title, words.summary, ROUTE.get(name, 0)) for name, words in self.words.items()]
        first = replace(self.models[0], about=t("index.about_translate"), minutes=ROUTE["translate"])
        last = Stop(QUESTIONS, t("index.stop_questions"), t("index.about_questions"), ROUTE[QUESTIONS])
        self.route = [first, *(stop for stop in stops if stop.minutes), last]
        self.others = [stop for stop in stops if not stop.minutes]
        self.home = Stop("index", t("home.title"), t("site.about"))
        self.frame = SiteFrame(t, self.models, self.route, self.others, address)
        self.wall = self._wall(services[0])

    def write(self) -> None:
        """Write the pages of models, with their example sentences, of lessons, of questions and of terms."""
        t, lessons = self.t, self.services[0]
        for service, stop in zip(self.services, self.models, strict=True):
            self._add(stop, self._model(service), self._wall(service))
        state, text, parses = LessonState(), lessons.first_example, lessons.parses
        for stop in (*self.route[1:-1], *self.others):
            context = LessonContext(text, state, t.language, lambda: lessons, "site", parses=parses)
            after = self.frame.neighbours(stop.name)[1]
            onward = (after.title, f"{after.name}.html") if after else None
            self._add(stop, render_lesson(stop.name, context, onward))
        self._add_text(self.route[-1], questions_markup(t, self.words))
        self._add_lessons()
        self._add(Stop("gpt", t("gpt.title"), t("gpt.about")), self._gpt())
        self._add_text(Stop("glossary", t("nav.glossary"), t("site.about_glossary")), glossary_markup(t))

    def _add_lessons(self) -> None:
        t, stops = self.t, {stop.name: stop for stop in (*self.route, *self.others)}
        about = {
            "texts": t.table("index"),
            "sentence": self.services[0].first_example,
            "stations": {
                station: {"name": name, "title": stops[name].title}
                for station, name in LESSON_AT.items()
                if name in stops
            },
        }
        colours = "".join(
            f"--{kind}: light-dark({', '.join(kind_color(kind, each) for each in THEMES)});" for kind in KINDS
        )
        style = f"{(INDEX / 'index.css').read_text(encoding='utf-8')}.index {{ {colours} }}{start_style()}"
        page = Stop("lessons", t("nav.lessons"), t("site.about_lessons"))
        markup = lessons_markup(t, self.route, self.others, self.words)
        self._add_text(page, markup, code=["lessons_page.js"], about=about, style=style)

    def _gpt(self) -> bytes:
        whole = next((each for each in self.services if not each.parses), self.services[0])
        return render_gpt_and_bert(self.t, whole, self.words.get("architecture"))

    def write_index(self) -> None:
        """Write the home, which says how large the site is; the smallest model translates there."""
        live = [pair for pair in zip(self.models, self.services, strict=True) if _runs_live(pair[1])]
        live.sort(key=lambda pair: count_parameters(pair[1].translator.model))
        by_name = {stop.name: stop for stop in (*self.route, *self.others)} | {
            "translate": replace(self.route[0], title=self.t("index.stop_translate"))
        }
        routes = {
            name: [replace(by_name[stop], minutes=minutes) for stop, minutes in planned.items() if stop in by_name]
            for name, planned in ROUTES.items()
        }
        models = {stop.name: (service, self._weights(service)) for stop, service in live}
        paths = {path for path in self.site.hashes if not path.endswith(WEIGHTS)}
        self._add(self.home, render_home(self.t, models, by_name, routes, _megabytes(self.t, self.site.size(paths))))

    def _model(self, service: TranslationService) -> bytes:
        """Return the page of a translator that runs in the browser; of any other model, with its example sentences."""
        if not _runs_live(service):
            sentences = map(service.validate, service.examples.values())
            good = [sentence for sentence in sentences if sentence.status == "good"]
            return render_sentences(service, good, self.t.language, session="site")
        return live_document(service, self.t.language, weights=self._weights(service))

    def _weights(self, service: TranslationService) -> str:
        return f"../{self.site.keep(live_weights(service), WEIGHTS)}"

    def _wall(self, service: TranslationService) -> Image.Image:
        return head_wall(service.translate("site", service.first_example).maps, self.t)

    def _add(self, stop: Stop, page: bytes, wall: Image.Image | None = None) -> None:
        language, frame = self.t.language, self.frame
        name, head, header = f"{stop.name}.html", frame.head(stop), frame.header(stop.name)
        self.site.add_page(name, language, page.decode(), head, header)
        self.names.append(stop.name)
        picture = link_picture(stop.title, stop.about, wall or self.wall)
        self.site.add_file(f"{language}/{stop.name}.png", picture)

    def _add_text(
        self,
        stop: Stop,
        markup: Mapping[str, str],
        *,
        code: Sequence[str] = (),
        about: Mapping[str, Any] | None = None,
        style: str = "",
    ) -> None:
        """Write the page of a template, in which labels and markup have places."""
        modules = [join_modules(FOLDER / "js" / each) for each in code]
        page = standalone_page(
            stop.title, modules, about or {}, {}, language=self.t.language, origin=Origin(), style=math_style() + style
        )
        body = f'<main id="content" class="site">{filled(f"site_{stop.name}.html", self.t, markup)}</main>'
        self._add(stop, page.replace(b'<main id="content"></main>', body.encode()))


def _runs_live(service: TranslationService) -> bool:
    try:
        check_live(service.translator)
    except ExportError:
        return False
    return True


def _megabytes(t: Texts, size: int) -> str:
    return t("site.megabytes", size=f"{size / 1e6:,.1f}")
