"""Working the page Figures in a browser, and measuring what it shows and prints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.app_driver import choose_option, press_tool
from tests.browser.rest import wait_until_idle
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

PREVIEW = ".st-key-figures-paper img"


def edit_figure(page: Page, language: str = "en") -> None:
    """From the downloads of the page Translate to the figure of what it shows."""
    press_tool(page, "download")
    page.get_by_role("button", name=texts(language)("figures_page.edit")).click()
    page.locator(PREVIEW).wait_for()


def choose(page: Page, label: str, option: str) -> None:
    """Choose from a list of the editor."""
    choose_option(page, texts("en")(f"figures_page.{label}"), option)


def picture(page: Page) -> str:
    """Address of the preview, which changes with its bytes."""
    wait_until_idle(page)
    return page.locator(PREVIEW).get_attribute("src") or ""


def shown_width(page: Page) -> float:
    """Millimetres of the preview, at 96 pixels an inch."""
    box = page.locator(PREVIEW).bounding_box()
    assert box is not None
    return box["width"] / 96 * 25.4


def printed_width(pdf: Path) -> float:
    """Millimetres of the page of a PDF."""
    width = re.search(rb"/MediaBox \[ ?0 0 ([0-9.]+)", pdf.read_bytes())
    assert width is not None
    return float(width[1]) / 72 * 25.4
