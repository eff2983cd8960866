"""Words of the glossary explain themselves, on Translate and in the lessons: to pointer, keyboard and touch."""

from __future__ import annotations

import pytest

from tests.browser.app_driver import WORKED
from tests.browser.conftest import CheckAccessibility, OpenLesson, OpenPage
from tests.browser.explorer_driver import Open, choose
from tests.browser.rest import until
from viz_app.lessons import terms
from viz_app.text import texts
from viz_app.text.glossary import definitions


@pytest.mark.parametrize(("language", "width", "dark"), WORKED)
def test_a_word_explains_itself_to_keyboard_pointer_and_touch(
    language: str, width: int, dark: bool, open_explorer: Open
) -> None:
    page = open_explorer(language=language, width=width, height=900, dark=dark)
    known = definitions()[language]
    # The name of the vertical axis is turned; its explanation is not.
    for axis, name in ((".query-axis", "query"), (".key-axis", "key"), (".legend", "attention_weight")):
        word = page.locator(f"{axis} dfn:visible").first
        tip = word.get_by_role("tooltip")
        assert not tip.is_visible()
        word.focus()
        tip.wait_for()
        assert tip.inner_text() == known[name][1]
        assert word.get_attribute("aria-describedby") == tip.get_attribute("id")
        box = tip.bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width and box["width"] > box["height"]
        page.keyboard.press("Escape")
        tip.wait_for(state="hidden")
        word.dispatch_event("click")  # a finger
        tip.wait_for()
        word.blur()
        tip.wait_for(state="hidden")

    # Escape hides an explanation before it leaves the view of a token; the decoding replaces no word in focus.
    word = page.locator(".legend dfn:visible").first
    word.focus()
    page.get_by_role("slider").first.evaluate(
        "each => { each.value = 2; each.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    page.wait_for_timeout(200)
    assert word.get_by_role("tooltip").is_visible()
    choose(page, ".zoom-token")
    page.locator(".key-axis dfn:visible").first.focus()
    for zoom in ("token", "head"):
        page.keyboard.press("Escape")
        page.locator(f".explorer[data-zoom={zoom}]").wait_for()


def test_a_term_of_a_lesson_explains_itself_and_leads_to_the_glossary(
    open_lesson_file: OpenLesson, open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    t = texts("ko")
    page = open_lesson_file("masks", "rows", lang="ko", width=390, height=900).page
    page.evaluate("name => { document.documentElement.dataset.glossary = name; }", t("nav.glossary"))  # as in the app
    masks, softmax = terms()["causal_mask"], terms()["softmax"]
    words = page.locator(".words .prose dfn")
    words.first.wait_for()
    assert words.count() == 2
    word, other = words.nth(0), words.nth(1)
    tip = word.get_by_role("tooltip")
    assert not tip.is_visible()

    word.focus()
    tip.wait_for()
    assert tip.inner_text() == masks.about["ko"]
    assert word.get_attribute("aria-describedby") == tip.get_attribute("id")
    box = tip.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["height"] > 15
    link = word.get_by_role("link", name=t("nav.glossary"))
    page.keyboard.press("Tab")
    assert tip.is_visible() and link.evaluate("link => link.getRootNode().activeElement === link")
    check_accessibility(page)

    page.keyboard.press("Escape")
    assert not tip.is_visible()
    page.keyboard.press("Tab")
    assert other.get_by_role("tooltip").inner_text() == softmax.about["ko"]
    assert other.get_by_role("tooltip").is_visible()
    word.hover()
    link.hover()  # across the gap between word and explanation
    assert tip.is_visible()
    anchor = str(link.get_attribute("href")).partition("#")[2]

    page.get_by_role("button", name=t("lesson.present")).click()
    presenting = page.locator(".presenting")
    presenting.wait_for()
    words.first.focus()
    page.keyboard.press("Escape")
    assert presenting.is_visible() and not page.get_by_role("tooltip").first.is_visible()
    page.keyboard.press("Escape")
    presenting.wait_for(state="hidden")

    page = open_page(f"{app_url}/glossary?lang=ko#{anchor}", width=390, height=900)
    term = page.get_by_role("heading", name=masks.words["ko"], exact=False)
    assert until(page, lambda: 0 <= (term.bounding_box() or {"y": -1})["y"] < 900)
