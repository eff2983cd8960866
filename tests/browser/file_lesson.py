"""A lesson in a page of the disk, whose numbers are computed by the test as the app does."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

from tests.browser.file_page import Answer
from transformer_core.translator import Translator
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import core_scenes
from viz_app.lessons.context import LessonContext
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage import LessonState, pack, settings_from_param
from viz_app.serving.models.registry import checkpoint_folder
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue


@cache
def service() -> TranslationService:
    """The model that the app serves in these tests."""
    return TranslationService(Translator.load(checkpoint_folder()), RequestQueue(1))


def lesson_data(name: str, scene: str, settings: str, language: str, text: str) -> tuple[bytes, Answer]:
    """Return the payload of a lesson that is opened by a link, and the answers to its reports."""
    words, module = load_lesson(name, language), lesson_module(name)
    start = LessonState.from_report({"scene": scene, "settings": settings_from_param(settings)}) or LessonState()
    text = text or service().first_example
    context = LessonContext(text, start, language, service, f"{name} {language}")
    sent = b""

    def payload(state: LessonState) -> bytes:
        here = dataclasses.replace(context, state=state)
        numbers = module.data(here)
        return pack(
            words,
            values=numbers.values,
            arrays=numbers.arrays,
            answers=numbers.answers,
            texts=here.t.table("lesson") | here.t.table(f"lesson_{name}"),
            state=state,
            onward=None,
            core=core_scenes(name),
        )

    def answer(what: str, value: Any) -> bytes | None:
        nonlocal sent
        state = LessonState.from_report(value) if what == "state" else None
        before, sent = sent, sent if state is None else payload(state)
        return sent if sent != before else None

    sent = payload(start)
    return sent, answer
