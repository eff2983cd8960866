"""Section of the page Model with the pruning curves of heads, also live on the visitor's sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer_core.analysis.ablation import AblatedTranslation
from transformer_core.atlas.record import Atlas
from viz_app.components.in_sight import in_sight
from viz_app.figures import CurvesFigure
from viz_app.figures.build.atlas import most_left, pruned_groups
from viz_app.figures.options import SCORES
from viz_app.figures.text.chart_captions import with_caption
from viz_app.model_card.pruned_sentence import removed_heads, translate_pruned
from viz_app.model_card.pruning_state import PruningState, orders
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import Superseded
from viz_app.state import session
from viz_app.text import Texts
from viz_app.ui.downloads import draw_command, draw_figure_downloads
from viz_app.ui.edit_links import draw_edit_button, edit_atlas_in_figures
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.menu import menu
from viz_app.ui.model.atlas import Params, exportable, translated
from viz_app.ui.plotly_chart import draw_plotly, page_theme
from viz_app.ui.share_menu import draw_share

_STATE = "atlas_pruning"  # of each atlas, by the hash of its model

_LEGEND = -0.32  # below the title of the axis, also where the entries need several lines

Later = Callable[[], None]


def draw_pruning(t: Texts, served: TranslationService, params: Params) -> tuple[Params, Later]:
    """Draw the curves and the slider, if the atlas has them.

    Returns:
        The parameters of the address, this section included; and a function that translates the sentence with
        fewer heads, to call after the rest of the page is drawn.
    """
    atlas = served.head_atlas.atlas
    if atlas is None or not pruned_groups(atlas):
        return params, lambda: None
    states: dict[str, PruningState] = st.session_state.setdefault(_STATE, {})
    if atlas.weights_hash not in states:
        states[atlas.weights_hash] = PruningState.from_query(st.query_params.to_dict(), atlas)
    st.subheader(t("atlas.pruning"), anchor="pruning")
    st.markdown(t("atlas.pruning_about"))
    with st.container(key="pruning"):
        if in_sight("pruning"):
            return _draw(t, served, atlas, params)
    return params | states[atlas.weights_hash].fitted(atlas).to_query(atlas), lambda: None


def _draw(t: Texts, served: TranslationService, atlas: Atlas, params: Params) -> tuple[Params, Later]:
    states: dict[str, PruningState] = st.session_state[_STATE]
    state = _draw_choice(t, atlas, states[atlas.weights_hash].fitted(atlas))
    place = st.container(key="atlas-curves")
    state = _draw_slider(t, atlas, state)
    states[atlas.weights_hash] = state
    live = st.container(key="atlas-live")
    whole = most_left(atlas, state.group)
    about = {"group": state.group, "score": state.score} | ({"left": state.left} if state.left < whole else {})
    made = exportable(t, served, atlas, "pruning", **about)
    params = params | state.to_query(atlas)
    if made is not None and isinstance(made.figure, CurvesFigure):
        figure = with_caption(replace(made.figure, theme=page_theme()))
        with place:
            draw_plotly(figure, "atlas-curves-plot", legend_y=_LEGEND)
            st.caption(figure.caption)
            st.caption(t("atlas.pruning_published"))
            with st.container(horizontal=True, key="pruning-takeaways"):
                _draw_table(t, figure)
                with menu(t("atlas.download"), key="pruning-download", icon=":material/download:") as is_open:
                    if is_open:
                        names = {"group": t(f"atlas.group_{state.group}"), "score": t(f"atlas.score_{state.score}")}
                        st.caption(t("atlas.download_curves", **names))
                        draw_figure_downloads(made, "download-pruning")
                        draw_command(made)
                draw_edit_button(t, "pruning-edit", edit_atlas_in_figures, {"view": "pruning", "left": None, **about})
                draw_share(t, "model", params, key="pruning-share")
    return params, lambda: _draw_live(t, served, atlas, state, live)


def _draw_choice(t: Texts, atlas: Atlas, state: PruningState) -> PruningState:
    """Draw the choices of the pruned group of heads and of the score."""

    def choice(name: str, label: str, titles: dict[str, str], now: str) -> str:
        key = _key(t, atlas, name)
        option = st.segmented_control(
            label, list(titles), default=now, format_func=titles.__getitem__, required=True, key=key
        )
        return option or now

    groups = {group: t(f"atlas.group_{group}") for group in pruned_groups(atlas)}
    scores = {score: t(f"atlas.score_{score}") for score in SCORES}
    with st.container(horizontal=True, key="atlas-choice"):
        group = choice("group", t("atlas.group"), groups, state.group)
        score = choice("score", t("atlas.score"), scores, state.score)
    if group != state.group:  # another number of heads: all of them are left again
        state = PruningState.start(atlas, group)
    return msgspec.structs.replace(state, score=score)


def _draw_slider(t: Texts, atlas: Atlas, state: PruningState) -> PruningState:
    """Draw the choice of the order, and the slider of remaining heads."""
    choices, whole = orders(atlas, state.group), most_left(atlas, state.group)
    order = st.selectbox(
        t("atlas.order"),
        choices,
        index=choices.index(state.order),
        format_func=lambda name: t(f"atlas.order_{name}"),
        key=_key(t, atlas, f"order-{state.group}"),
    )
    count = st.slider(t("atlas.slider"), 0, whole, value=state.left, key=_key(t, atlas, f"left-{state.group}"))
    return msgspec.structs.replace(state, order=order, left=count)


def _key(t: Texts, atlas: Atlas, name: str) -> str:
    """Return a widget's key: other labels, or another model, make a new widget with the kept value."""
    return f"pruning-{t.language}-{atlas.weights_hash[:12]}-{name}"


