"""Section of the page Model that opens a model: a folder of the server, with progress and report."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from transformer_core.paper.flops import LARGE_MODEL
from viz_app.model_card.paper_options import options_beyond_paper
from viz_app.serving.measurements.model_card import Languages
from viz_app.serving.models.loader import forget_model
from viz_app.serving.models.registry import available_models, display_name, opened_by_visitors
from viz_app.serving.opening.model_folders import allowed_root, model_folders
from viz_app.serving.opening.open_error import OpenError, megabytes
from viz_app.serving.opening.opened_models import Opening, opened_models
from viz_app.serving.opening.opening_process import Report
from viz_app.serving.scheduling.visitor import current_browser, is_own_computer
from viz_app.state import session
from viz_app.text import Texts
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.model_picker import select_model

_REFUSED = "open_model_refused"  # why the last click led to nothing
_FOLDER, _SOURCE, _TARGET = "open-model-folder", "open-model-source", "open-model-target"
_MAX_LANGUAGE = 20  # characters of the name of a language
_SECONDS = 1.0  # between two looks at how far it is


def draw_open_model(t: Texts) -> None:
    """Draw the section."""
    st.header(t("open_model.title"))
    root = _root()
    if root is None:
        st.caption(t("open_model.not_allowed"))
        return
    st.markdown(t("open_model.about"))
    store = opened_models()
    if store.opening is not None and not store.opening.is_over:
        _follow(t)
    else:
        _draw_choice(t, root)
        _draw_outcome(t, _own_opening())
    _draw_opened(t)


def _root() -> Path | None:
    """Return the folder from which this visitor may open models; None if the visitor may open none."""
    return allowed_root(st.get_option("server.address"), st.context.headers)


def _owner() -> str:
    """Return the owner of the models that this visitor opens: the session where the browser keeps no cookies."""
    return current_browser() or session.session_id()


def _may_end(name: str) -> bool:
    """Return whether this visitor may stop or remove a model: its owner, and the server's own computer."""
    return opened_models().owner_of(name) == _owner() or is_own_computer()


def _own_opening() -> Opening | None:
    return opening if (opening := opened_models().opening) and _may_end(opening.name) else None


def _draw_choice(t: Texts, root: Path) -> None:
    served = {folder.resolve() for folder in available_models().values()}
    folders = [name for name, folder in model_folders(root).items() if folder.resolve() not in served]
    path = escape_markdown(root.name or str(root))
    with st.container(horizontal=True):
        for key, label in ((_SOURCE, "source"), (_TARGET, "target")):
            about = t("open_model.language_help")
            st.text_input(t(f"open_model.{label}"), key=key, max_chars=_MAX_LANGUAGE, help=about, autocomplete="off")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if folders:
            st.selectbox(t("open_model.folder"), folders, key=_FOLDER, help=t("open_model.folder_help", root=path))
            st.button(t("open_model.open"), key="open-model", on_click=session.enqueue_callback(_open_folder))
    if not folders:
        st.caption(t("open_model.no_folders", root=path))


def _languages() -> tuple[str, str]:
    source, target = (str(st.session_state.get(key) or "").strip() for key in (_SOURCE, _TARGET))
    return source, target


def _open_folder() -> None:
    """For `enqueue_callback`: open the chosen folder. Its name is looked up, and never taken for a path."""
    root, name = _root(), st.session_state.get(_FOLDER)
    folder = model_folders(root).get(name) if root is not None and isinstance(name, str) else None
    st.session_state[_REFUSED] = None
    try:
        if folder is None:
            raise OpenError("not_allowed")
        opened_models().open_folder(folder.name, folder, *_languages(), _owner())
    except OpenError as error:
        st.session_state[_REFUSED] = error


@st.fragment(run_every=_SECONDS)
def _follow(t: Texts) -> None:
    """Draw the progress, and a button to stop for its owner."""
    opening = opened_models().opening
    if opening is None or opening.is_over:
        st.rerun()  # the whole page, whose list of models has changed
    assert opening is not None
    share = round(100 * opening.share)
    text = t(f"open_model.step_{opening.state}", name=escape_markdown(opening.name), share=share)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(opening.share, text)
        why = None if _own_opening() else t("open_model.not_yours")
        st.button(t("open_model.stop"), key="open-model-stop", on_click=_stop, disabled=bool(why), help=why)


