"""The handout and the pictures of lessons as files, with the commands that make them."""

from __future__ import annotations

import base64
import dataclasses
import io
import re
import shlex
import threading
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

from tests.app.lessons.conftest import Visit
from tests.app.read_html import Document
from tests.app.serving.scheduling.test_request_queue import PATIENCE, wait_until
from transformer_core.cli import main
from transformer_core.translator import Translator
from viz_app.cli import PROGRAM
from viz_app.export import command_for, file_bytes
from viz_app.figures import CurvesFigure
from viz_app.figures.colours.palette import kind_color
from viz_app.lessons import lesson_markdown as parser
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import STAGES
from viz_app.lessons.context import LessonContext
from viz_app.lessons.handout import render_handout
from viz_app.lessons.module import lesson_module
from viz_app.lessons.scene_figure import figure_with_provenance
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue

TEXT = "The dog </p><script>alert(1)</script>"


@pytest.fixture(scope="module")
def context(visit: Visit) -> LessonContext:
    return visit("", "The dog.")


@pytest.fixture
def first(translator: Translator, context: LessonContext) -> LessonContext:
    """A visitor of a service that knows nothing yet."""
    service = TranslationService(translator, RequestQueue(1))
    return dataclasses.replace(context, load=lambda: service)


def test_a_handout_holds_every_scene_and_nothing_from_elsewhere(context: LessonContext, language: str) -> None:
    context = dataclasses.replace(context, language=language, text=TEXT)
    seen = Document(render_handout("positions", context).decode())
    assert "script" not in seen.tags and "math" in seen.tags
    assert TEXT in seen.text
    assert all(address.startswith("data:") for address in seen.addresses) and seen.addresses
    for scene in load_lesson("positions", language).scenes:
        assert scene.title in seen.text


def test_a_handout_asks_nobody_to_press_anything(context: LessonContext) -> None:
    asked = "# T\nS.\n\n## a: A\nsection: 1\n\nTwo heads. [[Press **any** tile.]] Few have a name."
    assert parser.parse(asked, "a", "en").scenes[0].prose == [
        ["p", {}, ["Two heads. Press ", ["strong", {}, ["any"]], " tile. Few have a name."]]
    ]
    on_paper = parser.parse(asked, "a", "en", on_paper=True)
    assert on_paper.scenes[0].prose == [["p", {}, ["Two heads. Few have a name."]]]
    context = dataclasses.replace(context, text="The dog.")
    assert "Change any" not in Document(render_handout("dot_product", context).decode()).text
    assert any("Change any" in str(scene.prose) for scene in load_lesson("dot_product", "en").scenes)


# What only somebody at a screen can do, and what only a screen shows.
_FOR_THE_SCREEN = {
    "en": r"\b(press|drag|click|tap|hover|pin up|play, or|arrow keys|step through|stop anywhere|the line below)\b",
    "ko": r"누르|눌러|끌면|끌어|클릭|재생하거나|화살표|커서|고정해|멈춰|아래 줄|써 보세요|넣어 보세요|바꿔",
}


@pytest.mark.parametrize("name", STAGES)
def test_no_handout_speaks_of_the_screen(name: str, language: str) -> None:
    words = load_lesson(name, language, on_paper=True)
    for text in (words.summary, *(str(scene.prose) for scene in words.scenes)):
        assert not re.search(_FOR_THE_SCREEN[language], text, re.IGNORECASE), text
    assert all(scene.prose for scene in words.scenes)


def test_a_handout_brings_the_font_of_its_words(context: LessonContext) -> None:
    """A computer without Korean fonts prints it: every character is in a font that lies in the file."""
    page = render_handout("positions", dataclasses.replace(context, language="ko")).decode()
    families = re.search(r"body\{font-family:(.+?),sans-serif\}", page)
    fonts = re.findall(r"@font-face\{font-family:('.+?');src:url\(data:font/woff;base64,(.+?)\)", page)
    assert families is not None and set(families[1].split(", ")) >= {name for name, _ in fonts}
    covered: set[int] = set()
    for _, data in fonts:
        with TTFont(io.BytesIO(base64.b64decode(data))) as font:
            covered |= set(font.getBestCmap())
    letters = {character for character in Document(page.partition("</style>")[2]).text if not character.isspace()}
    assert any("가" <= letter <= "힣" for letter in letters)
    assert {ord(letter) for letter in letters if letter.isascii() or "가" <= letter <= "힣"} <= covered


