"""Section of the page Model with the head atlas."""

from __future__ import annotations

from functools import partial

import streamlit as st

from transformer_core.atlas.measures import measures
from transformer_core.atlas.record import Atlas
from viz_app.components.atlas import answered, head_atlas, last_report, opened_head, pack
from viz_app.components.explorer.selection import Selection
from viz_app.explorer_view.head_card import atlas_inputs
from viz_app.explorer_view.snapshot import opening_view
from viz_app.export import atlas_table
from viz_app.export.provenance import checkpoint_record
from viz_app.figure_editor.rendering import ExportableFigure
from viz_app.figures import VIEWS, Style
from viz_app.figures.build.atlas import measure_name
from viz_app.model_card.atlas_state import AtlasState
from viz_app.serving.measurements.head_atlas import HeadAtlas
from viz_app.serving.models.translation_service import TranslationResult, TranslationService
from viz_app.serving.scheduling.request_queue import Superseded
from viz_app.state import session
from viz_app.text import Texts
from viz_app.ui.downloads import draw_command, draw_figure_downloads, in_turn
from viz_app.ui.edit_links import draw_edit_button, edit_atlas_in_figures, open_in_translate
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.menu import menu
from viz_app.ui.model.growth import Params
from viz_app.ui.share_menu import draw_share

_SEEN = "atlas_seen"  # last state of each atlas, by the hash of its model


def draw_atlas(t: Texts, served: TranslationService, params: Params) -> Params:
    """Draw the grid of heads, or say why there is none.

    Args:
        t: Labels.
        served: The visitor's model.
        params: The other parameters of the address.

    Returns:
        The parameters of the address, this section included.
    """
    found = served.head_atlas
    names = [measure.name for measure in measures(found.atlas)] if found.atlas else []
    if names or found.problem or not served.parses:
        st.header(t("atlas.title"), anchor="atlas")
    if found.problem:
        st.warning(t("atlas.damaged", problem=escape_markdown(found.problem)), icon=":material/warning:")
        return params
    if found.atlas is None or not names:
        if not served.parses:
            st.caption(t("atlas.none"))
        return params
    st.markdown(t("atlas.about"))
    if inputs := atlas_inputs(found.atlas, t):
        st.caption(t("atlas.inputs", data=escape_markdown(", ".join(inputs))))
    state = _draw(t, served, found, found.atlas)
    params = params | state.to_query(names[0])
    with st.container(horizontal=True, key="atlas-takeaways"):
        _draw_downloads(t, served, found, found.atlas, state)
        draw_edit_button(t, "atlas-edit", edit_atlas_in_figures, {"view": "grid", "measure": state.by})
        draw_share(t, "model", params, key="atlas-share")
    return params


def _draw(t: Texts, served: TranslationService, found: HeadAtlas, atlas: Atlas) -> AtlasState:
    """Draw the component; return its state."""
    # One key for each model: another one has other heads and measures.
    key = f"atlas-{atlas.weights_hash[:12]}"
    kept: dict[str, AtlasState] = st.session_state.setdefault(_SEEN, {})
    if atlas.weights_hash not in kept:
        kept[atlas.weights_hash] = AtlasState.from_query(st.query_params.to_dict()).fitted(atlas)
    state = (AtlasState.from_report(last_report(key)) or kept[atlas.weights_hash]).fitted(atlas)
    if opened := opened_head(key):
        kind, layer, head, event = opened
        if layer < atlas.layers and head < atlas.heads:
            view = opening_view(atlas.layers, atlas.heads)
            open_in_translate(Selection(kind=kind, layer=layer, head=head, view=view, card=True))  # type: ignore[arg-type]
        answered(key, event)
        st.rerun()
    result = translated(served) if state.maps else None
    # Unchanged bytes are not sent again, so the start is fixed while the component is on the page.
    start = f"{key}-start"
    if key not in st.session_state or start not in st.session_state:
        st.session_state[start] = state
    payload = pack(
        atlas,
        found.roles,
        t,
        start=st.session_state[start].to_dict(),
        maps=None if result is None else result.maps,
        has_sentence=served.validate(_typed()).status == "good",
    )
    report = head_atlas(payload, key=key) or last_report(key)
    seen = kept[atlas.weights_hash] = (AtlasState.from_report(report) or state).fitted(atlas)
    return seen


def _typed() -> str:
    return st.session_state.get(session.TEXT_KEY) or ""


def translated(served: TranslationService) -> TranslationResult | None:
    """Return the translation of the visitor's sentence, mostly cached; None if the model cannot translate it."""
    sentence = served.validate(_typed())
    if sentence.status != "good":
        return None
    try:
        return served.translate(session.session_id(), sentence.source)
    except Superseded:
        st.stop()


def _draw_downloads(t: Texts, served: TranslationService, found: HeadAtlas, atlas: Atlas, state: AtlasState) -> None:
    with menu(t("atlas.download"), key="atlas-download", icon=":material/download:") as is_open:
        if not is_open:
            return
        made = exportable(t, served, atlas, "grid", measure=state.by)
        if made is not None:
            st.caption(t("atlas.download_figure", measure=measure_name(t, state.by)))
            draw_figure_downloads(made, "download-atlas")
        st.caption(t("atlas.download_table"))
        with st.container(horizontal=True):
            files = {"csv": partial(atlas_table.to_csv, atlas, found.roles), "npz": partial(atlas_table.to_npz, atlas)}
            for ending, make in files.items():
                st.download_button(
                    ending.upper(),
                    data=in_turn(make),
                    file_name=f"headlight_atlas_{atlas.weights_hash[:12]}.{ending}",
                    key=f"download-atlas-table-{ending}",
                    on_click="ignore",
                )
        if made is not None:
            draw_command(made)


def exportable(
    t: Texts, served: TranslationService, atlas: Atlas, view: str, **parameters: object
) -> ExportableFigure | None:
    """Return a view of the atlas with all its files; None if the atlas lacks a number for some head."""
    try:
        figure = VIEWS[view].figure(
            atlas=atlas, language=t.language, provenance=checkpoint_record(served.translator), **parameters
        )
    except ValueError:
        return None
    return ExportableFigure(figure, Style(), language=t.language)
