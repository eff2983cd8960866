"""Every scene of every lesson can be read: in each size of window, light and dark, in both languages."""

from __future__ import annotations

from itertools import product

import pytest

from tests.browser.conftest import CheckAccessibility, OpenLesson
from tests.browser.scene_layout import off_screen, scenes, unreadable
from viz_app.lessons.catalogue import LESSONS
from viz_app.text import texts

SIZES = [(1280, 720), (1400, 900), (390, 844)]
NAMES = [lesson.name for lesson in LESSONS]
MATRIX = list(product(NAMES, SIZES, [False, True], ["en", "ko"]))
# Three of twelve for each lesson, so that each has every size, both themes and both languages.
COVERING = [
    (name, size, bool((number + place) % 2), ["en", "ko"][(number + place) // 2 % 2])
    for number, name in enumerate(NAMES)
    for place, size in enumerate(SIZES)
]
OTHERS = [each for each in MATRIX if each not in COVERING]


def problems(
    open_lesson: OpenLesson, name: str, size: tuple[int, int], dark: bool, language: str
) -> dict[str, list[str]]:
    """What cannot be read, by scene; in windows for a class also in the presenter's view."""
    width, height = size
    lesson = open_lesson(name, width=width, height=height, dark=dark, lang=language)
    found = {scene: unreadable(lesson, scene) for scene in scenes(lesson)}
    if width > 1000:
        lesson.click(texts(language)("lesson.present"))
        found |= {f"{scene}, presented": off_screen(lesson, scene) for scene in scenes(lesson)}
    return {scene: what for scene, what in found.items() if what}


def test_a_few_views_cover_every_choice() -> None:
    for name in NAMES:
        mine = [each[1:] for each in COVERING if each[0] == name]
        assert {size for size, _, _ in mine} == set(SIZES)
        assert {dark for _, dark, _ in mine} == {False, True} and {language for *_, language in mine} == {"en", "ko"}


@pytest.mark.parametrize(("name", "size", "dark", "language"), COVERING)
def test_every_scene_can_be_read(
    open_lesson: OpenLesson, name: str, size: tuple[int, int], dark: bool, language: str
) -> None:
    assert problems(open_lesson, name, size, dark, language) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size", "dark", "language"), OTHERS)
def test_every_scene_can_be_read_in_all_other_views(
    open_lesson: OpenLesson,
    check_accessibility: CheckAccessibility,
    name: str,
    size: tuple[int, int],
    dark: bool,
    language: str,
) -> None:
    assert problems(open_lesson, name, size, dark, language) == {}
    check_accessibility(open_lesson(name, width=size[0], height=size[1], dark=dark, lang=language).page)


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
