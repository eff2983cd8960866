"""The page Figures: size, style and caption of a figure, as it will be printed; every file of it, and its command."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer_core.text.tokenizer import token_id
from viz_app.components.address import publish
from viz_app.components.explorer.selection import Selection
from viz_app.components.in_sight import once_in_sight
from viz_app.explorer_view.snapshot import best_head
from viz_app.figure_editor import rendering
from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.figure_editor.rendering import ExportableFigure, Preview
from viz_app.figures import Animation
from viz_app.serving.input_validation import Sentence
from viz_app.serving.models.comparison import NotComparable, compare_with_selection
from viz_app.serving.models.selected_translation import selected_translation
from viz_app.serving.models.translation_service import TranslationResult, TranslationService
from viz_app.serving.scheduling.request_queue import OnPosition, Superseded
from viz_app.state import session
from viz_app.state.query_params import text_to_param
from viz_app.state.selected_model import model_query_param
from viz_app.text import Texts
from viz_app.ui.downloads import draw_download, format_name, in_turns
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.figures.collection import draw_add, draw_collection
from viz_app.ui.figures.figure_controls import FigureControls
from viz_app.ui.lesson_route import route_params
from viz_app.ui.model_picker import draw_waiting, load_service
from viz_app.ui.sentence_field import sentence_field
from viz_app.ui.share_menu import draw_share
from viz_app.ui.shared_row import shared_row

if TYPE_CHECKING:
    from viz_app.figures.check import PrintIssue  # with matplotlib, which takes a second to import

_ZOOMS = ("print", "fit")


def main() -> None:
    """Draw the page."""
    t = session.labels()
    with shared_row(key="sentence"):
        typed = sentence_field(t)
        share = st.container(width="content", key="share").empty()
    left, right = st.columns([5, 11], gap="large")
    with right, st.container(key="figures-stage"):
        status = st.empty()
        if session.FIGURE_SPEC_KEY not in st.session_state:
            status.skeleton(height=332)
            share.skeleton(height=40, width=100)
    served = load_service(t, status)
    sentence = served.validate(typed)
    if sentence.status == "good":
        try:
            _draw(t, served, sentence, (left, right, status))
        except Superseded:
            st.stop()
    else:
        message = {"tokens": sentence.tokens, "limit": sentence.limit, "over": sentence.tokens - sentence.limit}
        text = t("translate.long", **message) if sentence.status == "long" else t(f"figures_page.{sentence.status}")
        status.info(text, icon=":material/keyboard:")
    with right:
        draw_collection(t)
    params = _params(t, sentence)
    if sentence.status == "good":
        with share.container():
            draw_share(t, "figures", params)
    publish(params, language=t.language, page="figures")


def _draw(
    t: Texts,
    served: TranslationService,
    sentence: Sentence,
    places: tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator],
) -> None:
    left, right, status = places
    who, ask = session.session_id(), partial(draw_waiting, t, status)
    exportable = _draw_attention(t, served, sentence, (left, right), ask)
    with right, st.container(key="figures-sheet"):
        if exportable is None:
            status.empty()
            return
        preview = rendering.render_cache().preview(who, exportable.figure, exportable.style, ask)
        _draw_preview(t, exportable, preview)
        status.empty()  # only now, so that nothing moves
        _draw_downloads(t, exportable, preview)
        _draw_warnings(t, exportable, rendering.render_cache().warnings(who, exportable.figure, exportable.style))
        once_in_sight("figures-texts", partial(_draw_words, t, exportable))


def _draw_attention(
    t: Texts,
    served: TranslationService,
    sentence: Sentence,
    places: tuple[DeltaGenerator, DeltaGenerator],
    ask: OnPosition,
) -> ExportableFigure | None:
    """Draw the controls of a view of attention; return the figure, None when there is none, with the reason shown."""
    left, right = places
    who = session.session_id()
    best = served.translate(who, sentence.source, on_position=ask)
    spec = _spec(f"{served.name}\n{sentence.text}", best_head(served.card, best.maps))
    searched, result, selection = selected_translation(served, who, best, spec.selection, ask)
    spec = replace(spec, selection=selection, against=_known_token(served, spec.against)).fitted(result.maps)
    atlas = served.head_atlas.atlas
    with left:
        others = [[token for token, _ in step] for step in result.translation.alternatives]
        spec = FigureControls(t, result.maps, others, served.name, of_parser=served.parses, atlas=atlas).draw(spec)
    st.session_state[session.FIGURE_SPEC_KEY] = spec
    with right:
        read = (searched, searched) if spec.view == "beam" else (best, result)  # a tree is that of the whole search
        return _exportable(t, served, sentence, spec, read, ask)


def _spec(read: str, best: Selection) -> FigureSpec:
    """Return the state of the page: the last one, the address's, or the explorer's if that has changed since.

    Args:
        read: Name of the model, and the sentence.
        best: The head that aligns words best.
    """
    spec: FigureSpec | None = st.session_state.get(session.FIGURE_SPEC_KEY)
    selection: Selection | None = st.session_state.get(session.SELECTION_KEY)
    if spec is None:
        start = FigureSpec(selection=best)
        if selection is not None:
            start = start.with_selection(selection)
        spec = FigureSpec.from_query(st.query_params.to_dict(), start)
    elif selection is not None and selection != st.session_state.get(session.FIGURE_SELECTION_KEY, selection):
        spec = spec.with_selection(selection)
    elif st.session_state.get(session.FIGURE_SOURCE_KEY, read) != read:
        spec = spec.for_new_sentence()
    st.session_state[session.FIGURE_SELECTION_KEY] = selection
    st.session_state[session.FIGURE_SOURCE_KEY] = read
    return spec


def _known_token(served: TranslationService, token: str | None) -> str | None:
    """Return a token, None if the model has no such token: an address may have any."""
    if not token:
        return None
    try:
        token_id(served.translator.tokenizer, token)
    except ValueError:
        return None
    return token


def _exportable(
    t: Texts,
    served: TranslationService,
    sentence: Sentence,
    spec: FigureSpec,
    read: tuple[TranslationResult, TranslationResult],
    ask: OnPosition,
) -> ExportableFigure | None:
    """Return the figure; None, with the reason on the page, when there is none."""
    best, result = read
    other = None
    if spec.view == "compare":
        try:
            other = compare_with_selection(served, session.session_id(), sentence.text, spec.selection, ask)
        except NotComparable:
            st.warning(t("translate.not_comparable"), icon=":material/warning:")
            return None
    if spec.view == "beam" and not best.translation.history:
        st.info(t("figures_page.no_search"), icon=":material/info:")
        return None
    force = spec.selection.force if spec.view == "beam" else None
    seen = rendering.forward_result(served, result, best, spec.selection.branch, session.session_id(), force)
    figure = rendering.make_figure(spec, t.language, seen, other)
    return ExportableFigure(figure, spec.style, spec.dpi, t.language)


def _draw_preview(t: Texts, exportable: ExportableFigure, preview: Preview) -> None:
    """Show the figure in its print size, or as wide as the page, with its size on paper."""
    with st.container(horizontal=True, vertical_alignment="center", key="figures-measures"):
        zoom = st.segmented_control(
            t("figures_page.zoom"),
            _ZOOMS,
            default=st.session_state.get(session.ZOOM_KEY, _ZOOMS[0]),
            format_func=lambda name: t(f"figures_page.zoom_{name}"),
            required=True,
            label_visibility="collapsed",
            key=f"figures-{t.language}-zoom",
        )
        st.session_state[session.ZOOM_KEY] = zoom
        measures = t("figures_page.measures", width=f"{preview.width_mm:.0f}", height=f"{preview.height_mm:.0f}")
        if isinstance(exportable.figure, Animation):
            measures += f" · {t('figures_page.frames', count=len(exportable.figure.frames))}"
        st.caption(measures)
    pixels = round(preview.width_mm / 25.4 * rendering.PIXELS_PER_INCH)
    width: int | Literal["stretch"] = pixels if zoom == "print" else "stretch"
    ratio = f"{preview.width_mm:.1f} / {preview.height_mm:.1f}"
    st.html(f"<style>.st-key-figures-paper > * {{ aspect-ratio: {ratio}; }}</style>")  # its place, before it comes
    # At print size a sheet that is wider than the column is scrolled, never made smaller; see frame.css. Streamlit
    # scales a picture with a width of its own down, and compresses it again in each run.
    with st.container(key=f"figures-sheet-{zoom}"), st.container(key="figures-paper"), st.container(width=width):
        st.image(preview.png, width="stretch", alt=exportable.figure.alt)


def _draw_downloads(t: Texts, exportable: ExportableFigure, preview: Preview) -> None:
    oversized = exportable.oversized(preview)
    with st.container(horizontal=True, key="figures-downloads"):
        for index, name in enumerate(name for name in exportable.formats if name not in oversized):
            file_name = exportable.file_name(name)
            draw_download(name, exportable.file, file_name, "figures-download", first=not index)
        if not oversized:
            st.download_button(
                t("figures_page.bundle"),
                data=in_turns(exportable.bundle),
                file_name=exportable.file_name("zip"),
                mime="application/zip",
                key="figures-download-zip",
                on_click="ignore",
                icon=":material/folder_zip:",
                help=t("figures_page.bundle_help"),
            )
            draw_add(t, exportable)
    for name, error in oversized.items():
        pixels, most = (f"{number / 1e6:,.0f}" for number in (error.pixels, error.most))
        message = t("figures_page.oversized", format=format_name(name), pixels=pixels, most=most, dpi=error.dpi)
        st.warning(message, icon=":material/straighten:")


def _draw_warnings(t: Texts, exportable: ExportableFigure, issues: tuple[PrintIssue, ...]) -> None:
    if not issues:
        st.caption(f":material/check: {t('figures_page.fine')}")
        return
    from viz_app.figures.check import message

    with st.container(key="figures-warnings", gap="small"):
        for warning in issues:
            st.warning(escape_markdown(message(warning, t.language)), icon=":material/print:")


def _draw_words(t: Texts, exportable: ExportableFigure) -> None:
    """Caption, alt text and command, each with a button that copies it."""
    texts = {"caption": exportable.figure.caption, "alt": exportable.figure.alt}
    for name, text in texts.items():
        st.markdown(f"**{t(f'figures_page.{name}')}**")
        with st.container(key=f"figures-words-{name}"):
            st.code(text, language=None, wrap_lines=True)
    command = exportable.command(exportable.formats[0])
    st.markdown(f"**{t('figures_page.command')}**")
    if command:
        st.code(command, language=None, wrap_lines=True)
    else:
        st.caption(t("figures_page.no_command"))


def _params(t: Texts, sentence: Sentence) -> dict[str, str | None]:
    """Return the URL parameters of the page."""
    spec: FigureSpec | None = st.session_state.get(session.FIGURE_SPEC_KEY)
    params: dict[str, str | None] = {
        "lang": t.language,
        "text": text_to_param(sentence.text),
        "model": model_query_param(),
        **route_params(),
    }
    if spec is not None:
        params |= spec.to_query()
    return params


if __name__ == "__main__":
    main()