def _draw_table(t: Texts, figure: CurvesFigure) -> None:
    """Draw the scores by remaining heads, a column for each order."""
    with menu(t("atlas.table"), key="pruning-table", icon=":material/table:") as is_open:
        if not is_open:
            return
        counts = sorted({float(x) for series in figure.series for x in series.xs}, reverse=True)
        columns = {figure.x_title: [f"{count:.0f}" for count in counts]}
        for series in figure.series:
            values = dict(zip(series.xs.tolist(), series.ys.tolist(), strict=True))
            columns[series.label] = [f"{values[count]:.1f}" if count in values else "–" for count in counts]
        st.table(columns)


def _draw_live(t: Texts, served: TranslationService, atlas: Atlas, state: PruningState, place: DeltaGenerator) -> None:
    """Draw the visitor's sentence with all heads, and with the remaining ones."""
    with place:
        if served.parses:
            return
        result = translated(served)
        if result is None:
            st.caption(t("atlas.live_none"))
            return
        heads = removed_heads(atlas, state)
        try:
            translation = translate_pruned(served, session.session_id(), result, heads)
        except Superseded:
            st.stop()
        _draw_translations(t, atlas, state, translation)


def _draw_translations(t: Texts, atlas: Atlas, state: PruningState, translation: AblatedTranslation) -> None:
    values = {"left": state.left, "count": most_left(atlas, state.group), "order": t(f"atlas.order_{state.order}")}
    st.caption(t("atlas.live", **values))
    same = not any(changed for _, changed in (*translation.original, *translation.words))
    with st.container(key="atlas-translations", gap="small"):
        st.markdown(f":small[{t('atlas.live_whole')}]  \n{_words(translation.original)}")
        st.markdown(f":small[{t('atlas.live_pruned', left=state.left)}]  \n{_words(translation.words)}")
    scores = {"before": f"{translation.before:.2f}", "after": f"{translation.log_probability:.2f}"}
    scores = {name: value.replace("-", "\u2212") for name, value in scores.items()}
    st.markdown(f"{t('atlas.live_same' if same else 'atlas.live_changed')} {t('atlas.live_scores', **scores)}")


def _words(words: Sequence[tuple[str, bool]]) -> str:
    """Return a sentence as Markdown, with changed words in bold."""
    return (
        " ".join(f"**{escape_markdown(word)}**" if changed else escape_markdown(word) for word, changed in words) or "–"
    )
