"""The card of a head: opened and read by keyboard, on a telephone, with its examples and the heads next to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.atlas_samples import real_atlas
from tests.browser.app_driver import WORKED, params
from tests.browser.explorer_driver import state
from tests.browser.rest import until
from transformer_core.atlas.naming import head_roles
from transformer_core.head import Head, head_named
from viz_app.text import texts
from viz_app.text.role_words import head_words

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import CheckAccessibility, OpenLesson, OpenPage


ATLAS = real_atlas()


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


@pytest.mark.parametrize(("language", "width", "dark"), WORKED)
def test_by_keyboard_it_opens_leads_on_and_closes(
    app_url: str, open_page: OpenPage, check_accessibility: CheckAccessibility, language: str, width: int, dark: bool
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
    for part in ("evidence", "looks", "effect", "siblings", "examples"):
        assert page.locator(f".atlas-{part}").is_visible(), part
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


def test_an_example_is_opened_with_its_row(app_url: str, open_page: OpenPage) -> None:
    page = open_page(f"{app_url}/?lang=en&head=encoder.6.5")
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


def test_a_head_without_a_role_says_so_and_what_comes_closest(app_url: str, open_page: OpenPage) -> None:
    page = open_page(f"{app_url}/?lang=en&head=encoder.2.5&card=open")
    assert until(page, lambda: title(page).endswith(f": {texts('en')('roles.none')}"))
    page.locator(".atlas-card summary").click()
    assert texts("en")("explorer.card_unclear") in page.locator(".atlas-evidence").inner_text()
    assert page.locator(".atlas-evidence li").count() == 2  # a rule and a relation


@pytest.mark.slow
def test_from_the_lab_the_lesson_and_the_growth_of_heads_to_the_card(
    app_url: str, open_page: OpenPage, open_lesson: OpenLesson
) -> None:
    for lesson, scene, settings in (("lab", "off", "chosen:encoder.6.5"), ("heads", "tour", "")):
        page = open_lesson(lesson, scene, settings=settings).page
        opener = page.locator(".st-key-open-card button")
        layer, head = (int(number) - 1 for number in opener.inner_text().split()[-1].split("."))
        opener.click()
        page.locator(".atlas-plain").wait_for()
        assert (state(page, "layer"), state(page, "head"), state(page, "card")) == (layer, head, True)
    page = open_page(f"{app_url}/model?lang=en&head=encoder.6.5")
    page.locator(".st-key-open-card button").click()
    page.locator(".atlas-plain").wait_for()
    assert title(page) == expected_title("en", 5, 4)
