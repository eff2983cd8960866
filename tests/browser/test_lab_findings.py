"""Findings of the Lab are pinned beside each other; each leads back to where it was made."""

from __future__ import annotations

from tests.browser.conftest import CheckAccessibility, OpenLesson
from viz_app.text import texts

t = texts("en")


def test_findings_are_pinned_beside_each_other(
    open_lesson: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    lesson = open_lesson("lab", "off")
    lesson.wait("lesson.scene.own")
    lesson.painted(0.01)
    lesson.press("ArrowRight")
    first = lesson.said()
    chosen = lesson.settings()["chosen"]
    cards = lesson.root.locator(".findings figure")
    lesson.click(t("lesson.finding_pin"))
    lesson.press("ArrowRight")
    lesson.click(t("lesson.finding_pin"))
    assert cards.count() == 2
    assert cards.nth(0).locator("figcaption").inner_text() == first != cards.nth(1).locator("figcaption").inner_text()
    ink = "(canvas) => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size"
    assert cards.nth(0).locator("canvas").evaluate(ink) > 10
    check_accessibility(lesson.page)
    link = str(cards.nth(0).get_by_role("link", name=t("lesson.finding_open")).get_attribute("href"))
    cards.nth(0).get_by_role("button", name=t("lesson.finding_remove")).click()
    assert cards.count() == 1
    lesson.page.goto(link)
    lesson.wait("lesson?.scene.own")
    assert lesson.settings()["chosen"] == chosen
