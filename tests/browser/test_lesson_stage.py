"""The stage of the lessons: playing, stepping, scenes, the table, the presenter's view, the address."""

from __future__ import annotations

import math
from urllib.parse import parse_qs, urlsplit

from tests.browser.app_driver import wait_for_params
from tests.browser.conftest import CheckAccessibility, OpenLesson
from viz_app.lessons.stage.state import settings_from_param, settings_to_param
from viz_app.text import LANGUAGES, texts

T = texts("en")


def test_a_lesson_plays_steps_and_keeps_its_place(
    open_lesson: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    lesson = open_lesson("positions", "clocks", settings="at:4", still=False)
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
    wait_for_params(page, **{"with": f"at:{whole},k:2"})
    for place, key, step in ((".play", "ArrowRight", 1), (".playhead input", "ArrowLeft", 0)):
        lesson.root.locator(place).focus()
        page.keyboard.press(key)
        assert lesson.settings()["at"] == whole + step, "a whole step, whatever of the stage has the focus"
    # The link is of what is on the screen, also before Python sets the address bar.
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    lesson.get("(lesson.set({ at: 7.5 }), lesson.tools.copy())")
    link = {name: value for name, (value,) in parse_qs(urlsplit(page.evaluate("window.copied")).query).items()}
    assert (link["scene"], link["lesson"]) == ("clocks", "positions")
    assert settings_from_param(link["with"]) == settings_from_param(settings_to_param(lesson.settings()) or "")
    lesson.get(f"lesson.set({{ at: {whole} }})")

    menu = page.get_by_role("button", name=T("lesson.export"), exact=True)
    items = lesson.root.locator(".export-items button:visible")
    menu.click()
    assert {T("lesson.table"), T("lesson.qr")} < set(items.all_inner_texts())
    box = items.first.bounding_box()
    assert box is not None and box["height"] >= 36
    check_accessibility(page)
    page.keyboard.press("Escape")
    assert items.count() == 0 and lesson.get("lesson.root.getRootNode().activeElement.className") == "tool download"
    lesson.show_table()
    assert items.count() == 0
    box = page.get_by_role("region", name=T("lesson.table")).bounding_box()
    assert box is not None and box["y"] >= 0 and box["y"] + box["height"] <= 720, "it opens in sight"
    assert lesson.get("lesson.root.getRootNode().activeElement.className") == "numbers"
    assert lesson.rows.count() == lesson.get("lesson.scene.table(lesson.settings()).rows.length")
    check_accessibility(page)
    lesson.click(T("lesson.present"))
    box = lesson.root.bounding_box()
    assert box is not None and (box["x"], box["y"], box["width"]) == (0, 0, 1280)
    # What Streamlit fades while Python computes gets a stacking context of its own, below its header.
    holder = page.locator(".st-key-lesson-positions")
    holder.evaluate("(element) => { element.style.opacity = 0.33; }")
    assert page.evaluate("document.elementFromPoint(300, 30).closest('.st-key-lesson-positions') !== null")
    holder.evaluate("(element) => { element.style.opacity = ''; }")
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


NAMES_IN_SIGHT = """({ lesson }) => {
    const row = lesson.tabs.element.getBoundingClientRect();
    return lesson.tabs.buttons.filter((button) => {
        const { left, right, width } = button.querySelector(".tab-title").getBoundingClientRect();
        return width && left >= row.left - 1 && right <= row.right + 1;
    }).length;
}"""


def test_the_tabs_of_many_scenes_stand_in_one_row_and_scroll_on_a_phone(open_lesson_file: OpenLesson) -> None:
    for language in LANGUAGES:
        lesson = open_lesson_file("lab", "depth", lang=language)
        scenes, row = lesson.get("[lesson.lesson.scenes.length, lesson.tabs.element.offsetHeight]")
        assert lesson.root.evaluate(NAMES_IN_SIGHT) == scenes and row < 60
        lesson.click(texts(language)("lesson.present"))
        assert lesson.root.evaluate(NAMES_IN_SIGHT) == scenes
    lesson = open_lesson_file("lab", "off", width=390, height=844)

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
