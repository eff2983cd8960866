"""Working the pages of the app in a browser, and reading what they and their address say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.rest import until
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

SENTENCE = "A man rides a bicycle."
# How a page is opened that is worked once, and that axe sees in both colour schemes then; the slow run works it in
# both languages. Language, width, and whether it begins dark; or locale, and whether it begins dark.
WORKED = [("ko", 390, True), pytest.param("en", 1280, False, marks=pytest.mark.slow)]
LOCALES = [("ko-KR", True), pytest.param("en-US", False, marks=pytest.mark.slow)]


def params(page: Page) -> dict[str, str]:
    """What the address bar says."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query, keep_blank_values=True).items()}


def wait_for_params(page: Page, **wanted: str) -> None:
    """Wait until the address bar says so."""
    assert until(page, lambda: wanted.items() <= params(page).items()), f"{wanted} never came into {page.url}"


def wait_for_translation(page: Page, text: str, language: str = "en") -> None:
    """Wait until the explorer shows this translation; the tokens stand in buttons of their own."""
    group = page.get_by_role("group", name=texts(language)("explorer.translation"), exact=True)
    plain = re.sub(r"\s+", "", text)

    def is_there() -> bool:
        shown = "".join(group.get_by_role("button").all_text_contents())
        whole = not page.locator('.explorer[aria-busy="true"]').count()
        return whole and plain in re.sub(r"\s|</s>", "", shown)

    assert until(page, is_there), f"{text!r} was never shown"


def press_tool(page: Page, name: str) -> None:
    """Press a tool in the menu of the explorer, by its class, such as `download`."""
    page.locator(".menu-button").click()
    page.locator(f".menu-tools .{name}").click()


def choose_option(page: Page, label: str, option: str, *, exact: bool = True) -> None:
    """Choose from a list, with the keyboard, by the name of an option or by a part of it."""
    page.get_by_role("combobox", name=label, exact=True).focus()
    page.keyboard.type(option)
    page.get_by_role("option", name=option, exact=exact).wait_for()
    page.keyboard.press("Enter")


def saved(page: Page, button: str, folder: Path) -> Path:
    """The file behind a button."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def sideways(page: Page) -> int:
    """How far the page scrolls sideways."""
    answer: int = page.evaluate(
        """() => Math.max(...[document.documentElement, document.querySelector("[data-testid=stMain]")]
          .map((node) => node.scrollWidth - node.clientWidth))"""
    )
    return answer
