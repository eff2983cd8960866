"""Context of a lesson, and the link that opens it."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from viz_app.lessons.context import LessonContext
from viz_app.lessons.stage import LessonState
from viz_app.lessons.stage.state import Setting, settings_from_param, settings_to_param

PATIENCE = 10.0


def context_of(translate: Callable[[str, str], str]) -> Any:
    """A context whose model is a function of session and text."""
    service: Any = SimpleNamespace(translate=translate, source_text=str)
    return LessonContext("The dog.", LessonState(), "en", lambda: service, "me")


def test_nobody_waits_for_the_translation_of_another_visitor() -> None:
    answered = threading.Event()

    def slow(*_: str) -> str:
        assert answered.wait(PATIENCE), "the other visitor had to wait"
        return "slow"

    def quick(*_: str) -> str:
        answered.set()
        return "quick"

    rows: list[object] = []
    waiting = threading.Thread(target=lambda: rows.append(context_of(slow).result), daemon=True)
    waiting.start()
    assert context_of(quick).result == "quick"
    waiting.join(PATIENCE)
    assert rows == ["slow"]


def test_a_translation_is_asked_for_once_in_a_run() -> None:
    asked: list[str] = []

    def translate(_: str, text: str) -> str:
        asked.append(text)
        return f"of {text}"

    context = context_of(translate)
    assert context.result == "of The dog." and context.result == "of The dog."
    assert asked == ["The dog."]
    assert dataclasses.replace(context, text="A cat.").result == "of A cat."


SETTINGS: list[dict[str, Setting]] = [
    {},
    {"part": "cos", "at": 5, "mask": True, "shown": False},
    {"rate": 1 / 3, "small": 1.5e-7, "large": 123456789.0, "below": -0.25},
    {"text": "Ich besitze gar keinen Wagen."},
    {"text": "a:b,c=d&e?f#g/h%20i+j"},
    {"text": "it's (really) so*!~_-."},
    {"text": "큰 개 \U0001f600 ü"},
]
LIKE_OTHERS = ("on", "off", "nan", "-inf", "Infinity", "1e5", "1_000", ".5", "+1", "7", "offset", "")
SETTINGS += [{"text": text} for text in LIKE_OTHERS]
HREF = "http://host:8501/headlight/lessons?lesson=why&scene=old&with=at:1&text=A+b&lang=ko"


def test_the_link_of_a_scene_is_read_as_its_state(javascript: Callable[[str], Any]) -> None:
    links = javascript(
        'import { fromAddress, linkTo } from "./lessons/stage/js/address.js";'
        f"const all = {json.dumps(SETTINGS)}.map((settings) => ({{ scene: 'costs', settings }}));"
        f"const links = all.map((state) => linkTo({json.dumps(HREF)}, state));"
        "const written = links.map((link) => new URL(link).searchParams.get('with') ?? '');"
        "console.log(JSON.stringify([links, written.map(fromAddress)]));"
    )
    for settings, link, read in zip(SETTINGS, *links, strict=True):
        params = {name: value for name, (value,) in parse_qs(urlsplit(link).query).items()}
        assert settings_from_param(params.pop("with", "")) == settings_from_param(settings_to_param(settings) or ""), (
            link
        )
        assert read == settings_from_param(settings_to_param(settings) or "")
        assert params == {"lesson": "why", "scene": "costs", "text": "A b", "lang": "ko"}
        assert link.startswith("http://host:8501/headlight/lessons?")
