"""Every scene of every lesson: painted, said and readable in each size of window, light and dark, in both languages."""

from __future__ import annotations

from itertools import product

import pytest

from tests.browser.conftest import CheckAccessibility, OpenLesson
from tests.browser.lesson_driver import Lesson
from tests.browser.rest import rest
from tests.browser.scene_layout import off_screen, scenes, unreadable, vector_loss
from viz_app.lessons.catalogue import STAGES
from viz_app.text import texts

Sizes = tuple[tuple[int, int], ...]
Look = tuple[Sizes, bool, str]  # windows, whether it is dark, language
MAX_LOSS = 0.3  # letters lie a fraction of a pixel apart; a question mark of 40 pixels loses 0.22 by that
WIDE, NARROW = ((1280, 720), (1400, 900)), ((390, 844),)  # windows of a class, which one visit resizes; a phone
LOOKS: list[Look] = [*product([WIDE, NARROW], [False, True], ["en", "ko"])]
# The look of each lesson; the first eight have all. The slow run sees every lesson in every look, and in the larger
# window for a class too: the smaller one is harder to fit.
COVERING = {name: LOOKS[number % len(LOOKS)] for number, name in enumerate(STAGES)}


def problems(lesson: Lesson, sizes: Sizes, language: str, every: bool) -> dict[str, list[str]]:
    """What cannot be read, by scene and width; in windows for a class also in the presenter's view.

    All sizes are looked at only if `every`, else the first.
    """
    values: dict[str, list[str]] = {}
    names = scenes(lesson)
    looked = sizes if every else sizes[:1]
    for size in looked:
        resize(lesson, *size)
        for scene in names:
            values[f"{scene}, {size}"] = unreadable(lesson, scene, language)
            if size == WIDE[0]:
                values[f"{scene} as SVG"] = lost(lesson)
    if sizes is WIDE:
        lesson.click(texts(language)("lesson.present"))
        for size in looked[::-1]:
            resize(lesson, *size)
            values |= {f"{scene}, {size}, presented": off_screen(lesson, scene) for scene in names}
    return {scene: what for scene, what in values.items() if what}


def lost(lesson: Lesson) -> list[str]:
    """What of the scene that is shown is not in its SVG."""
    loss = vector_loss(lesson)
    return [f"{loss:.0%}"] if loss > MAX_LOSS else []


def resize(lesson: Lesson, width: int, height: int) -> None:
    """Wait until the window has this size and the stage is laid out for it."""
    lesson.page.set_viewport_size({"width": width, "height": height})
    rest(lesson.page)


def test_every_scene_can_be_read(
    open_lesson_file: OpenLesson, check_accessibility: CheckAccessibility, subtests: pytest.Subtests
) -> None:
    assert len(COVERING) >= len(LOOKS), "some look is never seen"
    for number, (name, (sizes, dark, language)) in enumerate(COVERING.items()):
        with subtests.test(name):
            lesson = open_lesson_file(name, width=sizes[0][0], height=sizes[0][1], dark=dark, lang=language)
            if number < len(LOOKS):  # axe sees the same stage in all lessons
                check_accessibility(lesson.page)
            assert problems(lesson, sizes, language, every=False) == {}


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_every_scene_can_be_read_in_every_look(
    open_lesson_file: OpenLesson, check_accessibility: CheckAccessibility, look: Look, subtests: pytest.Subtests
) -> None:
    sizes, dark, language = look
    for name in STAGES:
        with subtests.test(name):
            lesson = open_lesson_file(name, width=sizes[0][0], height=sizes[0][1], dark=dark, lang=language)
            check_accessibility(lesson.page)
            assert problems(lesson, sizes, language, every=True) == {}


SABOTAGE = {
    "outside: 'far'": "pen.write('far', pen.width - 5, 40)",
    "cut: 'A label that is much too lo\u2026'": "pen.write('A label that is much too long', 40, 40, { most: 130 })",
    "contrast 1.0: 'pale'": "pen.write('pale', 40, 40, { colour: pen.theme.background })",
}
STYLES = (
    "Object.assign(element.style, { position: 'absolute', left: '2000px' })",
    "Object.assign(element.style, { position: '', left: '', width: '40px', overflow: 'hidden', whiteSpace: 'nowrap' })",
)


def test_what_cannot_be_read_is_found(open_lesson_file: OpenLesson) -> None:
    lesson = open_lesson_file("masks", "rows")
    assert unreadable(lesson, "rows", "en") == []
    lesson.get("(lesson.scene.drawn = lesson.scene.draw)")
    for finding, drawn in SABOTAGE.items():
        lesson.get(f"(lesson.scene.draw = function (pen, ...rest) {{ this.drawn.call(this, pen, ...rest); {drawn}; }})")
        assert unreadable(lesson, "rows", "en") == [finding]
    lesson.get("(lesson.scene.draw = lesson.scene.drawn)")
    for style in STYLES:
        lesson.get(f"((element) => {style})(lesson.root.querySelector('.readout'))")
        assert unreadable(lesson, "rows", "en") != [], style
        lesson.click(texts("en")("lesson.present"))
        assert off_screen(lesson, "rows") != [], style
        lesson.page.keyboard.press("Escape")
