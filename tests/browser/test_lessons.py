"""Every scene of every lesson: painted, said and readable in each size of window, light and dark, in both languages."""

from __future__ import annotations

from itertools import product

import pytest

from tests.browser.conftest import CheckAccessibility, OpenLesson, OpenPage
from tests.browser.lesson_driver import Lesson
from tests.browser.rest import rest
from tests.browser.scene_layout import off_screen, scenes, unreadable, vector_loss
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LAB, STAGES
from viz_app.text import texts

Sizes = tuple[tuple[int, int], ...]
MAX_LOSS = 0.3  # letters lie a fraction of a pixel apart; a question mark of 40 pixels loses 0.22 by that
WIDE, NARROW = ((1280, 720), (1400, 900)), ((390, 844),)  # windows of a class, which one visit resizes; a phone
# One of eight for each lesson; together they have both kinds of window, both themes and both languages, each with each.
# The slow run sees the other seven, in the larger window for a class, too: the smaller one is harder to fit.
COVERING = [
    (name, [WIDE, NARROW][number % 2], bool(number // 2 % 2), ["en", "ko"][number // 4 % 3 % 2])
    for number, name in enumerate(STAGES)
]
VIEWS = [
    pytest.param(*each, each not in COVERING, marks=[] if each in COVERING else [pytest.mark.slow])
    for each in product(STAGES, [WIDE, NARROW], [False, True], ["en", "ko"])
]


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


def test_a_few_views_cover_every_choice() -> None:
    assert {each[1:] for each in COVERING} == {*product([WIDE, NARROW], [False, True], ["en", "ko"])}
    assert [name for name, *_ in COVERING] == [*STAGES]


@pytest.mark.parametrize(("name", "sizes", "dark", "language", "every"), VIEWS)
def test_every_scene_can_be_read(
    open_lesson: OpenLesson,
    open_lesson_file: OpenLesson,
    check_accessibility: CheckAccessibility,
    name: str,
    sizes: Sizes,
    dark: bool,
    language: str,
    every: bool,
) -> None:
    start = open_lesson if name == LAB else open_lesson_file
    lesson = start(name, width=sizes[0][0], height=sizes[0][1], dark=dark, lang=language)
    if every or name in STAGES[:8]:  # axe sees the same stage in all lessons; these have every look
        check_accessibility(lesson.page)
    assert problems(lesson, sizes, language, every) == {}


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


def test_clicks_count_after_the_clock_was_set_back(open_page: OpenPage, app_url: str) -> None:
    page = open_page(f"{app_url}/lessons?lang=en")
    for name in ("why", "masks"):
        page.locator(".index button.stop").filter(has_text=load_lesson(name, "en").title).click()
        page.locator(".lesson canvas").wait_for()
        page.wait_for_url(f"**lesson={name}**")
        page.get_by_role("button", name=texts("en")("lessons.all")).click()
        page.locator(".index button.stop").first.wait_for()
        page.evaluate("const now = Date.now; Date.now = () => now() - 86400000")
