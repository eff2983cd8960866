"""Words of the glossary explain themselves, on Translate and in the lessons: to pointer, keyboard and touch."""

from __future__ import annotations

import pytest

from tests.browser.app_driver import WORKED
from tests.browser.conftest import CheckAccessibility, OpenLesson
from tests.browser.explorer_driver import Open
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


def test_escape_hides_an_explanation_before_it_goes_back(open_explorer: Open) -> None:
    page = open_explorer()
    page.get_by_role("button", name="Token", exact=True).click()
    page.locator(".explorer[data-zoom=token]").wait_for()
    word = page.locator(".key-axis dfn:visible").first
    word.focus()
    word.get_by_role("tooltip").wait_for()
    page.keyboard.press("Escape")
    assert page.locator(".explorer[data-zoom=token]").is_visible()
    page.keyboard.press("Escape")
    page.locator(".explorer[data-zoom=head]").wait_for()


def test_a_word_in_focus_stays_while_the_decoding_plays(open_explorer: Open) -> None:
    page = open_explorer()
    word = page.locator(".legend dfn:visible").first
    word.focus()
    page.get_by_role("slider").first.evaluate(
        "each => { each.value = 2; each.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    page.wait_for_timeout(200)
    assert word.get_by_role("tooltip").is_visible()


def test_a_term_of_a_lesson_explains_itself(open_lesson: OpenLesson, check_accessibility: CheckAccessibility) -> None:
    page = open_lesson("masks", "rows", lang="ko", width=390, height=900).page
    page.locator(".words .prose dfn").first.wait_for()
    masks, softmax = terms()["causal_mask"], terms()["softmax"]
    words = page.locator(".words .prose dfn")
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
    link = word.get_by_role("link", name=texts("ko")("nav.glossary"))
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
    page.goto(str(link.evaluate("link => link.href")))
    term = page.get_by_role("heading", name=masks.words["ko"], exact=False)
    assert until(page, lambda: 0 <= (term.bounding_box() or {"y": -1})["y"] < 900)


def test_escape_hides_the_explanation_before_it_ends_the_presentation(
    open_lesson_file: OpenLesson,
) -> None:
    page = open_lesson_file("masks", "rows").page
    page.locator(".words .prose dfn").first.wait_for()
    page.get_by_role("button", name="Present").click()
    presenting = page.locator(".presenting")
    presenting.wait_for()
    page.locator(".words dfn").first.focus()
    page.keyboard.press("Escape")
    assert presenting.is_visible() and not page.get_by_role("tooltip").first.is_visible()
    page.keyboard.press("Escape")
    presenting.wait_for(state="hidden")
