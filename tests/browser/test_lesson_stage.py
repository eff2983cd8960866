"""The stage of the lessons: playing, stepping, scenes, the table, the presenter's view, the address."""

from __future__ import annotations

import math
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.app_driver import wait_for_params
from tests.browser.conftest import CheckAccessibility, OpenLesson
from viz_app.lessons.stage.state import settings_from_param, settings_to_param
from viz_app.text import texts

T = texts("en")


def test_a_lesson_plays_steps_and_keeps_its_place(
    open_lesson: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    lesson = open_lesson("positions", "waves", settings="at:4", still=False)
    page = lesson.page
    assert lesson.settings()["at"] == 4
    lesson.painted(0.005)
    lesson.press("ArrowRight")
    assert lesson.settings()["at"] == 5
    page.keyboard.press("Space")
    lesson.wait("lesson.settings().at > 5.3")
    page.keyboard.press("Space")
    at = lesson.settings()["at"]
    page.wait_for_timeout(100)
    assert lesson.settings()["at"] == at
    page.keyboard.press("ArrowLeft")
    whole = math.ceil(at) - 1
    assert lesson.settings()["at"] == whole
    wait_for_params(page, **{"with": f"at:{whole},part:sin"})
    for place, key, step in ((".play", "ArrowRight", 1), (".playhead input", "ArrowLeft", 0)):
        lesson.root.locator(place).focus()
        page.keyboard.press(key)
        assert lesson.settings()["at"] == whole + step, "a whole step, whatever of the stage has the focus"
    lesson.click(T("lesson.table"))
    assert lesson.rows.count() == 16
    check_accessibility(page)
    lesson.click(T("lesson.present"))
    box = lesson.root.bounding_box()
    assert box is not None and (box["x"], box["y"], box["width"]) == (0, 0, 1280)
    frames = []
    for key in ("ArrowLeft", "Tab", "Shift+Tab"):  # the mouse gave the focus, then the keyboard does
        page.keyboard.press(key)
        frames.append(lesson.get("getComputedStyle(lesson.stage.canvas).outlineStyle"))
    assert frames == ["none", "none", "solid"]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    # Typing in the field of the sentence neither plays nor steps.
    field = page.get_by_role("textbox", name=T("translate.input"))
    field.fill("Two dogs are")
    field.press("Space")
    field.press("ArrowLeft")
    assert lesson.settings()["at"] == whole
    lesson.wait("lesson.lesson.values.tokens.length === 4")
    assert lesson.settings()["at"] == whole, "a new sentence leaves the reader where he is"


def test_the_link_is_of_what_is_on_the_screen(open_lesson: OpenLesson) -> None:
    """Python sets the address bar later; while the figure plays it does not."""
    lesson = open_lesson("positions")
    lesson.page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    scene, wanted = lesson.get("(lesson.turn(1), lesson.tools.copy(), [lesson.name, lesson.settings()])")
    link = lesson.page.evaluate("window.copied")
    params = {name: value for name, (value,) in parse_qs(urlsplit(link).query).items()}
    assert (params["scene"], params["lesson"]) == (scene, "positions")
    assert settings_from_param(params["with"]) == settings_from_param(settings_to_param(wanted) or "")


def test_the_table_opens_in_sight_and_the_stage_is_never_behind_the_navigation(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("why", "costs", width=1400, height=900)
    button = lesson.page.get_by_role("button", name=T("lesson.table"), exact=True)
    box = button.bounding_box()
    assert box is not None and box["height"] >= 36
    button.click()
    table = lesson.page.get_by_role("region", name=T("lesson.table"))
    box = table.bounding_box()
    assert box is not None and box["y"] >= 0 and box["y"] + box["height"] <= 900
    assert lesson.get("lesson.root.getRootNode().activeElement.className") == "numbers"
    # What Streamlit fades while Python computes gets a stacking context of its own, below its header.
    lesson.click(T("lesson.present"))
    holder = lesson.page.locator(".st-key-lesson-why")
    holder.evaluate("(element) => { element.style.opacity = 0.33; }")
    on_top = lesson.page.evaluate("document.elementFromPoint(300, 30).closest('.st-key-lesson-why') !== null")
    assert on_top


NAMES_IN_SIGHT = """({ lesson }) => {
    const row = lesson.tabs.element.getBoundingClientRect();
    return lesson.tabs.buttons.filter((button) => {
        const { left, right, width } = button.querySelector(".tab-title").getBoundingClientRect();
        return width && left >= row.left - 1 && right <= row.right + 1;
    }).length;
}"""


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_tabs_of_many_scenes_have_names_in_one_row(open_lesson: OpenLesson, language: str) -> None:
    lesson = open_lesson("lab", "depth", lang=language)
    scenes, row = lesson.get("[lesson.lesson.scenes.length, lesson.tabs.element.offsetHeight]")
    assert lesson.root.evaluate(NAMES_IN_SIGHT) == scenes and row < 60
    lesson.click(texts(language)("lesson.present"))
    assert lesson.root.evaluate(NAMES_IN_SIGHT) == scenes


def test_on_a_phone_the_tabs_scroll_and_show_where_they_go_on(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("lab", "off", width=390, height=844)

    def fades() -> list[bool]:
        style = "lesson.tabs.element.style"
        entry: list[bool] = lesson.get(f"['--before', '--after'].map((end) => {style}.getPropertyValue(end) !== '0px')")
        return entry

    assert lesson.root.evaluate(NAMES_IN_SIGHT) >= 2 and fades() == [False, True]
    for scene, expected in (("depth", [True, True]), ("why", [True, False])):
        lesson.go(scene)
        assert fades() == expected
        button = lesson.page.locator(f".tab[data-scene={scene}]")
        row, box = lesson.page.locator(".tabs").bounding_box(), button.bounding_box()
        assert row and box and box["x"] >= row["x"] and box["x"] + box["width"] <= row["x"] + row["width"]
