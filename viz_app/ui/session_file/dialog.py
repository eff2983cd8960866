"""Dialog that saves and opens session files, its button in the frame, and a report on the opened file."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import streamlit as st

from viz_app.components.events import answered
from viz_app.components.file_picker import PickedFile, file_picker
from viz_app.serving.models.registry import display_names
from viz_app.state import session
from viz_app.state.session_file import FILE_NAME, MAX_BYTES
from viz_app.state.session_reader import ReadSession, SessionFileError, read_session, write_session
from viz_app.text import Texts
from viz_app.ui.downloads import in_turn
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.session_file.opening import OpenedSessionFile, open_session_file
from viz_app.ui.session_file.snapshot import take_snapshot

_PICKER = "session-file"
_OPENED = "session_opened"  # the opened file, until the visitor has read the report


def draw_session_file_button(t: Texts, page: str, pages: Collection[str]) -> None:
    """Draw the button in the frame, on every page; `pages` are the names of all pages."""
    show = session.enqueue_callback(_draw_dialog, t, page, pages)
    st.button(t("session.menu"), key="open-session", icon=":material/save:", type="tertiary", on_click=show)


def draw_opened(t: Texts, page: str) -> None:
    """Draw a report on the opened file above the page; notes stay until the visitor has read them."""
    opened: OpenedSessionFile | None = st.session_state.get(_OPENED)
    if opened is None or (page != opened.page and not opened.notes):
        st.session_state[_OPENED] = None
        return
    names, lines = display_names(t), [_summary(t, opened)]
    for name, values in opened.notes:
        shown = {key: escape_markdown(names.get(value, value)) for key, value in values.items()}
        lines.append(t(f"session.note_{name}", **shown))
    with st.container(horizontal=True, vertical_alignment="center", key="session-opened"):
        # Screen readers tell both as soon as they are there.
        if opened.notes:
            st.warning("\n\n".join(lines), icon=":material/folder_open:", width="stretch")
        else:
            st.info(lines[0], icon=":material/folder_open:", width="stretch")
        st.button(t("session.read"), key="session-read", on_click=session.enqueue_callback(_forget_opened))


def _forget_opened() -> None:
    st.session_state[_OPENED] = None


def _summary(t: Texts, opened: OpenedSessionFile) -> str:
    counts = {"lessons": opened.lessons, "findings": opened.findings, "figures": opened.figures, "polls": opened.polls}
    parts = [t(f"session.count_{name}", count=count) for name, count in counts.items() if count]
    return t("session.opened_with", parts=", ".join(parts)) if parts else t("session.opened")


def _draw_dialog(t: Texts, page: str, pages: Collection[str]) -> None:
    """For `session.enqueue_callback`: open the dialog."""

    def body() -> None:
        st.markdown(t("session.about"))
        _draw_save(t, page)
        st.caption(t("session.not_saved"))
        st.divider()
        st.markdown(t("session.about_open"))
        picked = file_picker(t("session.open"), key=_PICKER, most_bytes=MAX_BYTES, accept=".json,application/json")
        if picked is not None:
            _take(t, picked, pages)

    st.dialog(t("session.title"))(body)()


def _draw_save(t: Texts, page: str) -> None:
    try:
        data = write_session(take_snapshot(page))
    except SessionFileError as error:
        st.error(_problem(t, error), icon=":material/error:")
        return
    st.download_button(
        t("session.save"),
        data=in_turn(partial(bytes, data)),
        file_name=FILE_NAME,
        mime="application/json",
        key="save-session",
        type="primary",
        on_click="ignore",
        icon=":material/download:",
    )


def _take(t: Texts, picked: PickedFile, pages: Collection[str]) -> None:
    """Read the file, and let the next run open it; or show its problem, and change nothing."""
    try:
        if picked.text is None:
            raise SessionFileError("size" if picked.is_large else "json")
        read = read_session(picked.text)
    except SessionFileError as error:
        st.error(_problem(t, error), icon=":material/error:")
        return
    session.enqueue_callback(open_read, read, pages)()
    answered(_PICKER, picked.number)
    st.rerun()


def open_read(read: ReadSession, pages: Collection[str]) -> None:
    """For `enqueue_callback`: open a file that was read."""
    st.session_state[_OPENED] = open_session_file(read, pages)


def _problem(t: Texts, error: SessionFileError) -> str:
    return t(f"session.problem_{error.problem}", place=error.place or "$", most=f"{MAX_BYTES // 1000}")
