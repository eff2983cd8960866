"""The home page in a real browser: type, see the translation and every head, step, switch language, download."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from tests.browser.app_driver import (
    SENTENCE,
    params,
    press_tool,
    saved,
    sideways,
    wait_for_params,
    wait_for_translation,
)
from tests.browser.explorer_driver import WATCH_DRAFTS
from tests.browser.rest import until, wait_for_value, wait_until_idle
from tests.browser.test_share import OPENS
from transformer_core.translator import Translation, Translator
from viz_app.serving.models.registry import checkpoint_folder
from viz_app.text import texts
from viz_app.text.examples import EXAMPLES, FIRST_EXAMPLE

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import OpenPage

T = texts("en")
DECODER = re.compile(r"[?&]head=decoder\.")


@pytest.fixture(scope="module")
def translator() -> Translator:
    """The same model as the server's, in this process."""
    return Translator.load(checkpoint_folder())


def expected(translator: Translator, text: str) -> Translation:
    return translator.translate(text, beam=4)


def test_words_and_rows_appear_while_they_are_generated(page: Page, translator: Translator) -> None:
    text = (
        "The old man who lives next door gave my sister a beautiful book about trains, ships, music and the stars. " * 3
    )
    whole = expected(translator, text).text
    explorer = page.locator(".explorer")
    explorer.locator(".tile").first.wait_for()
    explorer.evaluate(WATCH_DRAFTS)
    page.get_by_role("textbox", name=T("translate.input")).fill(text)
    wait_for_translation(page, whole)
    drafts = explorer.evaluate("({ drafts }) => drafts")
    assert drafts and all(busy == "true" for busy, _ in drafts) and len(drafts[0][1]) < len(whole)
    assert explorer.get_attribute("aria-busy") == "false"


