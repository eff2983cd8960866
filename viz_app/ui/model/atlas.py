"""Section of the page Model with the head atlas: its orders of the explorer's tiles, and its files."""

from __future__ import annotations

from functools import partial

import streamlit as st

from transformer_core.atlas.measures import measures
from transformer_core.atlas.record import Atlas
from viz_app.components.explorer.selection import Selection, View
from viz_app.explorer_view.head_card import atlas_inputs
from viz_app.explorer_view.head_measures import order_name
from viz_app.explorer_view.snapshot import opening_view
from viz_app.export import atlas_table
from viz_app.export.provenance import checkpoint_record
from viz_app.figure_editor.rendering import ExportableFigure
from viz_app.figures import VIEWS, Style
from viz_app.figures.build.atlas import measure_name
from viz_app.serving.measurements.head_atlas import HeadAtlas
from viz_app.serving.models.translation_service import TranslationResult, TranslationService
from viz_app.serving.scheduling.request_queue import Superseded
from viz_app.state import session
from viz_app.text import Texts
from viz_app.ui.downloads import draw_command, draw_figure_downloads, in_turn
from viz_app.ui.edit_links import draw_edit_button, edit_atlas_in_figures, open_in_translate
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.menu import menu
from viz_app.ui.share_menu import draw_share

Params = dict[str, str | None]

_BY = "atlas_by"  # the parameter of the address, and the last choice


def draw_atlas(t: Texts, served: TranslationService, params: Params) -> Params:
    """Draw what the atlas measures and the ways to it, or say why there is none.

    Args:
        t: Labels.
        served: The visitor's model.
        params: The other parameters of the address.

    Returns:
        The parameters of the address, this section included.
    """
    head_atlas = served.head_atlas
    names = [measure.name for measure in measures(head_atlas.atlas)] if head_atlas.atlas else []
    if names or head_atlas.problem or not served.parses:
        st.header(t("atlas.title"), anchor="atlas")
    if head_atlas.problem:
        st.warning(t("atlas.damaged", problem=escape_markdown(head_atlas.problem)), icon=":material/warning:")
        return params
    if head_atlas.atlas is None or not names:
        if not served.parses:
            st.caption(t("atlas.none"))
        return params
    st.markdown(t("atlas.about"))
    if inputs := atlas_inputs(head_atlas.atlas, t):
        st.caption(t("atlas.inputs", data=escape_markdown(", ".join(inputs))))
    by = _draw_measure(t, head_atlas.atlas, names)
    params = params | {_BY: None if by == names[0] else by}
    with st.container(horizontal=True, key="atlas-orders"):
        _draw_order(t, head_atlas.atlas, "atlas.by_measure", by)
        _draw_order(t, head_atlas.atlas, "atlas.by_role", "role")
    with st.container(horizontal=True, key="atlas-takeaways"):
        _draw_downloads(t, served, head_atlas, head_atlas.atlas, by)
        draw_edit_button(t, "atlas-edit", edit_atlas_in_figures, {"view": "grid", "measure": by})
        draw_share(t, "model", params, key="atlas-share")
    return params


def _draw_measure(t: Texts, atlas: Atlas, names: list[str]) -> str:
    """Draw the choice of a measure, with what it means; return its name."""
    name = st.session_state.get(_BY) or st.query_params.get(_BY)
    by = st.selectbox(
        t("atlas.measure"),
        names,
        index=names.index(name) if name in names else 0,
        format_func=partial(measure_name, t),
        key=f"atlas-{t.language}-{atlas.weights_hash[:12]}",
    )
    st.session_state[_BY] = by
    st.caption(t(f"atlas.about_{by.replace('-', '_')}"))
    return by


def _draw_order(t: Texts, atlas: Atlas, label: str, order: str) -> None:
    """Draw a button that opens all heads on the page Translate in an order."""
    view: View = "kinds" if opening_view(atlas.layers, atlas.heads) == "heads" else "layer"
    selection = Selection(zoom="heads", view=view, order=order_name(order))
    go = session.enqueue_callback(open_in_translate, selection)
    st.button(t(label), key=f"atlas-open-{label}", icon=":material/grid_view:", on_click=go)


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


def _draw_downloads(t: Texts, served: TranslationService, head_atlas: HeadAtlas, atlas: Atlas, by: str) -> None:
    with menu(t("atlas.download"), key="atlas-download", icon=":material/download:") as is_open:
        if not is_open:
            return
        made = exportable(t, served, atlas, "grid", measure=by)
        if made is not None:
            st.caption(t("atlas.download_figure", measure=measure_name(t, by)))
            draw_figure_downloads(made, "download-atlas")
        st.caption(t("atlas.download_table"))
        with st.container(horizontal=True):
            files = {
                "csv": partial(atlas_table.to_csv, atlas, head_atlas.roles),
                "npz": partial(atlas_table.to_npz, atlas),
            }
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
        figure = VIEWS[view].draw(
            atlas=atlas, language=t.language, provenance=checkpoint_record(served.translator), **parameters
        )
    except ValueError:
        return None
    return ExportableFigure(figure, Style(), language=t.language)
