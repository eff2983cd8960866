"""Collection of the page Figures: add a figure, list the added figures, download all of them."""

from __future__ import annotations

from functools import partial

import streamlit as st

from viz_app.export import BUNDLE_FORMATS
from viz_app.figure_editor.collection import MAX_FIGURES, MAX_WEIGHTS, Collection
from viz_app.figure_editor.rendering import ExportableFigure
from viz_app.figures import FORMATS, RENDERERS, VIEWS
from viz_app.figures.model.figure import display_label
from viz_app.serving.models.registry import available_models
from viz_app.state import session
from viz_app.text import Texts
from viz_app.ui.downloads import format_name, in_turns
from viz_app.ui.escape_markdown import escape_markdown

COLLECTION_KEY = "figure_collection"
_FORMATS_KEY = "figure_collection_formats"
_SENTENCE = 60  # characters of a sentence in the list


def collection() -> Collection:
    """Return the collection of this session."""
    current: Collection = st.session_state.get(COLLECTION_KEY) or Collection()
    return current


def draw_add(t: Texts, exportable: ExportableFigure) -> None:
    """Draw the button that adds the figure, or why it cannot be added."""
    why = collection().reason_refused(exportable)
    st.button(
        t("figures_page.added" if why == "there" else "figures_page.add"),
        key="figures-add",
        icon=":material/check:" if why == "there" else ":material/playlist_add:",
        disabled=bool(why),
        on_click=session.enqueue_callback(_add, exportable),
    )
    if why in ("full", "large"):
        st.caption(t(f"figures_page.collection_{why}", figures=MAX_FIGURES, weights=f"{MAX_WEIGHTS:,}"))


def draw_collection(t: Texts) -> None:
    """Draw the list, with a button to remove each, and the zip; nothing while it is empty."""
    current = collection()
    if not current.figures:
        return
    with st.container(border=True, key="figures-collection", gap="small"):
        count = len(current.figures)
        st.markdown(f"**{t('figures_page.collection', count=count, most=MAX_FIGURES)}**")
        with st.container(key="figures-collected", gap=None):
            for number, exportable in enumerate(current.figures, start=1):
                _draw_entry(t, number, exportable)
        formats = _formats(t)
        with st.container(horizontal=True, key="figures-collection-buttons"):
            st.download_button(
                t("figures_page.collection_zip", count=count),
                data=in_turns(partial(current.bundle, formats, t.language)),
                file_name="headlight_collection.zip",
                mime="application/zip",
                key="figures-download-collection",
                on_click="ignore",
                icon=":material/folder_zip:",
                help=t("figures_page.collection_help"),
                disabled=not formats,
            )
            clear = session.enqueue_callback(_clear)
            st.button(t("figures_page.collection_clear"), key="figures-clear", type="tertiary", on_click=clear)


def _draw_entry(t: Texts, number: int, exportable: ExportableFigure) -> None:
    figure, provenance = exportable.figure, exportable.figure.provenance
    view = provenance.get("view", {}).get("name")
    notes = [
        t(f"figures_page.view_{view}") if view in VIEWS else "",
        escape_markdown(display_label(str(provenance.get("source", "")), _SENTENCE)),
        escape_markdown(str(provenance.get("checkpoint", "")).rpartition("/")[2])
        if len(available_models()) > 1
        else "",
        f"{exportable.style.width:g} mm" if exportable.style.width else "",
    ]
    details = " \u00b7 ".join(note for note in notes if note)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"figures-entry-{number}"):
        # The dot is no dot to Markdown, which would make a list of it.
        st.markdown(f"{number}&#46; {escape_markdown(figure.title or figure.name)}  \n:small[{details}]")
        st.button(
            t("figures_page.remove", number=number),
            key=f"figures-remove-{number}",
            type="tertiary",
            icon=":material/close:",
            on_click=session.enqueue_callback(_remove, exportable.key),
        )


def _formats(t: Texts) -> tuple[str, ...]:
    """Return the formats that the zip will have, those for print first."""
    pills = st.pills(
        t("figures_page.collection_formats"),
        [format for format in FORMATS if not RENDERERS[format].moves],
        selection_mode="multi",
        default=list(st.session_state.get(_FORMATS_KEY, BUNDLE_FORMATS)),
        format_func=format_name,
        key=f"figures-{t.language}-collection-formats",
    )
    formats = tuple(name for name in FORMATS if name in pills)
    st.session_state[_FORMATS_KEY] = formats
    return formats


def _add(exportable: ExportableFigure) -> None:
    current = collection()
    if not current.reason_refused(exportable):  # a second click, or another tab, may have been quicker
        st.session_state[COLLECTION_KEY] = current.with_figure(exportable)


def _remove(key: str) -> None:
    st.session_state[COLLECTION_KEY] = collection().without(key)


def _clear() -> None:
    st.session_state[COLLECTION_KEY] = Collection()
