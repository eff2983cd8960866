"""The explorer as a widget: what is selected in it is a trait that Python reads, sets and observes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from transformer_core.attention_maps import AttentionMaps
from transformer_core.translator import Translation
from viz_app.components.explorer.code import explorer_code
from viz_app.components.explorer.payload import with_selection
from viz_app.components.explorer.selection import Selection
from viz_app.components.explorer.weights import packed_size
from viz_app.components.html_document import theme_style
from viz_app.explorer_view import findings
from viz_app.explorer_view.foreign_maps import foreign_payload
from viz_app.explorer_view.snapshot import best_head, branch_payload
from viz_app.notebook.display import mimebundle
from viz_app.notebook.embedded import labels_of, service_of
from viz_app.serving.models.search_tree import branch_ends
from viz_app.serving.models.translation_service import TranslationResult
from viz_app.standalone.document import check_size

try:
    import anywidget
    import traitlets
except ImportError:
    raise ImportError('the widget needs anywidget: python -m pip install ".[notebook]"') from None

_SESSION = "notebook"
_HOST = (
    ":host { all: initial; display: block; background: var(--st-background-color); color: var(--st-text-color); "
    "font: 16px / 1.5 var(--st-font); }"
)


def _code() -> str:
    themes = {theme: theme_style(theme, ":host") + _HOST for theme in ("light", "dark")}
    return f"const THEMES = {json.dumps(themes)};\n{explorer_code(Path(__file__).parent / 'js' / 'widget.js')}"


class ExplorerWidget(anywidget.AnyWidget):
    """Explorer of a translation or of attention maps.

    `selection` is a `Selection`; `observe` calls a function when the reader selects something else, and a new value
    moves the explorer. Of a translation, Python answers: other branches of the search, heads switched off, cards.

    Args:
        shown: A translation, or attention maps of any model.
        language: "en" or "ko".

    Raises:
        PageTooLarge: The maps are too large.
    """

    _esm = _code()
    _key = traitlets.Unicode().tag(sync=True)
    _payload = traitlets.Bytes().tag(sync=True)
    _findings = traitlets.Dict().tag(sync=True)
    _off = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    _sentence = traitlets.Any(None).tag(sync=True)
    selection = traitlets.Instance(Selection).tag(
        sync=True,
        to_json=lambda value, _: value.to_dict(),
        from_json=lambda value, widget: Selection.from_state(value, default=widget.selection),
    )

    def __init__(self, shown: Translation | AttentionMaps, *, language: str = "en") -> None:
        self._shown, self._language = shown, language
        self._maps = shown.attention if isinstance(shown, Translation) else shown
        check_size(packed_size(self._maps))
        start = Selection(kind=self._maps.kinds[-1]).fitted(self._maps)
        self._answers = isinstance(shown, Translation)
        if isinstance(shown, Translation):
            self._service = service_of(shown._translator)
            self._texts = labels_of(self._service, language)
            self._best = TranslationResult(shown, self._maps)
            start = best_head(self._service.card, self._maps)
        super().__init__(_key=uuid4().hex, selection=start)
        if not self._answers:
            payload = foreign_payload(self._maps, language=language)
            self._payload = with_selection(payload, start, key=self._key)
        else:
            self._payload = self._branch()
            self._findings = findings.roles(self._service, _SESSION, self._texts) | self._card()

    def _branch(self) -> bytes:
        """Return the payload of the selected branch."""
        service, best, number = self._service, self._best, self.selection.branch
        shown = service.translate_branch(_SESSION, best, number)
        self._maps = shown.maps
        answers = {"off": True, "branches": list(range(len(branch_ends(best.translation)) or 1))}
        search = best.translation.source, number
        payload = branch_payload(self._texts, service, search, best, shown, answers=answers)
        return with_selection(payload, self.selection, key=self._key)

    def _card(self) -> dict[str, Any]:
        place = self.selection
        return findings.card(self._service, self._texts, (place.kind, place.layer, place.head))

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the widget, and the small view for viewers without a kernel."""
        data, metadata = super()._repr_mimebundle_(**options) or ({}, {})
        return mimebundle(self._shown, self._language) | data, metadata

    @traitlets.validate("selection")
    def _fitted(self, proposal: Any) -> Selection:
        chosen: Selection = proposal.value
        return chosen.fitted(self._maps)

    @traitlets.observe("selection")
    def _answer(self, change: Any) -> None:
        if not self._answers or not self._payload:
            return
        if change.new.branch != change.old.branch:
            self._payload = self._branch()
        self._findings = self._findings | self._card()

    @traitlets.observe("_off")
    def _switch_off(self, change: Any) -> None:
        kind, layer, head = change.new.split(".") if change.new else (None, 0, 0)
        place = (kind, int(layer), int(head)) if kind else None
        self._findings = self._findings | findings.without_head(self._service, _SESSION, self._best, place)

    @traitlets.observe("_sentence")
    def _translate(self, change: Any) -> None:
        """Show the example of a card that was pressed."""
        sentence = self._service.validate(change.new["name"])
        self._best = self._service.translate(_SESSION, sentence.source)
        self._payload = self._branch()
