"""The explorer of a translation, or the figure of a result, in a frame that runs alone: no kernel and no network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

from transformer_core.attention_maps import AttentionMaps
from transformer_core.translator import TeacherForcedOutput, Translation
from viz_app.components.explorer.weights import packed_size
from viz_app.components.html_document import PageTheme
from viz_app.explorer_view.snapshot import branch_payload
from viz_app.export.provenance import checkpoint_name
from viz_app.figures import export
from viz_app.notebook.display import mimebundle
from viz_app.notebook.views import view_of
from viz_app.serving.models.translation_service import TranslationResult, TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.standalone.document import PageSentence, check_size, explorer_page
from viz_app.standalone.maps import render_maps
from viz_app.standalone.origin import page_origin
from viz_app.text import texts

if TYPE_CHECKING:
    from transformer_core.translator import Translator
    from viz_app.text import Texts

ONLY_BRANCH = {"off": False, "branches": [0]}  # answers of a page with one branch


@dataclass(frozen=True)
class Embedded:
    """A page in a notebook, in a frame that may run its scripts, save files, and nothing else.

    Args:
        page: The page, or the drawing of a figure.
        shown: What it shows.
        height: Of the frame in pixels; its lower edge can be dragged.
        language: "en" or "ko".
    """

    page: bytes
    shown: object
    height: int
    language: str

    def __repr__(self) -> str:
        return f"<page of {len(self.page) / 1e6:.2f} MB: {type(self.shown).__name__}>"

    @property
    def html(self) -> str:
        """The frame. Viewers that remove frames, as of a notebook that is not trusted, show the small view instead."""
        style = f"width: 100%; height: {self.height}px; border: 0; resize: vertical"
        rights, page = "allow-scripts allow-downloads", escape(self.page.decode())
        frame = f'<iframe sandbox="{rights}" style="{style}" srcdoc="{page}"></iframe>'
        return f"{frame}<noscript>{self._small['text/html']}</noscript>"

    @cached_property
    def _small(self) -> dict[str, str]:
        return mimebundle(self.shown, self.language)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {**self._small, "text/plain": repr(self), "text/html": self.html}


def show(
    shown: object, *, language: str = "en", theme: PageTheme = "auto", height: int = 0, title: str = ""
) -> Embedded:
    """Show the explorer of a translation or of attention maps, or the figure of another result.

    Args:
        shown: Translation, attention maps, effects, attribution, flow, lens or patching.
        language: "en" or "ko".
        theme: "light", "dark" or "auto", which is the system's; figures are light then.
        height: Of the frame in pixels; 0 for 900, or 620 for a figure.
        title: Name of attention maps.

    Raises:
        PageTooLarge: The maps are too large.
        TypeError: There is no view of it.
    """
    if isinstance(shown, TeacherForcedOutput):
        title, shown = title or shown.text, shown.attention
    if isinstance(shown, Translation):
        page = _translation_page(shown, language, theme)
    elif isinstance(shown, AttentionMaps):
        page = render_maps({title: shown}, language=language, theme=theme)
    else:
        view = view_of(shown, language, "dark" if theme == "dark" else "light")
        page = export(view.large or view.figure, "svg")
        return Embedded(page, shown, height or 620, language)
    return Embedded(page, shown, height or 900, language)


def _translation_page(translation: Translation, language: str, theme: PageTheme) -> bytes:
    service = service_of(translation._translator)
    t = labels_of(service, language)
    check_size(packed_size(translation.attention))
    result = TranslationResult(translation, translation.attention)
    payload = branch_payload(t, service, (translation.source, 0), result, result, answers=ONLY_BRANCH)
    sentence = PageSentence(text=translation.source, branches=[payload])
    origin = page_origin(service, t, [("text", translation.source), ("branches", 1)])
    return explorer_page([sentence], language=language, origin=origin, theme=theme)


def service_of(translator: Translator) -> TranslationService:
    """Return a service for one reader."""
    return TranslationService(translator, RequestQueue(1), name=checkpoint_name(translator))


def labels_of(service: TranslationService, language: str) -> Texts:
    """Return labels in a language, for the language that the model reads."""
    return texts(language, parses=service.parses, source=service.source_language)
