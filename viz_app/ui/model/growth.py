"""Section of the page Model with the training history of heads."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from transformer_core.atlas.storage import FILE
from transformer_core.storage.files import CheckpointError
from transformer_core.storage.measurements import FOLDER
from viz_app.components.explorer.selection import Selection
from viz_app.components.growth import growth, last_report, pack
from viz_app.export.provenance import folder_name
from viz_app.figure_editor.rendering import ExportableFigure
from viz_app.figures import Style
from viz_app.lessons.small_models import KEPT_HISTORIES
from viz_app.model_card import histories
from viz_app.model_card.head_snapshot import HeadSnapshot, moment_name
from viz_app.model_card.histories import HistorySource
from viz_app.text import Texts
from viz_app.ui.downloads import draw_command, draw_download, draw_figure_downloads
from viz_app.ui.edit_links import draw_card_opener
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.share_menu import draw_share

if TYPE_CHECKING:
    from transformer_core.history.snapshots import History

_OF = "growth_of"  # the visitor's model, and the model of the open history
_SEEN = "growth_seen"  # last state of each history, by its folder

Params = dict[str, str | None]


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
    chosen = _choice(t, models)
    try:
        history = histories.load_history(chosen)
    except CheckpointError as error:
        st.error(t("growth.damaged", path=escape_markdown(error.path.name), reason=escape_markdown(error.reason)))
        return params
    facts = {
        "name": escape_markdown(chosen.name),
        "layers": f"{history.model['layers']} + {history.model['layers']}",
        "heads": history.model["heads"],
        "steps": f"{history.steps[-1]:,}",
    }
    whose = "served" if chosen.served else "kept" if chosen.name in KEPT_HISTORIES else "small"
    continues = f" {t('growth.continues')}" if history.continues else ""
    st.info(t(f"growth.of_{whose}", **facts) + continues, icon=":material/info:")
    linked = st.query_params.get("grown_of", models[0].name) == chosen.name
    seen = _draw(t, chosen, history, st.query_params.to_dict() if linked else {})
    params = params | seen.to_query(history) | {"grown_of": None if chosen == models[0] else chosen.name}
    with st.container(horizontal=True, key="growth-takeaways"):
        _draw_download(t, chosen, history, seen)
        draw_share(t, "model", params)
        # The atlas is of the model as it is now, at the end of its history.
        if chosen.served and checkpoint is not None and (checkpoint / FOLDER / FILE).is_file():
            draw_card_opener(t, Selection(kind=seen.kind, layer=seen.layer, head=seen.head))
    return params


def _choice(t: Texts, models: tuple[HistorySource, ...]) -> HistorySource:
    """Choose the model: the last choice, or the address's, at first the visitor's model."""
    if len(models) == 1:
        return models[0]
    mine, kept = st.session_state.get(_OF, (models[0].name, st.query_params.get("grown_of")))
    names = [each.name for each in models]
    chosen = st.selectbox(
        t("growth.model"),
        models,
        index=names.index(kept) if mine == models[0].name and kept in names else 0,
        format_func=lambda model: t("growth.served", name=model.name) if model.served else _small(t, model.name),
        key=f"growth-model-{models[0].name}",  # another model has another list
    )
    st.session_state[_OF] = (models[0].name, chosen.name)
    return chosen


def _draw(t: Texts, chosen: HistorySource, history: History, params: dict[str, str]) -> HeadSnapshot:
    """Draw the heads; return the state of the view."""
    # One key for each model: another one has other sentences, heads and snapshots.
    key = f"growth-{chosen.name}-{chosen.served}"
    kept: dict[str, HeadSnapshot] = st.session_state.setdefault(_SEEN, {})
    place = str(chosen.folder)
    if place not in kept:
        kept[place] = HeadSnapshot.from_query(params, history)
    # Unchanged bytes are not sent again, so the start is fixed while the component is on the page.
    start = f"{key}-start"
    if key not in st.session_state or start not in st.session_state:
        st.session_state[start] = kept[place]
    texts = t.table("growth")
    texts["at_start"] = moment_name(history, 0, t)
    payload = pack(history, texts=texts, language=t.language, start=asdict(st.session_state[start]))
    report = growth(payload, key=key) or last_report(key)
    seen = kept[place] = HeadSnapshot.from_report(report, history) or kept[place]
    return seen


def _draw_download(t: Texts, chosen: HistorySource, history: History, seen: HeadSnapshot) -> None:
    args = chosen.name, t, folder_name(chosen.folder)
    figure, film = seen.figure(history, *args), seen.animation(history, *args)
    if figure is None or film is None:
        return
    still, moving = (ExportableFigure(each, Style(), language=t.language) for each in (figure, film))
    moment = moment_name(history, seen.moment, t)
    with st.popover(t("translate.download"), icon=":material/download:"):
        st.caption(t("growth.take", head=f"{seen.layer + 1}.{seen.head + 1}", moment=moment))
        draw_figure_downloads(still, "download-growth")
        st.caption(t("growth.take_film"))
        draw_download("gif", moving.file, moving.file_name("gif"), "download-growth")
        draw_command(still)


def _small(t: Texts, name: str) -> str:
    """Return the name of a small model, and its difference."""
    key = f"about_{name.replace('-', '_')}"
    about = t(f"growth.{key}") if key in t.table("growth") else t("growth.about_small")
    return t("growth.small", name=name, about=about)
