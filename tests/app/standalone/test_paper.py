"""Handouts as files: their fonts, their sentence, their turn at the model, and the command that writes them."""

from __future__ import annotations

import base64
import dataclasses
import io
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

from tests.app.read_html import Page
from tests.app.serving.scheduling.test_request_queue import PATIENCE, wait_until
from transformer_core.translator import Translator
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSONS
from viz_app.lessons.context import LessonContext
from viz_app.lessons.labels import labels
from viz_app.lessons.session_sheets import STOPS
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.standalone.lessons import render_lesson
from viz_app.standalone.paper import render_sheet

TEXT = "The dog </p><script>alert(1)</script>"


@pytest.fixture
def context(translator: Translator) -> LessonContext:
    """A visitor of a service that knows nothing yet."""
    service = TranslationService(translator, RequestQueue(1))
    return LessonContext(TEXT, LessonState(), "en", lambda: service, "test")


def test_the_sheet_of_the_class_has_its_lessons_and_lets_others_in(
    context: LessonContext, run: Callable[..., int], tmp_path: Path
) -> None:
    """It is what the command writes."""
    turns: list[str] = []

    @contextmanager
    def turn() -> Iterator[None]:
        turns.append("turn")
        yield

    sheet = render_sheet("class", context, turn)
    seen = Page(sheet.decode())
    assert f"sentence: {TEXT}" in seen.text and "<script>alert" not in sheet.decode()
    assert len(turns) == sum(len(load_lesson(name, "en").scenes) for name in STOPS)
    for name in STOPS:
        assert f'id="lesson_{name}"' in sheet.decode()
    assert run("page", "--lesson=session", f"--text={TEXT}", f"--out={tmp_path / 'a.html'}") == 0
    assert (tmp_path / "a.html").read_bytes() == sheet


def test_sheets_without_figures_hold_no_code(context: LessonContext, run: Callable[..., int], tmp_path: Path) -> None:
    """The command writes the sheet that it names."""
    context, out = dataclasses.replace(context, language="ko"), tmp_path / "a.html"
    for sheet in ("brief", "teacher"):
        seen = Page(render_sheet(sheet, context).decode())
        assert "script" not in seen.names and "math" in seen.names and TEXT not in seen.text
    options = ["--lesson=session", f"--text={TEXT}", "--sheet=teacher", "--language=ko"]
    assert run("page", *options, f"--out={out}") == 0
    assert out.read_bytes() == render_sheet("teacher", context)


def test_a_page_brings_the_font_of_its_words(context: LessonContext) -> None:
    """A computer without Korean fonts shows and prints it: each letter is in a font that lies in the file."""
    page = render_lesson("positions", dataclasses.replace(context, language="ko")).decode()
    assert '--st-font: "Headlight Sans"' in page
    fonts = dict(re.findall(r'font-family: "(.+?)".*? src: url\(data:font/woff2;base64,(.+?)\)', page))
    assert fonts.keys() == {"Headlight Sans", "STIX Two Math"}
    with TTFont(io.BytesIO(base64.b64decode(fonts["Headlight Sans"]))) as font:
        covered = set(font.getBestCmap())
        assert (font["fvar"].axes[0].minValue, font["fvar"].axes[0].maxValue) == (45, 930)
    with TTFont(io.BytesIO(base64.b64decode(fonts["STIX Two Math"]))) as font:
        assert _letters([scene.math for entry in LESSONS for scene in load_lesson(entry.name, "en").scenes]) <= set(
            font.getBestCmap()
        )
        assert "MATH" in font
    words = Page(page.partition('<article class="paper">')[2].partition("</article>")[0]).text
    drawn = "".join(labels("ko").table("lesson_positions").values())
    letters = {character for character in words + drawn if not character.isspace()}
    assert any("가" <= letter <= "힣" for letter in letters)
    assert {ord(letter) for letter in letters if letter.isascii() or "가" <= letter <= "힣"} <= covered


def _letters(formula: Any) -> set[int]:
    """Character numbers of a formula; a letter alone is drawn as that of mathematics, in italics."""
    if isinstance(formula, list | tuple):
        return {letter for part in formula for letter in _letters(part)}
    if not isinstance(formula, str):
        return set()
    italics = {0x1D434 + ord(letter) - ord("A") for letter in formula if "A" <= letter <= "Z"}
    italics |= {0x1D44E + ord(letter) - ord("a") for letter in formula if "a" <= letter <= "z" and letter != "h"}
    return {ord(letter) for letter in formula if not letter.isspace()} | italics


def test_the_open_scene_keeps_its_settings(context: LessonContext) -> None:
    placed = dataclasses.replace(context, state=LessonState("waves", {"at": 3.0}))
    assert render_lesson("positions", placed) != render_lesson("positions", context)


def test_a_handout_leaves_the_page_its_turn(context: LessonContext) -> None:
    gate = context.service.queue
    with gate.ticket(context.session) as page:
        assert render_lesson("architecture", context)
        assert not page.cancelled


def test_the_page_leaves_a_handout_its_turn(context: LessonContext) -> None:
    gate, made = context.service.queue, []
    with gate.ticket("somebody else") as busy, gate.slot(busy):
        thread = threading.Thread(target=lambda: made.append(render_lesson("architecture", context)), daemon=True)
        thread.start()
        wait_until(lambda: gate.waiting == 1)
        with gate.ticket(context.session):  # the visitor goes on to another scene
            pass
    thread.join(PATIENCE)
    assert made == [render_lesson("architecture", context)]