def _stop() -> None:
    if _own_opening() is not None:
        opened_models().stop()


def _draw_outcome(t: Texts, opening: Opening | None) -> None:
    refused: OpenError | None = st.session_state.get(_REFUSED)
    if opening is not None and opening.state == "failed":
        refused = OpenError(opening.problem, **opening.values)
    if refused is not None:
        st.error(_problem(t, refused), icon=":material/error:")
    elif opening is not None:
        st.success(t("open_model.step_done", name=escape_markdown(opening.name)), icon=":material/check:")
    else:
        return
    st.button(t("open_model.dismiss"), key="open-model-dismiss", on_click=session.enqueue_callback(_dismiss))


def _problem(t: Texts, error: OpenError) -> str:
    values = {key: escape_markdown(value) for key, value in error.values.items()}
    return t(f"open_model.problem_{error.problem}", **values)


def _dismiss() -> None:
    st.session_state[_REFUSED] = None
    if _own_opening() is not None:
        opened_models().dismiss()


def _draw_opened(t: Texts) -> None:
    reports, checkpoints = opened_models().models, opened_by_visitors()
    if not reports:
        return
    st.subheader(t("open_model.opened"))
    newest = list(reports)[-1]
    for name, report in reports.items():
        with st.expander(escape_markdown(name), expanded=name == newest):
            _draw_report(t, report)
            with st.container(horizontal=True):
                if name in checkpoints:
                    use = session.enqueue_callback(select_model, checkpoints[name])
                    st.button(t("open_model.use", name=escape_markdown(name)), key=f"use-{name}", on_click=use)
                remove = session.enqueue_callback(_remove, name)
                why = None if _may_end(name) else t("open_model.not_yours")
                label = t("open_model.remove", name=escape_markdown(name))
                st.button(label, key=f"remove-{name}", on_click=remove, disabled=bool(why), help=why)


def _remove(name: str) -> None:
    if not _may_end(name):
        return
    checkpoint = opened_by_visitors().get(name)
    if checkpoint is not None:
        forget_model(checkpoint)
    opened_models().remove(name)
    _dismiss()


def _memory(t: Texts, report: Report) -> str:
    """Return memory on disk and in use: processes share the float16 weights of a large model, its mapped files."""
    shared = report.parameters >= LARGE_MODEL
    key, width = ("memory_shared", 2) if shared else ("memory_each", 4)
    return t(f"open_model.{key}", disk=megabytes(report.bytes), memory=megabytes(width * report.parameters))


def _draw_report(t: Texts, report: Report) -> None:
    options = report.options
    size = {"parameters": f"{report.parameters:,}", "layers": options["num_layers"], "heads": options["num_heads"]}
    spoken = Languages(report.source_language, report.target_language)
    pair = display_name(t, "", spoken) or t("open_model.languages_unknown")
    if report.languages:
        pair = t("open_model.languages_many", pair=pair, count=report.languages)
    rows = {
        t("open_model.taken_for"): report.family or t("open_model.own"),
        t("open_model.size"): t("open_model.size_value", **size, d_model=options["d_model"]),
        t("open_model.memory"): _memory(t, report),
        t("open_model.languages"): pair,
        t("open_model.licence"): report.licence or t("open_model.licence_none"),
        t("open_model.tokenizer"): t(
            "open_model.tokenizer_value", scheme=report.tokens, count=f"{options['vocab_size']:,}"
        ),
        t("open_model.quality"): t("open_model.quality_some" if report.measured else "open_model.quality_none"),
    }
    st.table({t("model.property"): list(rows), t("model.value"): [escape_markdown(text) for text in rows.values()]})
    for note in report.notes:
        st.caption(escape_markdown(note))
    departures = options_beyond_paper(options)
    st.markdown(f"**{t('open_model.options')}**")
    if not departures:
        st.caption(t("open_model.options_none"))
        return
    lines = []
    for each in departures:
        values = {"name": each.name, "here": escape_markdown(each.value), "paper": escape_markdown(each.paper)}
        lines.append(f"* {t('open_model.option', **values)}  \n  {each.said}".rstrip())
    st.markdown("\n".join(lines))
