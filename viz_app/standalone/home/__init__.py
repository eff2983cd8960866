"""The home of the site: sentences are translated before the visitor's eyes, then those that the visitor types."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from transformer_core.attention_maps import KINDS, AttentionMaps
from viz_app.components.explorer.payload import pack
from viz_app.components.explorer.selection import Selection
from viz_app.components.html_document import theme_style
from viz_app.components.live import worker_code
from viz_app.components.modules import join_modules
from viz_app.components.try_this import strip_html, strip_style
from viz_app.explorer_view.flow import flow
from viz_app.explorer_view.live_model import live_model
from viz_app.lessons.index import Stop
from viz_app.lessons.start_here import start_html, start_style
from viz_app.serving.models.translation_service import TranslationResult, TranslationService
from viz_app.standalone.document import standalone_page
from viz_app.standalone.home import pictures
from viz_app.standalone.live import ALLOWED
from viz_app.standalone.origin import Origin, model_licences
from viz_app.standalone.site_frame import filled
from viz_app.text import LANGUAGE_NAMES, Texts, texts

_FOLDER = Path(__file__).parent
_SENTENCES = (
    "A black cat is sleeping on the white bed.",
    "She gave him the big blue book.",
    "The little girl is eating a green apple.",
    "They have never seen the blue sea.",
)
_FOLDED = ("logit", "source", "inputs", "biases")  # what the folded picture needs of a word


def render_home(
    t: Texts,
    live: Mapping[str, tuple[TranslationService, str]],
    lessons: Mapping[str, Stop],
    routes: Mapping[str, Sequence[Stop]],
    total: str,
) -> bytes:
    """Return the page; the same arguments give the same bytes.

    Args:
        t: Labels in the reader's language.
        live: By their pages, the models that the browser runs, with the addresses of their weights. The first shows the
            sentences, and the first of each language translates what is typed; without any there is no show.
        lessons: Lessons of the site by their names.
        routes: Stops by the name of their route.
        total: Size of the site.
    """
    show = _Show(t, live) if live else None
    drawn = {"positions": pictures.waves(), "warmup": pictures.warmup()}
    drawn |= {"masks": pictures.mask(show.maps)} if show else {}
    doors = [
        _door(f"{name}.html", picture, lessons[name].title, lessons[name].about)
        for name, picture in drawn.items()
        if name in lessons
    ]
    if show and "heads" in lessons:
        doors.append(_door("heads.html?scene=flow", show.ribbons(), t("home.flow"), t("home.flow_about")))
    cards = {"game": "broken.html"} if "broken" in lessons else {}
    cards |= {"file": f"{show.page}.html"} if show else {}
    markup = {
        "lead": t("home.lead", heads=show.heads) if show else t("site.about"),
        "show": show.markup() if show else "",
        "doors": "".join(doors),
        "start_here": start_html(t, lessons, "{}.html?scene={}".format),
        "routes": "".join(_route(t, name, stops) for name, stops in routes.items()),
        "cards": strip_html(t.language, cards),
        "total": total,
    }
    body = filled("home/home.html", t, markup)
    about = show.about() if show else {}
    labels = [t.table(name) for name in ("home", "site", "nav", "page", "index")]
    labels += [model["words"] for model in show.models] if show else []
    document = standalone_page(
        t("home.title"),
        [join_modules(_FOLDER / "js" / "home.js")] if show else [],
        about,
        show.blocks() if show else {},
        language=t.language,
        origin=Origin(licences=model_licences(show.service, t) if show else {}),
        allowed={**ALLOWED, "connect-src": "'self'"} if show else {},
        style=theme_style("dark").replace(":root", ".hero")
        + (_FOLDER / "home.css").read_text(encoding="utf-8")
        + strip_style()
        + start_style(),
        letters="".join([body, json.dumps([about, labels], ensure_ascii=False), *LANGUAGE_NAMES.values()]),
    )
    document = re.sub(rb"<header>.*?</header>\n", b"", document, count=1, flags=re.S)  # the heading is in the hero
    return document.replace(b'<main id="content">', f'<main id="content" class="home">{body}'.encode(), 1)


class _Show:
    """The show: prepared sentences of the first model, and the models that translate what is typed."""

    def __init__(self, t: Texts, live: Mapping[str, tuple[TranslationService, str]]) -> None:
        (self.page, (self.service, _)), *_ = live.items()
        self.t = t
        first = {_language(t, service): page for page, (service, _) in reversed([*live.items()])}  # of each language
        self.live = {page: each for page, each in live.items() if page in first.values()}
        self.models = [_live_model(service, t.language) for service, _ in self.live.values()]
        self.sizes = [sum(model["files"].values()) for model in self.models]
        self.shown = [self.service.translate("site", text) for text in _sentences(self.service)]
        self.heads = sum(self.maps.weights(kind)[..., 0, 0].size for kind in KINDS)

    @property
    def maps(self) -> AttentionMaps:
        """Maps of the first sentence."""
        return self.shown[0].maps

    def about(self) -> dict[str, Any]:
        """Return the values of the page."""
        t = self.t
        models = zip(self.live.items(), self.sizes, strict=True)
        kinds = {f"kind_{kind}": t.table("explorer")[f"kind_{kind}"] for kind in KINDS}
        return {
            "sentences": [{"text": each.translation.source, "words": self._words(each)} for each in self.shown],
            "models": [{"page": f"{name}.html", "url": url, "size": size} for (name, (_, url)), size in models],
            "texts": {**t.table("home"), **kinds, "unloaded": t.table("page")["unloaded"]},
        }

    def blocks(self) -> dict[str, bytes]:
        """Return the data of the page: maps of its sentences, models without their weights, and what runs them."""
        return {
            **{f"s{number}": _payload(result) for number, result in enumerate(self.shown)},
            **{f"live{number}": json.dumps(model).encode() for number, model in enumerate(self.models)},
            "worker": worker_code().encode(),
        }

    def markup(self) -> str:
        """Return the stage, the field and the choice of models."""
        choices = zip((service for service, _ in self.live.values()), self.sizes, strict=True)
        words = {
            "page": f"{self.page}.html",
            "placeholder": escape(self.t.for_source(self.service.source_language)("translate.placeholder")),
            "reads": self.service.source_language,
            "models": "".join(
                f'<label><input type="radio" name="model" value="{number}"{"" if number else " checked"}>'
                f"{escape(_language(self.t, service))} "
                f"<small>{self.t('site.megabytes', size=round(size / 1e6))}</small></label>"
                for number, (service, size) in enumerate(choices)
            ),
        }
        return filled("home/show.html", self.t, words)

    def ribbons(self) -> str:
        """Return the picture of what the third word of the first sentence is made of."""
        words = self._words(self.shown[0])
        at = min(2, len(words) - 1)
        return pictures.flow(words[at]["source"], words[at]["inputs"][: at + 1])

    def _words(self, result: TranslationResult) -> list[dict[str, Any]]:
        """Return the parts of each word."""
        found = flow(self.service, "site", result, Selection())["flow"]
        return [{name: word[name] for name in _FOLDED} for word in found["words"]]


def _live_model(service: TranslationService, language: str) -> dict[str, Any]:
    """Return the model as the browser knows it, which offers no examples here."""
    t = texts(language, source=service.source_language)
    model, empty = live_model(service, t), t("translate.placeholder")
    return {**model, "words": {**model["words"], "empty": empty, "korean": f"{t('translate.korean')} {empty}"}}


def _payload(result: TranslationResult) -> bytes:
    return pack(result.maps, weights=result.packed, steps=None, texts={}, selection=Selection())


def _sentences(service: TranslationService) -> list[str]:
    """Return four sentences that the model reads."""
    known = _SENTENCES if service.source_language == "en" else service.examples.values()
    good = [text for text in known if service.validate(text).status == "good"]
    return (good or [service.first_example])[: len(_SENTENCES)]


def _language(t: Texts, service: TranslationService) -> str:
    """Return the language into which a model translates, or else its name."""
    spoken = service.card.languages
    return t.language_name(spoken.target) if spoken and spoken.target else service.name


def _door(address: str, picture: str, title: str, about: str) -> str:
    return f'<li><a href="{address}">{picture}<b>{escape(title)}</b><span>{escape(about)}</span></a></li>'


def _route(t: Texts, name: str, stops: Sequence[Stop]) -> str:
    minutes = t("home.minutes", minutes=sum(stop.minutes for stop in stops))
    entries = "".join(
        f'<li><a href="{stop.name}.html">{escape(stop.title)}</a> '
        f"<small>{t('index.minutes', minutes=stop.minutes)}</small></li>"
        for stop in stops
    )
    return f"<section><h3>{escape(minutes)}</h3><p>{escape(t(f'home.{name}'))}</p><ol>{entries}</ol></section>"
