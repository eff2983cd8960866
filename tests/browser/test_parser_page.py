"""A parser in a real browser: chosen beside the sentence, its brackets read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.browser.app_driver import choose_option, params, wait_for_params
from tests.browser.conftest import CheckAccessibility
from tests.browser.figures_driver import choose, edit_figure, picture
from tests.browser.rest import until, wait_for_value, wait_until_idle
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

SENTENCE = "The dog is sleeping."
WORDS = 5  # with the full stop
TREE, OTHER = "English → tree", "English → German"


def choice(page: Page, name: str) -> None:
    """Choose a model from the list, and wait until the page shows it."""
    choose_option(page, texts("en")("models.choice"), name)
    wait_until_idle(page)


def field_of(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("^Sentence in "))


def tokens(page: Page) -> list[str]:
    """What the model generated, as the explorer shows it."""
    return [token.strip() for token in page.locator(".explorer .token").all_text_contents()]


def test_from_the_translator_to_brackets_to_their_figure_and_back(
    page: Page, check_accessibility: CheckAccessibility
) -> None:
    field = field_of(page)
    field.fill(SENTENCE)
    wait_for_params(page, text=SENTENCE)
    choice(page, TREE)
    wait_for_params(page, model="en-tree", text=SENTENCE)
    assert until(page, lambda: tokens(page).count("XX") == WORDS)
    assert tokens(page)[0] == "(" + tokens(page)[-2].removeprefix(")")
    wait_for_value(field, SENTENCE)
    check_accessibility(page)

    edit_figure(page)
    before = picture(page)
    choose(page, "view", texts("en")("figures_page.view_tree"))
    wait_for_params(page, figure="tree", model="en-tree", text=SENTENCE)
    assert picture(page) != before
    check_accessibility(page)

    page.get_by_role("link", name=texts("en")("nav.translate"), exact=True).click()
    assert until(page, lambda: field_of(page).count() == 1)  # that of the page before is gone
    wait_until_idle(page)  # a field that is drawn again loses the focus
    choice(page, OTHER)
    assert until(page, lambda: tokens(page) != [] and "XX" not in tokens(page))
    wait_for_value(field_of(page), SENTENCE)
    assert params(page)["text"] == SENTENCE
