"""Class line on every page: this screen leads the class, or follows the teacher."""

from __future__ import annotations

import streamlit as st

from viz_app.classroom.questions import lesson_question
from viz_app.lessons.lesson_markdown import Scene
from viz_app.serving.classes.polls import Question
from viz_app.state import session
from viz_app.text import Texts
from viz_app.ui.classroom.class_membership import (
    ask,
    followed_class,
    is_following_teacher,
    is_leading,
    leave_class,
    set_following_teacher,
    set_leading,
    taught_class,
)


def draw_class_line(t: Texts) -> None:
    """Draw a line above the page with the way out, for a leading or following screen only."""
    if is_leading():
        _line(t("classroom.leading"), (t("classroom.stop_leading"), session.enqueue_callback(set_leading, False)))
        return
    code = followed_class()
    if code is None or code == taught_class():
        return
    if is_following_teacher():
        let_go = session.enqueue_callback(set_following_teacher, False)
        _line(t("classroom.following", code=code), (t("classroom.let_go"), let_go))
    else:
        again = session.enqueue_callback(set_following_teacher, True)
        leave = session.enqueue_callback(leave_class)
        _line(
            t("classroom.not_following", code=code), (t("classroom.follow_again"), again), (t("classroom.leave"), leave)
        )


def _line(sentence: str, *buttons: tuple[str, object]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="class-line"):
        st.markdown(f":material/groups: {sentence}", width="content")
        for number, (label, act) in enumerate(buttons):
            st.button(label, key=f"class-line-{number}", type="tertiary", on_click=act)  # type: ignore[arg-type]


def draw_ask_scene(t: Texts, lesson: str, scene: Scene) -> None:
    """Draw a button that asks the class the question of a scene, if it has choices."""
    question = lesson_question(lesson, scene)
    if question is not None:
        draw_ask(t, question)


def draw_ask(t: Texts, question: Question | None) -> None:
    """Draw a button that asks the class; without a question its help names what is missing."""
    st.button(
        t("classroom.ask_class"),
        key="ask-class",
        icon=":material/groups:",
        type="tertiary",
        disabled=question is None,
        help=t("classroom.pin_first") if question is None else None,
        on_click=session.enqueue_callback(ask, question),
    )
