"""Words of the glossary explain themselves on Translate as in the lessons."""

from __future__ import annotations

import pytest

from tests.browser.explorer_driver import Open
from viz_app.text.glossary import definitions


@pytest.mark.parametrize(("language", "width", "dark"), [("en", 1280, False), ("ko", 390, True)])
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
