"""Page Class: the board with the poll and the teacher's next question; for others the entry to a class."""

from __future__ import annotations

from itertools import takewhile
from typing import Literal

import streamlit as st

from viz_app.classroom.board import board
from viz_app.classroom.questions import lesson_questions, own_question, question_title
from viz_app.classroom.results import results_table
from viz_app.components.address import publish
from viz_app.components.share import share_code
from viz_app.serving.classes.classrooms import ClassView, TooManyClasses, is_code
from viz_app.serving.classes.polls import LessonQuestion, Question
from viz_app.serving.scheduling.visitor import current_browser
from viz_app.serving.settings import site_address
from viz_app.state import session
from viz_app.state.selected_model import model_query_param
from viz_app.state.share_link import base_path
from viz_app.text import Texts
from viz_app.ui.classroom.class_membership import (
    PAGE,
    TooManyTries,
    ask,
    class_view,
    end_class,
    needs_teacher_key,
    open_class,
    poll_results,
    set_leading,
    taught_class,
    try_teacher_key,
    waiting_question,
)
from viz_app.ui.classroom.second_server import draw_second_server, may_open
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.lesson_route import open_scene
from viz_app.ui.share_menu import code_data, draw_code, draw_for_home, share_data

_CHOSEN = "class_chosen"  # the question of the list
_OWN_TEXT, _OWN_CHOICES = "class_own_text", "class_own_choices"
_REFUSED = "class_refused"  # name of the sentence that says why something was not done


def main() -> None:
    """Draw the page."""
    t = session.labels()
    view = class_view()
    if refused := st.session_state.pop(_REFUSED, None):
        st.warning(t(f"classroom.{refused}"))
    if view is None:
        _draw_outside(t)
    else:
        _draw_teaching(t, view)
    draw_for_home(t)
    if address := site_address():
        with st.expander(t("classroom.site"), icon=":material/qr_code_2:"):
            share_code(code_data(t, address), key="site-code")
    publish({"lang": t.language, "model": model_query_param()}, language=t.language, page=PAGE)


def _draw_outside(t: Texts) -> None:
    """Draw the page for a browser that teaches no class."""
    st.title(t("nav.classroom"))
    st.markdown(t("classroom.about"))
    if current_browser() is None:
        st.warning(t("classroom.refused_cookie"))
        return
    if (question := waiting_question()) is not None:
        st.info(f"{t('classroom.waits')} {escape_markdown(question_title(question, t))}")
    entry = st.container()  # above the teacher's part: students come with phones
    with st.container(border=True):
        st.subheader(t("classroom.teach"))
        is_private = may_open()
        if is_private and draw_second_server(t):
            return
        if needs_teacher_key():
            st.text_input(t("classroom.key"), key="class_key", type="password", help=t("classroom.key_help"))
        opening = session.enqueue_callback(_open)
        kind: Literal["primary", "secondary"] = "secondary" if is_private else "primary"
        st.button(t("classroom.open"), key="class-open", type=kind, icon=":material/groups:", on_click=opening)
        st.caption(t("classroom.privacy"))
        _draw_results(t)
        if not is_private:
            _draw_needs(t)
    with entry.container(border=True):
        st.subheader(t("classroom.join"))
        typed = st.text_input(t("classroom.code"), key="class_code", max_chars=12, placeholder="K7MQ2P")
        code = (typed or "").strip().upper()
        if is_code(code):
            base = base_path(st.context.url or "", PAGE)
            st.link_button(t("classroom.go"), f"{base}/join/{code}?lang={t.language}", icon=":material/login:")


def _draw_needs(t: Texts) -> None:
    """Draw what students need, and the address that they open, or the command that gives them one."""
    share = share_data(t, PAGE, {}, PAGE)  # each phone has a language of its own
    st.markdown(t("classroom.needs"))
    draw_code(t, share)
    if share["command"]:
        st.caption(t("classroom.needs_server"))
    else:
        st.code(share["url"], language=None, wrap_lines=True)
        st.caption(t("classroom.needs_test"))


