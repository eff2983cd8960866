"""Every scene of every lesson can be read: in each size of window, light and dark, in both languages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from tests.browser.conftest import CheckAccessibility, OpenLesson
from tests.browser.lesson_driver import Lesson
from tests.browser.rest import rest
from tests.browser.scene_layout import off_screen, scenes, unreadable
from viz_app.lessons.catalogue import STAGES
from viz_app.text import texts

Sizes = tuple[tuple[int, int], ...]
WIDE, NARROW = ((1280, 720), (1400, 900)), ((390, 844),)  # windows of a class, which one visit resizes; a phone
MATRIX = list(product(STAGES, [WIDE, NARROW], [False, True], ["en", "ko"]))
# Two of eight for each lesson, so that each has every size, both themes and both languages.
COVERING = [
    (name, sizes, bool((number + place) % 2), ["en", "ko"][(number // 2 + place) % 2])
    for number, name in enumerate(STAGES)
    for place, sizes in enumerate([WIDE, NARROW])
]
OTHERS = [each for each in MATRIX if each not in COVERING]


def problems(lesson: Lesson, sizes: Sizes, language: str) -> dict[str, list[str]]:
    """What cannot be read, by scene and width; in windows for a class also in the presenter's view."""
    found: dict[str, list[str]] = {}
    for width, _ in resized(lesson, sizes):
        found |= {f"{scene}, {width}": unreadable(lesson, scene) for scene in scenes(lesson)}
    if sizes is WIDE:
        lesson.click(texts(language)("lesson.present"))
        for width, _ in resized(lesson, sizes[::-1]):
            found |= {f"{scene}, {width}, presented": off_screen(lesson, scene) for scene in scenes(lesson)}
    return {scene: what for scene, what in found.items() if what}


def resized(lesson: Lesson, sizes: Sizes) -> Iterator[tuple[int, int]]:
    """The sizes, one after the other, each once the window has it and the stage is laid out for it."""
    for width, height in sizes:
        lesson.page.set_viewport_size({"width": width, "height": height})
        rest(lesson.page)
        yield width, height


def test_a_few_views_cover_every_choice() -> None:
    for name in STAGES:
        mine = [each[1:] for each in COVERING if each[0] == name]
        assert {sizes for sizes, _, _ in mine} == {WIDE, NARROW}
        assert {dark for _, dark, _ in mine} == {False, True} and {language for *_, language in mine} == {"en", "ko"}


@pytest.mark.parametrize(("name", "sizes", "dark", "language"), COVERING)
def test_every_scene_can_be_read(open_lesson: OpenLesson, name: str, sizes: Sizes, dark: bool, language: str) -> None:
    lesson = open_lesson(name, width=sizes[0][0], height=sizes[0][1], dark=dark, lang=language)
    assert problems(lesson, sizes, language) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sizes", "dark", "language"), OTHERS)
def test_every_scene_can_be_read_in_all_other_views(
    open_lesson: OpenLesson,
    check_accessibility: CheckAccessibility,
    name: str,
    sizes: Sizes,
    dark: bool,
    language: str,
) -> None:
    lesson = open_lesson(name, width=sizes[0][0], height=sizes[0][1], dark=dark, lang=language)
    check_accessibility(lesson.page)
    assert problems(lesson, sizes, language) == {}


SABOTAGE = {
    "outside: 'far'": "pen.write('far', pen.width - 5, 40)",
    "cut: 'A label that is much too lo\u2026'": "pen.write('A label that is much too long', 40, 40, { most: 130 })",
    "contrast 1.0: 'pale'": "pen.write('pale', 40, 40, { colour: pen.theme.background })",
}


@pytest.mark.parametrize(("finding", "drawn"), SABOTAGE.items())
def test_a_text_that_cannot_be_read_is_found(open_lesson: OpenLesson, finding: str, drawn: str) -> None:
    lesson = open_lesson("masks", "rows")
    assert unreadable(lesson, "rows") == []
    lesson.get(
        f"""(() => {{
            const scene = lesson.scene, draw = scene.draw;
            scene.draw = function (pen, ...rest) {{ draw.call(this, pen, ...rest); {drawn}; }};
        }})()"""
    )
    assert unreadable(lesson, "rows") == [finding]


@pytest.mark.parametrize(
    ("style", "finding"),
    [
        ("Object.assign(element.style, { position: 'absolute', left: '2000px' })", "controls"),
        ("Object.assign(element.style, { width: '40px', overflow: 'hidden', whiteSpace: 'nowrap' })", "controls"),
    ],
)
def test_a_control_that_cannot_be_read_is_found(open_lesson: OpenLesson, style: str, finding: str) -> None:
    lesson = open_lesson("masks", "rows")
    lesson.get(f"((element) => {style})(lesson.root.querySelector('.readout'))")
    assert unreadable(lesson, "rows") != [], finding
    lesson.click(texts("en")("lesson.present"))
    assert off_screen(lesson, "rows") != []
