"""The card of a head: read by keyboard, its examples, the heads next to it, and the translation without the head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.atlas_samples import real_atlas
from tests.browser.app_driver import WORKED, params, wait_for_params
from tests.browser.explorer_driver import state
from tests.browser.rest import until
from transformer_core.analysis.ablation import AblatedTranslation, translate_without
from transformer_core.atlas.naming import head_roles
from transformer_core.head import Head, head_named
from transformer_core.translator import Translator
from viz_app.serving.models.registry import checkpoint_folder
from viz_app.text import texts
from viz_app.text.examples import EXAMPLES, FIRST_EXAMPLE
from viz_app.text.role_words import head_words

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import CheckAccessibility, OpenPage


ATLAS = real_atlas()
OTHER = "The train arrives at eight o'clock."


def title(page: Page) -> str:
    return page.locator(".atlas-title").inner_text()


def focused(page: Page) -> str:
    answer: str = page.evaluate(
        "document.activeElement.shadowRoot?.activeElement?.className ?? document.activeElement.className"
    )
    return answer


def expected_title(language: str, layer: int, head: int) -> str:
    words = head_words(texts(language), "encoder", head_roles(ATLAS)[Head("encoder", layer, head)])
    return f"{Head('encoder', layer, head)}: {words}"


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(checkpoint_folder())


def without(translator: Translator, text: str, head: str) -> AblatedTranslation:
    return translate_without(translator, translator.translate(text, beam=4), [head_named(head)], beam=4)


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
def test_by_keyboard_it_opens_leads_on_and_closes_and_its_head_is_switched_off(
    app_url: str,
    open_page: OpenPage,
    translator: Translator,
    check_accessibility: CheckAccessibility,
    language: str,
    width: int,
    dark: bool,
) -> None:
    t = texts(language)
    page = open_page(f"{app_url}/?lang={language}&head=encoder.6.5", width=width, dark=dark)
    button = page.locator(".card-button")
    button.wait_for()
    assert (
        head_words(t, "encoder", head_roles(ATLAS)[head_named("encoder.6.5")])
        in page.locator(".head-role").inner_text()
    )
    button.press("Enter")
    assert until(page, lambda: title(page) == expected_title(language, 5, 4)), title(page)
    assert until(page, lambda: "atlas-title" in focused(page)), focused(page)
    assert "BLEU" in page.locator(".atlas-plain").inner_text()
    assert not page.locator(".atlas-evidence").is_visible()
    page.locator(".atlas-card summary").press("Enter")
    for part in ("evidence", "looks", "effect", "circuits", "siblings", "examples"):
        assert page.locator(f".atlas-{part}").is_visible(), part
    assert t("roles.task_negation") in page.locator(".atlas-circuits b").all_inner_texts()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    check_accessibility(page, "dark", "light")
    assert until(page, lambda: params(page).get("card") == "open")

    sibling = page.locator(".atlas-sibling").first
    layer, head = (int(number) - 1 for number in sibling.inner_text().removeprefix("encoder.").split("."))
    sibling.press("Enter")
    assert until(page, lambda: title(page) == expected_title(language, layer, head)), title(page)
    assert (state(page, "layer"), state(page, "head")) == (layer, head)
    assert until(page, lambda: "atlas-title" in focused(page)), focused(page)

    page.keyboard.press("Escape")
    page.locator(".atlas-card").wait_for(state="hidden")
    assert "card-button" in focused(page)
    assert state(page, "zoom") == "head"
    assert until(page, lambda: "card" not in params(page))

    # It is switched off, also for a new sentence, and on again; another head is on until it is switched off as well.
    page.locator(".kind-cross").click()
    page.locator(".tile[data-head='6.4']").click()
    assert t("explorer.no_cause") in page.locator(".head-card").inner_text()
    page.get_by_role("button", name=t("explorer.off"), exact=True).press("Enter")
    wait_for_result(page, without(translator, EXAMPLES[FIRST_EXAMPLE], "cross.6.4"))
    check_accessibility(page, "dark", "light")
    page.get_by_role("textbox", name=t("translate.input")).fill(OTHER)
    wait_for_result(page, without(translator, OTHER, "cross.6.4"))
    page.get_by_role("button", name=t("explorer.off_back"), exact=True).first.click()
    page.locator(".off").wait_for(state="hidden")
    assert state(page, "off") is None
    page.locator(".off-button").click()
    page.locator(".off").wait_for()
    page.locator(".tile[data-head='4.4']").click()
    page.locator(".off").wait_for(state="hidden")
    assert state(page, "off") is None
    page.locator(".off-button").click()
    wait_for_result(page, without(translator, OTHER, "cross.4.4"))

    # The switch on its tile puts it on, the key X another one off; last the sentence says which head it needs most.
    page.locator(".tile[data-head='4.4']").hover()
    page.locator(".tile-switch").click()
    page.locator(".off").wait_for(state="hidden")
    page.locator(".tile[data-head='5.1']").press("x")
    wait_for_result(page, without(translator, OTHER, "cross.5.1"))
    page.locator(".off-most").press("Enter")
    assert until(page, lambda: (state(page, "off") or "").count(".") == 2)
    page.locator(".off-line").first.wait_for()
    needed = state(page, "off")
    assert needed == str(Head(*(state(page, name) for name in ("kind", "layer", "head"))))
    wait_for_result(page, without(translator, OTHER, needed))
    assert "144" in page.locator(".off").inner_text()
    top = page.locator(".off").evaluate("(each) => each.getBoundingClientRect().top")
    assert 0 <= top < page.evaluate("innerHeight") - 100  # also where the button is a window below
    assert page.locator(".tile.switched-off").count() == 1 and page.locator(".off-most").is_hidden()
    page.locator(".tile.switched-off").press("X")
    page.locator(".off").wait_for(state="hidden")

    # The card names the tasks that a head carries, with their shares.
    page = open_page(f"{app_url}/?lang={language}&head=cross.6.4&card=open", width=width, dark=dark)
    page.locator(".atlas-plain").wait_for()
    carried = f"{t('roles.task_name')} (25"
    assert carried in page.locator(".atlas-plain").inner_text()


def test_a_head_without_a_role_says_so_and_an_example_is_opened_with_its_row(app_url: str, open_page: OpenPage) -> None:
    page = open_page(f"{app_url}/?lang=en&head=encoder.2.5&card=open")
    assert until(page, lambda: title(page).endswith(f": {texts('en')('roles.none')}"))
    page.locator(".atlas-card summary").click()
    assert texts("en")("explorer.card_unclear") in page.locator(".atlas-evidence").inner_text()
    assert page.locator(".atlas-evidence li").count() == 2  # a rule and a relation
    page.keyboard.press("Escape")
    page.locator(".atlas-card").wait_for(state="hidden")
    page.locator(".tile[data-head='6.5']").click()
    wait_for_params(page, head="encoder.6.5")
    page.locator(".card-button").press("Enter")  # its report and the example's come in one moment
    assert ATLAS.examples
    example = ATLAS.examples.kinds["encoder"][5][4][0]
    sentence = ATLAS.examples.sentences[example.sentence]
    page.get_by_role("button", name=sentence, exact=True).press("Enter")
    assert until(
        page, lambda: page.get_by_role("textbox", name=texts("en")("translate.input")).input_value() == sentence
    )
    assert until(
        page, lambda: params(page).get("text") == sentence and params(page).get("pin") == f"q{example.query + 1}"
    )
    assert until(page, lambda: state(page, "pin") == f"q{example.query}")
    assert title(page) == expected_title("en", 5, 4)  # the card stays