def test_it_opens_with_every_head_and_translates_what_is_typed(page: Page, translator: Translator) -> None:
    text = expected(translator, EXAMPLES[FIRST_EXAMPLE]).text
    wait_for_translation(page, text)
    config = translator.config
    assert page.get_by_role("gridcell").count() == config.num_layers * config.num_heads
    assert page.locator("canvas").first.is_visible()
    best = translator.metrics.get("alignment", {}).get("best_head", {"layer": config.num_layers - 1, "head": 0})
    wait_for_params(page, head=f"cross.{best['layer'] + 1}.{best['head'] + 1}")

    assert page.locator(".tree").is_hidden(), "of a parser"
    assert page.locator(".translation h2 bdi").text_content() == text
    copy = page.locator(".menu-tools .copy")
    page.locator(".menu-button").click()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("() => (window.kept = navigator.clipboard)")
    for secure in (True, False):
        page.evaluate("window.kept.writeText('something else')")
        if not secure:  # as on a page that came without TLS
            page.evaluate("() => Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        copy.focus()
        page.keyboard.press("Enter")
        copy.get_by_text(T("explorer.copied"), exact=True).wait_for()
        assert page.evaluate("() => window.kept.readText()") == text
        assert copy.evaluate("button => button === button.getRootNode().activeElement")
        copy.get_by_text(T("explorer.copy"), exact=True).wait_for()
    page.keyboard.press("Escape")

    box = page.get_by_role("textbox", name=T("translate.input"))
    direction = box.evaluate("(input) => getComputedStyle(input).unicodeBidi")
    assert direction == "plaintext", "the text decides which way it runs"
    box.fill("")
    page.get_by_text(T("translate.empty")).wait_for()
    box.press_sequentially(SENTENCE, delay=20)
    wait_for_translation(page, expected(translator, SENTENCE).text)
    wait_for_params(page, text=SENTENCE)
    assert page.evaluate("history.length") <= 2, "typing must not fill the history"
    box.fill("A man rides \n a bicycle.")
    assert box.input_value() == SENTENCE, "what is pasted has one line, too"
    box.press("Enter")
    box.press_sequentially(" Again.")
    wait_for_translation(page, expected(translator, f"{SENTENCE} Again.").text)
    assert box.input_value() == f"{SENTENCE} Again.", "a sentence has one line"
    chips = page.locator(".st-key-examples button:visible")
    assert until(page, lambda: chips.all_inner_texts() == list(EXAMPLES.values())[:3])
    chips.nth(1).click()
    wait_for_translation(page, expected(translator, list(EXAMPLES.values())[1]).text)
    assert until(page, lambda: chips.all_inner_texts() == list(EXAMPLES.values())[2:5]), "those after it"
    box.fill("나는 학교에 간다")
    page.get_by_text(T("translate.korean")).wait_for()
    page.get_by_role("button", name=EXAMPLES["separable"]).click()
    wait_for_params(page, text=EXAMPLES["separable"])


def test_language_page_head_and_step_are_kept_and_live_in_the_address(
    page: Page, open_page: OpenPage, translator: Translator
) -> None:
    t = texts("ko")
    page.get_by_role("textbox", name=T("translate.input")).fill(SENTENCE)
    wait_for_params(page, text=SENTENCE)
    page.get_by_text("한국어", exact=True).click()
    wait_for_params(page, lang="ko")
    assert page.locator("html").get_attribute("lang") == "ko"
    wait_for_translation(page, expected(translator, SENTENCE).text, "ko")
    page.get_by_role("button", name=t("explorer.kind_decoder")).click()
    page.wait_for_url(DECODER)
    page.get_by_role("link", name=t("nav.model"), exact=True).click()
    page.get_by_role("heading", name=t("model.title")).wait_for()
    wait_for_params(page, lang="ko", text=SENTENCE)
    page.get_by_role("link", name=t("nav.translate"), exact=True).click()
    wait_for_translation(page, expected(translator, SENTENCE).text, "ko")
    assert page.locator(".kind-decoder").get_attribute("aria-pressed") == "true"  # selected before the visit elsewhere
    wait_for_value(page.get_by_role("textbox", name=t("translate.input")), SENTENCE)

    page.locator(".tile[data-head='2.3']").click()
    wait_for_params(page, head="decoder.2.3")
    page.get_by_role("slider", name=t("explorer.step")).focus()
    page.keyboard.press("Home")
    wait_for_params(page, step="1")
    again = open_page(page.url)
    wait_for_params(again, head="decoder.2.3", step="1")
    assert again.get_by_role("slider", name=t("explorer.step")).input_value() == "1"
    # The link to share is the address; a page that only this computer opens says how to change that.
    press_tool(again, "qr")
    again.get_by_text(t("share.closed"), exact=True).wait_for()
    again.get_by_text(OPENS).wait_for()
    link = again.locator("[role=dialog] code", has_text="://")

    def linked() -> dict[str, list[str]]:
        return parse_qs(urlsplit(link.inner_text()).query)

    assert until(again, lambda: linked().items() >= {name: [value] for name, value in params(again).items()}.items())
    assert sideways(again) == 0


def test_downloads_which_others_who_type_take_away_from_nobody(
    open_page: OpenPage, app_url: str, translator: Translator, tmp_path: Path
) -> None:
    """A file may be fetched a little after it was made, over a slow network, while the rest of the class types."""
    page = open_page(f"{app_url}/?text={quote(SENTENCE)}&head=cross.2.1&lang=en")
    wait_for_translation(page, expected(translator, SENTENCE).text)
    press_tool(page, "download")
    starts = {"PNG": b"\x89PNG", "SVG": b"<?xml", "PDF": b"%PDF-", "CSV": b"\xef\xbb\xbf", "NPZ": b"PK"}
    for name, start in starts.items():
        file = saved(page, name, tmp_path)
        assert file.name == f"headlight_cross.2.1.{name.lower()}"
        assert file.read_bytes().startswith(start)

    other = open_page(f"{app_url}/?text=The+cat.")
    page.bring_to_front()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).click()
    assert page.request.get(download.value.url).ok
    for sentence in ("The cat sleeps.", "The bird sings.", "The horse runs."):
        other.get_by_role("textbox", name=T("translate.input")).fill(sentence)
        wait_for_params(other, text=sentence)
        wait_until_idle(other)
    assert page.request.get(download.value.url).ok
