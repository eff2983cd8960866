"""The figures behind the page Figures: made from what the model read, drawn once for all who ask for the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from viz_app.export import BundleItem, bundle, command_for, file_bytes, make_provenance
from viz_app.export.bundle import Turn
from viz_app.export.figure_request import ForwardResult, render
from viz_app.export.pictures import size
from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.figures import (
    Animation,
    Figure,
    Flows,
    ParserOutput,
    Search,
    Style,
    animated,
    export,
    file_name,
    formats_of,
)
from viz_app.figures.model.pixels import GIF_DPI, PictureTooLarge, check_pixels
from viz_app.serving.memory_size import memory_size
from viz_app.serving.models.comparison import Comparison
from viz_app.serving.models.translation_service import BEAM, TranslationResult, TranslationService
from viz_app.serving.scheduling.request_queue import OnPosition, RequestQueue, Visitor
from viz_app.serving.scheduling.single_flight_cache import SingleFlightCache
from viz_app.serving.scheduling.visitor import current_visitor
from viz_app.serving.streamlit_patches import stop_if_superseded

if TYPE_CHECKING:
    from viz_app.figures.check import PrintIssue  # with matplotlib, which takes a second to import

PIXELS_PER_INCH = 96  # of CSS: at this scale a screen shows print size
_SHARP = 192  # dots per inch of a preview, for screens with two dots a pixel
_PLAIN = 144  # the same of a figure whose width is not known before
_MAX_PIXELS = 1400  # of its width; Streamlit makes wider pictures smaller by itself
_MM_PER_INCH = 25.4
_ENTRIES = 96
_BYTES = 48 * 2**20


@dataclass(frozen=True)
class Preview:
    """A figure on the screen: the same drawing as the file.

    Args:
        png: The picture.
        width_mm: Width on paper.
        height_mm: Height on paper.
    """

    png: bytes
    width_mm: float
    height_mm: float


class RenderCache:
    """Drawings and checks for all sessions, one at a time, since matplotlib draws one at a time.

    A request that waits gives way to a newer one of the same session.
    """

    def __init__(self) -> None:
        self._queue = RequestQueue(1, stop_if_superseded, current_visitor)
        self._previews: SingleFlightCache[Preview] = SingleFlightCache(_ENTRIES, _BYTES, memory_size)
        self._warnings: SingleFlightCache[tuple[PrintIssue, ...]] = SingleFlightCache(_ENTRIES, _BYTES, memory_size)

    def preview(self, session: str, figure: Figure, style: Style, on_position: OnPosition | None = None) -> Preview:
        """Return the figure in print size; of an animation, what stands for it. Raises Superseded."""
        return self._previews.get_in_turn(
            _key(figure, style), lambda _: _preview(figure, style), self._queue, session, on_position
        )

    def warnings(
        self, session: str, figure: Figure, style: Style, on_position: OnPosition | None = None
    ) -> tuple[PrintIssue, ...]:
        """Find problems in print. Raises Superseded."""
        from viz_app.figures.check import find_print_issues

        return self._warnings.get_in_turn(
            _key(figure, style), lambda _: find_print_issues(figure, style), self._queue, session, on_position
        )

    def file(self, session: str, visitor: Visitor, make: Callable[[], bytes]) -> bytes:
        """Return a file for download, made when it is the session's turn.

        Args:
            session: Who asks; a newer download of the same session cancels one that waits.
            visitor: For whom: the request comes from no run of the session.
            make: Draws the file.

        Raises:
            Superseded: The visitor has left meanwhile.
        """
        with self._queue.ticket(f"{session} file", visitor) as ticket, self._queue.slot(ticket):
            return make()

    def files(self, session: str, visitor: Visitor, make: Callable[[Turn], bytes]) -> bytes:
        """Make a file of many drawings: `make` gets a context for each, so that other sessions draw in between."""
        with self._queue.ticket(f"{session} file", visitor) as ticket:
            return make(lambda: self._queue.slot(ticket))


@st.cache_resource(show_spinner=False, max_entries=1)
def render_cache() -> RenderCache:
    """Return the process-wide cache."""
    return RenderCache()


def forward_result(
    service: TranslationService,
    result: TranslationResult,
    best: TranslationResult,
    branch: int,
    session: str | None = None,
    force: str | None = None,
) -> ForwardResult:
    """Return the forward pass of a sentence, of a branch of its search or from a forced beginning, for the export.

    Args:
        service: Of the model.
        result: Of the branch.
        best: Of the translation that the search chose.
        branch: Number of the branch, from 0, the best.
        session: Session that asks, for which flows are computed in turn and kept; None for at once.
        force: Tokens that the search was forced to begin with, a space between; None for none.
    """
    translator, translation = service.translator, result.translation
    beam = None if translator.decoding.beam == BEAM else BEAM
    provenance = make_provenance(translator, best.translation, beam=beam, prefix=force or "")
    if result is not best:
        provenance = make_provenance(translator, translation)
        again = translator.encode_target(translation.text).ids
        if translation.finished and again == translation.hypotheses[0].ids:
            provenance["target_given"] = True  # the command hands the text of the branch to the model
        else:
            provenance["branch"] = branch + 1  # no text leads back to these tokens, so no command does
    search = Search.from_translation(best.translation, translator.tokenizer) if best.translation.history else None
    parse = ParserOutput.from_tokens(translation.source, translation.tokens, translation.scores, translator.tokenizer)
    flows = Flows.from_model(translator, translation.source, translation, result.maps)
    if session is not None:
        compute, key = flows.compute, ("parts", translation.source, translation.hypotheses[0].ids, translation.finished)
        asked = partial(service.compute_once, session)
        flows = replace(flows, compute=lambda *what: asked((*key, *map(str, what)), lambda _: compute(*what)))
    return ForwardResult(result.maps, provenance, search, parse, service.head_atlas.atlas, flows)


def make_figure(spec: FigureSpec, language: str, seen: ForwardResult, other: Comparison | None = None) -> Figure:
    """Return the figure of a spec that fits its maps.

    Of a comparison A is the head that was pinned, perhaps in another sentence or model, and B the selected one.

    Raises:
        ValueError: A parameter is not allowed.
    """
    options = spec.options(language)
    if spec.view != "compare" or other is None:
        return render(replace(options, aligned=None), seen)
    if other.model != other.own:
        options = replace(options, names=(other.model, other.own))
    return render(options, forward_result(other.service, other.result, other.best, other.branch), seen)


@dataclass(frozen=True)
class ExportableFigure:
    """A figure with everything that can be taken away of it; nothing is computed before it is asked for.

    Args:
        figure: The figure.
        style: How it is drawn.
        dpi: Dots per inch of a PNG.
        language: Language of the bundle's index.
    """

    figure: Figure
    style: Style
    dpi: int = 300
    language: str = "en"

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that it has, those for print first."""
        return formats_of(self.figure)

    def file(self, format: str) -> bytes:
        """Return a file that holds the command which makes it again."""
        return file_bytes(self.figure, format, self.style, dpi=self._dpi(format))

    def file_name(self, format: str) -> str:
        """Return a name that says what it shows, counted from 1; `format` may be "zip"."""
        return file_name(self.figure, "png")[: -len("png")] + format

    def command(self, format: str) -> str:
        """Return the command that makes a file again; empty when none does."""
        return command_for(self.figure, self.style, format=format, dpi=self._dpi(format))

    def bundle(self, turn: Turn = nullcontext) -> bytes:
        """Return a zip of all formats, with an index. `turn` is entered for each drawing."""
        title = self.figure.title or self.figure.name
        return bundle([self.item], self.formats, title=title, language=self.language, turn=turn)

    def oversized(self, preview: Preview) -> dict[str, PictureTooLarge]:
        """Return the formats in which it would have too many pixels, each with what fits."""
        errors = {}
        width, height = preview.width_mm / _MM_PER_INCH, preview.height_mm / _MM_PER_INCH
        moving = animated(self.figure)
        frames = len(moving.frames) if moving else 1
        for format, dpi, count in (("png", self.dpi, 1), ("gif", GIF_DPI, frames)):
            try:
                check_pixels(width, height, dpi, frames=count)
            except PictureTooLarge as error:
                errors[format] = error
        return {format: error for format, error in errors.items() if format in self.formats}

    @property
    def item(self) -> BundleItem:
        """Item of a bundle; a GIF keeps its own resolution."""
        return BundleItem(figure=self.figure, style=self.style, dpi=self._dpi("png"), dpi_formats=("png",))

    @property
    def key(self) -> str:
        """Equal for products whose files are equal."""
        return f"{_key(self.figure, self.style)} {self.dpi}"

    def _dpi(self, format: str) -> int | None:
        return self.dpi if format == "png" and self.dpi != 300 else None


def _preview(figure: Figure, style: Style) -> Preview:
    if isinstance(figure, Animation):
        figure = figure.still_frame
    dpi = _PLAIN if style.width is None else int(min(_SHARP, _MAX_PIXELS * _MM_PER_INCH / style.width))
    dpi = max(36, dpi)
    png = export(figure, "png", style, dpi=dpi)
    width, height = (pixels / dpi * _MM_PER_INCH for pixels in size(png))
    return Preview(png, width, height)


def _key(figure: Figure, style: Style) -> str:
    """Return the key of a drawing: equal for equal figures and styles."""
    return f"{figure.fingerprint} {json.dumps(style.as_dict(), sort_keys=True)}"