@pytest.mark.parametrize(("lesson", "scene"), [("dot_product", "projections"), ("heads", "cause")])
def test_scenes_with_numbers_of_their_own_have_a_figure_for_print(
    lesson: str, scene: str, context: LessonContext
) -> None:
    cases: list[dict[str, float | str | bool]] = [{}, {"kind": "cross", "row": 99}]
    for settings in cases:
        placed = dataclasses.replace(context, state=LessonState(scene, settings))
        drawn = figure_with_provenance(lesson, placed)
        assert drawn is not None and file_bytes(drawn, "svg").startswith(b"<?xml")


def test_the_ways_to_compare_have_the_colours_of_the_screen(context: LessonContext) -> None:
    drawn = lesson_module("dot_product").figure("scale", context)
    assert isinstance(drawn, CurvesFigure)
    shown = dict(zip((series.label for series in drawn.series), drawn.colors, strict=True))
    script = (parser.FOLDER / "dot_product" / "js" / "scale.js").read_text(encoding="utf-8")
    on_screen = dict(re.findall(r"(unscaled|scaled|additive): theme\.kinds\.(\w+)", script))
    assert len(on_screen) == 3
    assert shown == {
        context.t(f"lesson_dot_product.{way}"): kind_color(kind, "light") for way, kind in on_screen.items()
    }


def test_a_handout_leaves_the_page_its_turn(first: LessonContext) -> None:
    gate = first.service.queue
    with gate.ticket(first.session) as page:
        assert render_handout("architecture", first)
        assert not page.cancelled


def test_the_page_leaves_a_handout_its_turn(first: LessonContext) -> None:
    gate, made = first.service.queue, []
    with gate.ticket("somebody else") as busy, gate.slot(busy):
        thread = threading.Thread(target=lambda: made.append(render_handout("architecture", first)), daemon=True)
        thread.start()
        wait_until(lambda: gate.waiting == 1)
        with gate.ticket(first.session):  # the visitor goes on to another scene
            pass
    thread.join(PATIENCE)
    assert made == [render_handout("architecture", first)]


def test_answers_stand_on_a_page_of_their_own(context: LessonContext, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "# T\nS.\n\n## predict: P\nsection: 1\n\nQ?\n\n- [ ] no\n- [x] yes\n\n### answer\nBecause."
    words = parser.parse(asked, "positions", "en")
    monkeypatch.setattr("viz_app.lessons.handout.load_lesson", lambda name, language, on_paper: words)
    question, _, answers = render_handout("positions", context).decode().partition('class="answers"')
    assert "yes" in question and "Because." not in question
    assert "Because." in answers and "yes" in answers and "no<" not in answers


@pytest.mark.parametrize("name", STAGES)
def test_the_first_picture_is_made_again_by_its_command(
    name: str, context: LessonContext, random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for scene in load_lesson(name, "en").scenes:
        placed = dataclasses.replace(context, state=LessonState(scene.name))
        drawn = figure_with_provenance(name, placed)
        if drawn is None:
            continue
        words = shlex.split(command_for(drawn, format="svg"))
        assert words[:4] == ["python", "-m", "viz_app", "lesson"]
        monkeypatch.chdir(random_checkpoint.parent)
        assert main([*words[3:-1], f"--out={tmp_path / 'a.svg'}"], PROGRAM) == 0
        assert (tmp_path / "a.svg").read_bytes() == file_bytes(drawn, "svg")
        return


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--lesson=nothing", "--out=a.html"], "--lesson is 'nothing', but must be one of "),
        (["--lesson=positions", "--out=a.pdf"], "a handout is an .html file"),
        (["--lesson=positions", "--scene=no", "--out=a.pdf"], "--scene is 'no', but must be one of waves"),
        (["--lesson=positions", "--scene=waves", "--out=a.doc"], "--out is 'a.doc', but must end with one of"),
        (["--lesson=positions", "--text=한국어", "--out=a.html"], "must be a sentence that the model can read"),
    ],
)
def test_bad_options_get_one_line(
    options: list[str], message: str, random_checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lesson", f"--checkpoint={random_checkpoint}", *options], PROGRAM) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