def _open() -> None:
    try:
        if needs_teacher_key() and not try_teacher_key(st.session_state.get("class_key") or ""):
            st.session_state[_REFUSED] = "wrong_key"
        else:
            open_class()
    except TooManyTries:
        st.session_state[_REFUSED] = "many_keys"
    except TooManyClasses:
        st.session_state[_REFUSED] = "too_many"


def _draw_teaching(t: Texts, view: ClassView) -> None:
    """Draw the board, and below it the next steps."""
    code = taught_class() or ""
    st.title(t("classroom.page_title", code=code))
    share = share_data(t, PAGE, {}, f"join/{code}")  # each phone has a language of its own
    board(t, code, address=f"{base_path(st.context.url or '', PAGE)}/join/{code}", share=share)
    if may_open():
        draw_second_server(t)
    titles = dict(lesson_questions(t.language))
    following = _after(list(titles), view.question)
    with st.container(horizontal=True, vertical_alignment="bottom", key="class-next"):
        if following is not None:
            label = t("classroom.next" if view.question else "classroom.first", title=titles[following])
            go = session.enqueue_callback(ask, following)
            st.button(label, key="class-ask-next", type="primary", on_click=go)
        if isinstance(view.question, LessonQuestion):
            go = session.enqueue_callback(open_scene, view.question.lesson, view.question.scene)
            st.button(t("classroom.scene"), key="class-scene", icon=":material/school:", on_click=go)
    with st.expander(t("classroom.choose_question"), icon=":material/quiz:", expanded=not view.question):
        _draw_choice(t, titles)
        _draw_own(t)
    with st.container(horizontal=True, vertical_alignment="center", key="class-more"):
        st.toggle(
            t("classroom.lead"),
            value=view.is_led,
            key="class_lead",
            help=t("classroom.lead_help"),
            on_change=session.enqueue_callback(_lead),
        )
        _draw_results(t)
        with st.popover(t("classroom.end"), icon=":material/close:"):
            st.markdown(t("classroom.end_note"))
            st.button(t("classroom.end_now"), key="class-end", on_click=session.enqueue_callback(end_class))


def _lead() -> None:
    set_leading(bool(st.session_state.get("class_lead")))


def _after(questions: list[LessonQuestion], now: Question | None) -> LessonQuestion | None:
    """Return the lessons' question after the present one; the first one after a question of another kind."""
    before = list(takewhile(lambda question: question != now, questions))
    rest = questions[len(before) + 1 :] if len(before) < len(questions) else questions
    return rest[0] if rest else None


def _draw_choice(t: Texts, titles: dict[LessonQuestion, str]) -> None:
    """Draw the choice among all questions of the lessons."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(t("classroom.from_lessons"), list(titles), format_func=titles.__getitem__, key=_CHOSEN)
        asking = session.enqueue_callback(_ask_chosen)
        st.button(t("classroom.ask"), key="class-ask-chosen", on_click=asking)


def _ask_chosen() -> None:
    question = st.session_state.get(_CHOSEN)
    if isinstance(question, LessonQuestion):
        ask(question)


def _draw_own(t: Texts) -> None:
    """Draw the form for the teacher's own question."""
    with st.form("class-own", border=False):
        st.text_input(t("classroom.own_text"), key=_OWN_TEXT, max_chars=300)
        st.text_area(t("classroom.own_choices"), key=_OWN_CHOICES, max_chars=1_000, help=t("classroom.own_help"))
        st.form_submit_button(t("classroom.ask_own"), on_click=session.enqueue_callback(_ask_own))
    st.caption(t("classroom.ask_head"))


def _ask_own() -> None:
    question = own_question(st.session_state.get(_OWN_TEXT) or "", st.session_state.get(_OWN_CHOICES) or "")
    if question is None:
        st.session_state[_REFUSED] = "own_refused"
    else:
        ask(question)


def _draw_results(t: Texts) -> None:
    """Draw the download of the answers of every poll, as a table."""
    results = poll_results()
    if results:
        st.download_button(
            t("classroom.results", polls=len(results)),
            data=results_table(results, t),
            file_name="headlight_class.csv",
            mime="text/csv",
            on_click="ignore",
            icon=":material/download:",
        )


if __name__ == "__main__":
    main()
