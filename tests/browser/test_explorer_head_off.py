"""The translation without the selected head, against the same computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.app_driver import WORKED
from tests.browser.explorer_driver import state
from tests.browser.rest import until
from transformer_core.analysis.ablation import AblatedTranslation, Head, translate_without
from transformer_core.translator import Translator
from viz_app.serving.models.registry import checkpoint_folder
from viz_app.text import texts
from viz_app.text.examples import EXAMPLES, FIRST_EXAMPLE

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import CheckAccessibility, OpenPage

OTHER = "The train arrives at eight o'clock."


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(checkpoint_folder())


def without(translator: Translator, text: str, head: Head) -> AblatedTranslation:
    return translate_without(translator, translator.translate(text, beam=4), [head], beam=4)


def wait_for_result(page: Page, expected: AblatedTranslation) -> None:
    """Wait for both sentences, the words that differ, and the two log-probabilities."""
    numbers = [f"{value:.2f}".replace("-", "\u2212") for value in (expected.before, expected.log_probability)]

    def is_there() -> bool:
        shown = page.locator(".off .off-line").evaluate_all(
            "(all) => all.map((line) => [line.lastChild.textContent, line.querySelectorAll('mark').length])"
        )
        lines = [(expected.original, shown[0]), (expected.words, shown[1])] if len(shown) == 2 else []
        same = [
            [" ".join(word for word, _ in words), sum(changed for _, changed in words)] == result
            for words, result in lines
        ]
        return bool(lines) and all(same) and all(each in page.locator(".off").inner_text() for each in numbers)

    assert until(page, is_there), page.locator(".off").inner_text()


@pytest.mark.parametrize(("language", "width", "dark"), WORKED)
def test_a_head_is_switched_off_and_on_again(
    open_page: OpenPage,
    app_url: str,
    translator: Translator,
    check_accessibility: CheckAccessibility,
    language: str,
    width: int,
    dark: bool,
) -> None:
    t = texts(language)
    page = open_page(f"{app_url}/?lang={language}&head=cross.6.4", width=width, dark=dark)
    assert t("explorer.no_cause") in page.locator(".head-card").inner_text()
    page.get_by_role("button", name=t("explorer.off"), exact=True).press("Enter")
    wait_for_result(page, without(translator, EXAMPLES[FIRST_EXAMPLE], Head("cross", 5, 3)))
    check_accessibility(page, "dark", "light")
    # A new sentence is translated without it too.
    page.get_by_role("textbox", name=t("translate.input")).fill(OTHER)
    wait_for_result(page, without(translator, OTHER, Head("cross", 5, 3)))
    page.get_by_role("button", name=t("explorer.off_back"), exact=True).first.click()
    page.locator(".off").wait_for(state="hidden")
    assert state(page, "off") is None

    # Another head is on, until it is switched off as well.
    page.locator(".off-button").click()
    page.locator(".off").wait_for()
    page.locator(".tile[data-head='4.4']").click()
    page.locator(".off").wait_for(state="hidden")
    assert state(page, "off") is None
    page.locator(".off-button").click()
    wait_for_result(page, without(translator, OTHER, Head("cross", 3, 3)))
