"""Every lesson, every scene: it paints, says something, fits a phone, and has nothing that axe finds."""

from __future__ import annotations

import pytest

from tests.browser.conftest import CheckAccessibility, OpenLesson, OpenPage
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import STAGES
from viz_app.text import texts

# Lessons without a browser test of their own; of the others the slow run sees every scene on a phone.
ALONE = ("why",)
NAMES = [pytest.param(name, marks=[] if name in ALONE else [pytest.mark.slow]) for name in STAGES]


@pytest.mark.parametrize("name", NAMES)
def test_every_scene_paints_in_korean_on_a_phone(
    name: str, open_lesson: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    lesson = open_lesson(name, lang="ko", width=390, height=844, dark=True)
    scenes = load_lesson(name, "ko").scenes
    for number, scene in enumerate(scenes):
        lesson.wait(f"lesson.name === '{scene.name}'")
        lesson.painted()
        lesson.wait("lesson.readout.textContent.trim()")
        assert lesson.page.evaluate("document.documentElement.scrollWidth") <= 390, f"{scene.name} sticks out"
        if number + 1 < len(scenes):
            lesson.page.keyboard.press("PageDown")
    check_accessibility(lesson.page)


def test_clicks_count_after_the_clock_was_set_back(open_page: OpenPage, app_url: str) -> None:
    page = open_page(f"{app_url}/lessons?lang=en")
    for name in ("why", "masks"):
        page.locator(".index button.stop").filter(has_text=load_lesson(name, "en").title).click()
        page.locator(".lesson canvas").wait_for()
        page.wait_for_url(f"**lesson={name}**")
        page.get_by_role("button", name=texts("en")("lessons.all")).click()
        page.locator(".index button.stop").first.wait_for()
        page.evaluate("const now = Date.now; Date.now = () => now() - 86400000")
