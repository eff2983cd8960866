"""Dialog "Other views": the head in Plotly, BertViz' head view and model view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from transformer_core.attention_maps import AttentionMaps
from transformer_core.head import Head
from viz_app.components.explorer.selection import OTHER_VIEWS, OtherView, Selection
from viz_app.explorer_view.external_views import drawing_cost, head_figure, select_maps
from viz_app.state.query_params import other_view_from_params
from viz_app.text import Texts
from viz_app.ui.plotly_chart import draw_plotly, page_theme

if TYPE_CHECKING:
    from viz_app.components.bertviz_frame.document import BertvizView

_CHOICE = "other_choice"
_KEPT = "other_view"  # the open view, also while the visitor is on another page
_DOCUMENT = "other_document"


def open_view() -> OtherView | None:
    """Return the view that is open, or was at the last drawing; at first the address's."""
    if _KEPT not in st.session_state:
        st.session_state[_KEPT] = other_view_from_params(st.query_params.to_dict())
    view: OtherView | None = st.session_state[_KEPT]
    return view


def close_view() -> None:
    """Remember that no view is open."""
    st.session_state[_KEPT] = None


def draw_external_views(
    t: Texts, maps: AttentionMaps, selection: Selection, identity: tuple[str, ...], about: Mapping[str, Any]
) -> None:
    """Draw the choice and the view.

    Args:
        t: Labels in the visitor's language.
        maps: All maps of the translation, by tokens.
        selection: Selection of the explorer.
        identity: Identity of this translation.
        about: Provenance of the figure.
    """
    current = open_view()
    view = st.session_state[_KEPT] = _choice(t, current)
    if current not in (None, view):
        st.rerun()  # of the page, whose address says which one is open
    _draw(t, view, maps, selection.fitted(maps), identity, about)


def _choice(t: Texts, current: OtherView | None) -> OtherView:
    key = _CHOICE
    if key not in st.session_state:
        st.session_state[key] = current or OTHER_VIEWS[0]
    pick = st.segmented_control(
        t("other.choice"),
        OTHER_VIEWS,
        key=key,
        format_func=lambda view: t(f"other.{view}"),
        required=True,
        label_visibility="collapsed",
        persist_state="session",
    )
    return pick or OTHER_VIEWS[0]


def _draw(
    t: Texts,
    view: OtherView,
    maps: AttentionMaps,
    selection: Selection,
    identity: tuple[str, ...],
    about: Mapping[str, Any],
) -> None:
    panels = select_maps(maps, selection)
    needed = drawing_cost(panels, selection, view)
    if not needed.is_within_limit:
        numbers = {"weights": f"{needed.weights:,}", "limit": f"{needed.limit:,}", "tokens": needed.tokens}
        st.info(t("other.long", **numbers), icon=":material/straighten:")
    elif view == "plotly":
        st.caption(t("other.note_plotly"))
        figure = head_figure(maps, selection, language=t.language, theme=page_theme(), provenance=about)
        draw_plotly(figure, "other_plotly")
    else:
        left, right = (t(f"figures.{selection.unit}_{side}_{selection.kind}") for side in ("query", "key"))
        st.caption(t(f"other.note_{view}", left=left, right=right))
        _draw_bertviz(t, view, panels, selection, identity)


def _draw_bertviz(
    t: Texts, view: BertvizView, maps: AttentionMaps, selection: Selection, identity: tuple[str, ...]
) -> None:
    from viz_app.components.bertviz_frame import bertviz_frame
    from viz_app.components.bertviz_frame.document import bertviz_document

    kind, layer, head = selection.kind, selection.layer, selection.head
    options: dict[str, Any] = {"kind": kind, "theme": page_theme()}
    if view == "head":
        options |= {"layer": layer, "head": head}
    key = (*identity, view, selection.step, selection.unit, options)
    document: tuple[object, str] | None = st.session_state.get(_DOCUMENT)
    if document is None or document[0] != key:
        document = st.session_state[_DOCUMENT] = (key, bertviz_document(maps, view, **options))
    title = t(f"other.title_{view}", kind=t(f"figures.kind_{kind}"), head=str(Head(kind, layer, head)))
    bertviz_frame(document[1], key="other_bertviz", title=title, failed=t("other.failed"))
