"""Section of the page Model with the training history of heads: the explorer at a snapshot of the training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer_core.atlas.storage import FILE
from transformer_core.storage.files import CheckpointError
from transformer_core.storage.measurements import FOLDER
from viz_app.components.explorer.mount import explorer, last_report, send_finding
from viz_app.components.explorer.selection import Selection
from viz_app.components.in_sight import once_in_sight
from viz_app.explorer_view.training_snapshot import (
    first_selection,
    snapshot_name,
    snapshot_payload,
    snapshot_roles,
    training_curves,
)
from viz_app.figures import CurvesFigure
from viz_app.lessons.small_models import KEPT_HISTORIES
from viz_app.model_card import histories
from viz_app.model_card.histories import HistorySource
from viz_app.state.query_params import selection_from_params, selection_to_params
from viz_app.text import Texts
from viz_app.ui.edit_links import draw_card_opener
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.model.atlas import Params
from viz_app.ui.plotly_chart import draw_plotly, page_theme
from viz_app.ui.share_menu import draw_share

if TYPE_CHECKING:
    from transformer_core.history.snapshots import History

_OF = "growth_of"  # the visitor's model, and the model of the open history
_SEEN = "growth_seen"  # last state of each history, by its folder
_CURVES = {"height": 230, "title_text": "", "margin": {"t": 30, "b": 40}, "legend_y": 1.02, "legend_yanchor": "bottom"}


@dataclass(frozen=True)
class Seen:
    """State of a history: numbers of the sentence and the snapshot from 0, and the explorer's selection."""

    sentence: int
    snapshot: int
    selection: Selection

    @classmethod
    def from_query(cls, params: Mapping[str, str], history: History) -> Seen:
        """Read an address; missing or invalid parts are as at the start: the first sentence, amid the training."""
        sentence, step = params.get("grown_text", ""), params.get("grown_at", "")
        sentences, steps = [str(number + 1) for number in range(len(history.sentences))], [*map(str, history.steps)]
        return cls(
            sentences.index(sentence) if sentence in sentences else 0,
            steps.index(step) if step in steps else _middle(history),
            selection_from_params(params, first_selection(history)),
        )

    def to_query(self, history: History) -> Params:
        """Return the URL parameters; none of the selection where it is that of the start."""
        params, start = map(selection_to_params, (self.selection, first_selection(history)))
        return {
            "grown_text": str(self.sentence + 1) if self.sentence else None,
            "grown_at": None if self.snapshot == _middle(history) else str(history.steps[self.snapshot]),
            **({} if params == start else params),
        }


def _middle(history: History) -> int:
    """Return the snapshot that opens: some heads have roles, and others do not yet."""
    return 2 * len(history.steps) // 3


def draw_growth(t: Texts, checkpoint: Path | None, params: Params) -> Params:
    """Draw a model's training history, if any model has one.

    Args:
        t: Labels.
        checkpoint: Folder of the visitor's model.
        params: The other parameters of the address.

    Returns:
        The parameters of the address, this section included.
    """
    models = histories.available_histories(checkpoint)
    if not models:
        return params
    st.header(t("growth.title"), anchor="growth")
    st.markdown(t("growth.about"))
    with st.container(key="growth-choices"):
        runs, sentences = st.columns(2)
    with runs:
        source = _choice(t, models)
    try:
        history = histories.load_history(source)
    except CheckpointError as error:
        st.error(t("growth.damaged", path=escape_markdown(error.path.name), reason=escape_markdown(error.reason)))
        return params
    facts = {
        "name": escape_markdown(source.name),
        "layers": f"{history.model['layers']} + {history.model['layers']}",
        "heads": history.model["heads"],
        "steps": f"{history.steps[-1]:,}",
    }
    whose = "served" if source.served else "kept" if source.name in KEPT_HISTORIES else "small"
    continues = f" {t('growth.continues')}" if history.continues else ""
    st.caption(t(f"growth.of_{whose}", **facts) + continues)
    linked = st.query_params.get("grown_of", models[0].name) == source.name
    seen = _draw(t, source, history, sentences, st.query_params.to_dict() if linked else {})
    params = params | seen.to_query(history) | {"grown_of": None if source == models[0] else source.name}
    with st.container(horizontal=True, key="growth-takeaways"):
        draw_share(t, "model", params)
        # The atlas is of the model as it is now, at the end of its history.
        if source.served and checkpoint is not None and (checkpoint / FOLDER / FILE).is_file():
            draw_card_opener(t, seen.selection)
    return params


def _choice(t: Texts, models: tuple[HistorySource, ...]) -> HistorySource:
    """Choose the model: the last choice, or the address's, at first the visitor's model."""
    if len(models) == 1:
        return models[0]
    mine, name_in_address = st.session_state.get(_OF, (models[0].name, st.query_params.get("grown_of")))
    names = [each.name for each in models]
    source = st.selectbox(
        t("growth.model"),
        models,
        index=names.index(name_in_address) if mine == models[0].name and name_in_address in names else 0,
        format_func=lambda model: t("growth.served", name=model.name) if model.served else _small(t, model.name),
        key=f"growth-model-{'-'.join(names)}",  # another model has another list
    )
    st.session_state[_OF] = (models[0].name, source.name)
    return source


def _draw(
    t: Texts, source: HistorySource, history: History, sentences: DeltaGenerator, params: Mapping[str, str]
) -> Seen:
    """Draw the choices, that of the sentence in its column, the explorer and the curves; return what is seen."""
    # One key for each model: another one has other sentences, heads and snapshots.
    key, place = f"growth-{source.name}-{source.served}", str(source.folder)
    views: dict[str, Seen] = st.session_state.setdefault(_SEEN, {})
    if place not in views:
        views[place] = Seen.from_query(params, history)
    sentence = sentences.selectbox(
        t("growth.sentence"),
        range(len(history.sentences)),
        index=views[place].sentence,
        format_func=lambda number: history.sentences[number].source,
        key=f"{key}-sentence",
    )
    target = escape_markdown(history.sentences[sentence].target)
    st.caption(t("growth.reads", target=f"*{target}*"))
    snapshot = st.select_slider(
        t("growth.moment"),
        range(len(history.steps)),
        value=views[place].snapshot,
        format_func=lambda number: snapshot_name(history, number, t),
        key=f"{key}-snapshot-{t.language}",
    )
    payload = snapshot_payload(history, sentence, snapshot, source.name, t)
    with st.container(key="growth-explorer"):
        selection = explorer(payload, key=key, selection=last_report(key) or views[place].selection)
    send_finding(key, snapshot_roles(history, snapshot, source.name, t))
    st.caption(t("growth.exact"))
    once_in_sight("growth-curves", lambda: _draw_curves(training_curves(history, snapshot, t, page_theme()), key))
    views[place] = Seen(sentence, snapshot, selection)
    return views[place]


def _draw_curves(curves: Sequence[CurvesFigure], key: str) -> None:
    for number, (column, figure) in enumerate(zip(st.columns(len(curves)), curves, strict=True)):
        with column:
            draw_plotly(figure, f"{key}-curves-{number}", **_CURVES)


def _small(t: Texts, name: str) -> str:
    """Return the name of a small model, and its difference."""
    key = f"about_{name.replace('-', '_')}"
    about = t(f"growth.{key}") if key in t.table("growth") else t("growth.about_small")
    return t("growth.small", name=name, about=about)
