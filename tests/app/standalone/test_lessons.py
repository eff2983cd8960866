"""Lessons as pages: the payload of each state is the one that Python would have sent."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.app.standalone.test_sentences import blocks
from viz_app.components.buffer import split_buffer
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSONS
from viz_app.lessons.context import LessonContext
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage import LessonState, pack
from viz_app.serving.models.translation_service import TranslationService
from viz_app.standalone import document
from viz_app.standalone.lessons import render_lesson


@pytest.fixture(scope="module")
def context(service: TranslationService) -> LessonContext:
    return LessonContext("The dog ran home.", LessonState(), "en", lambda: service, "page")


def values_of(lesson: Mapping[str, Any], key: str) -> dict[str, Any]:
    texts = lesson["values"]
    return {name: json.loads(texts[number]) for name, number in lesson["states"][key]["values"].items()}


@pytest.mark.parametrize(
    ("name", "scene", "settings", "key"),
    [
        ("positions", "swap", {"first": 2.0, "second": 0.0}, "swap 2,0"),
        ("positions", "waves", {}, "waves"),
        ("subwords", "batches", {"budget": 160.0}, "batches 160"),
        ("masks", "", {}, None),
    ],
)
def test_a_state_has_what_python_would_send(
    name: str, scene: str, settings: dict[str, float], key: str | None, context: LessonContext
) -> None:
    data = blocks(render_lesson(name, context))
    lesson = json.loads(data["lesson"])
    own = lesson["states"][(key or next(iter(lesson["states"]))).replace(",", " ")]
    numbers = lesson_module(name).data(dataclasses.replace(context, state=LessonState(scene, settings)))
    payload = pack(
        load_lesson(name, "en"),
        values=numbers.values,
        arrays=numbers.arrays,
        answers=numbers.answers,
        texts={},
        state=LessonState(),
    )
    header, bytes_of = split_buffer(payload)
    assert values_of(lesson, (key or next(iter(lesson["states"]))).replace(",", " ")) == header["values"]
    assert own["answers"] == header["answers"]
    assert own["arrays"].keys() == header["arrays"].keys()
    for array, place in header["arrays"].items():
        sent = own["arrays"][array]
        size = int(np.prod(place["shape"])) * np.dtype(place["type"]).itemsize
        assert (sent["shape"], sent["type"]) == (place["shape"], place["type"])
        assert data[sent["block"]] == bytes(bytes_of[place["offset"] : place["offset"] + size])


def test_a_sentence_of_too_many_words_has_no_pairs(service: TranslationService) -> None:
    long = " ".join(["dog"] * 17)
    context = LessonContext(long, LessonState(), "en", lambda: service, "page")
    assert list(lesson_module("positions").prepared("swap", context)) == []


def test_each_prepared_setting_is_one_that_the_scene_has(context: LessonContext) -> None:
    """All of a scene name the same controls, so that one key tells the states apart."""
    for entry in LESSONS:
        module = lesson_module(entry.name)
        for scene in load_lesson(entry.name, "en").scenes:
            settings = list(module.prepared(scene.name, context))
            assert len({tuple(each) for each in settings}) <= 1
            assert len({tuple(each.values()) for each in settings}) == len(settings)


def test_a_lesson_has_a_bound(context: LessonContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 100)
    with pytest.raises(document.PageTooLarge, match="0 MB"):
        render_lesson("masks", context)
