"""Last stop of a session: the predictions of the class and the exit ticket."""

from __future__ import annotations

import streamlit as st

from viz_app.lessons import Question, load_lesson
from viz_app.lessons.catalogue import LESSONS, QUESTIONS, ROUTE
from viz_app.lessons.exit_ticket import load_exit_ticket
from viz_app.lessons.html import to_html
from viz_app.lessons.lesson_markdown import LessonError
from viz_app.lessons.stage import kept_predictions
from viz_app.state import session
from viz_app.text import Texts
from viz_app.ui.lesson_route import draw_all_lessons, draw_route, open_scene, predictions
from viz_app.ui.lessons.session_handout import draw_session_handouts


def draw_questions(t: Texts) -> None:
    """Draw the page: every question, closed, with a button to the scene that answers it."""
    draw_route(t, QUESTIONS)
    predictions().update(kept_predictions(list(ROUTE)))
    with st.container(key="questions"):
        draw_all_lessons(t)
        st.title(t("index.stop_questions"))
        with st.container(horizontal=True):
            draw_session_handouts(t)
        _draw_exit_ticket(t)
        _draw_predictions(t)


def _draw_exit_ticket(t: Texts) -> None:
    questions = load_exit_ticket(t.language)
    st.header(t("questions.ticket"))
    st.markdown(t("questions.about_ticket"))
    for number, each in enumerate(questions, start=1):
        with st.expander(f"**{number}.** {each.question}"):
            st.markdown(each.answer)
            _draw_way(t, each.lesson, each.scene, f"ticket-{number}")


def _draw_predictions(t: Texts) -> None:
    """Draw the scenes of the route that begin with a question, each with the visitor's first prediction."""
    st.header(t("questions.predictions"))
    st.markdown(t("index.about_questions" if predictions() else "questions.none"))
    for entry in LESSONS:
        if entry.name not in ROUTE:
            continue
        try:
            words = load_lesson(entry.name, t.language)
        except LessonError:  # the index shows the error
            continue
        for scene in words.scenes:
            if scene.question is not None:
                _draw_way(t, entry.name, scene.name, f"predict-{entry.name}-{scene.name}")
                _draw_prediction(t, scene.question, predictions().get((entry.name, scene.name)))


def _draw_prediction(t: Texts, question: Question, number: int | None) -> None:
    """Draw a prediction as right or wrong, with the right answer; nothing where there was none."""
    if number is None or number >= len(question.choices):
        return
    mine, right = question.choices[number], next(each for each in question.choices if each.right)
    answer = "" if mine.right else f"<br>{t('questions.right')} {to_html(['span', {}, right.text])}"
    st.html(f"{'✓' if mine.right else '✗'} {t('questions.yours')} {to_html(['span', {}, mine.text])}{answer}")


def _draw_way(t: Texts, lesson: str, scene: str, key: str) -> None:
    """Draw a button that opens a scene."""
    words = load_lesson(lesson, t.language)
    title = next(each.title for each in words.scenes if each.name == scene)
    st.button(
        f"{words.title}: {title}",
        key=key,
        icon=":material/school:",
        on_click=session.enqueue_callback(open_scene, lesson, scene),
    )
