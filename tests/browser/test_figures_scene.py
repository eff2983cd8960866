"""From a lesson to its picture in print, in a real browser: style, files, the way back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import wait_until_idle
from tests.browser.lesson_driver import FIND, ROOT, ready
from tests.browser.lesson_driver import address as lesson_address
from tests.browser.test_figures_page import choose, picture, wait_for_params
from viz_app.lessons import load_lesson
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import CheckAccessibility, OpenPage

SENTENCE = "A man rides a bicycle."
T = texts("en")


def saved(page: Page, button: str, folder: Path) -> Path:
    """The file behind a button."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def test_from_a_lesson_to_a_printed_figure(
    open_page: OpenPage, app_url: str, tmp_path: Path, check_accessibility: CheckAccessibility
) -> None:
    place = {"scene": "waves", "with": "at:5,part:cos", "text": SENTENCE}
    page = open_page(lesson_address(app_url, "positions", **place), still=True)
    page.evaluate(FIND)
    ready(page)
    page.get_by_role("button", name=T("translate.download")).click()
    page.get_by_role("button", name=T("studio.edit")).click()
    page.locator(".st-key-studio-paper img").wait_for()
    wait_for_params(page, lesson="positions", scene="waves", text=SENTENCE)
    page.wait_for_function(
        "['at:5', 'part:cos'].every(part => new URL(location.href).searchParams.get('with').split(',').includes(part))"
    )
    before = picture(page)

    choose(page, "size", T("studio.size_acl_column"))
    wait_for_params(page, size="acl-column")
    assert picture(page) != before
    shown = page.locator(".st-key-studio-paper img").bounding_box()
    assert shown is not None and abs(shown["width"] - 77 / 25.4 * 96) < 2, "a column of 77 mm, in print size"
    assert not page.get_by_role("combobox", name=T("studio.scale"), exact=True).count(), "curves have no such colours"
    check_accessibility(page)

    pdf = saved(page, "PDF", tmp_path)
    assert pdf.name == "headlight_positions_waves.pdf"
    width = re.search(rb"/MediaBox \[ ?0 0 ([0-9.]+)", pdf.read_bytes())
    assert width is not None and abs(float(width[1]) / 72 * 25.4 - 77) < 0.1
    text = page.get_by_test_id("stMain").inner_text()
    assert "viz_app lesson" in text and "--lesson=positions --scene=waves" in text and "--preset=acl-column" in text

    link = page.url
    page.get_by_role("button", name=T("studio.attention")).click()
    wait_for_params(page, figure="head", size="acl-column")
    page.get_by_role("combobox", name=T("studio.view"), exact=True).wait_for()
    again = open_page(link)
    again.locator(".st-key-studio-paper img").wait_for()
    wait_for_params(again, lesson="positions", scene="waves", size="acl-column")
    again.get_by_role("button", name=T("studio.to_lesson")).click()
    again.locator(".lesson canvas").wait_for()
    again.evaluate(FIND)
    ready(again)
    assert again.evaluate(ROOT + ".lesson.name") == "waves"
    assert again.evaluate(ROOT + ".lesson.settings().at") == 5


@pytest.mark.slow  # the page of a head's figure is seen on a phone in the quick run
@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_picture_of_a_lesson_on_a_phone(
    open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility, language: str
) -> None:
    link = f"{app_url}/figures?lang={language}&lesson=positions&scene=heatmap"
    page = open_page(link, width=390, height=844, dark=language == "ko")
    page.locator(".st-key-studio-paper img").wait_for()
    wait_until_idle(page)
    assert load_lesson("positions", language).title in page.get_by_test_id("stMain").inner_text()
    page.get_by_text(texts(language)("studio.more"), exact=True).click()
    wait_until_idle(page)
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("element => element.scrollWidth - element.clientWidth") <= 0
    check_accessibility(page)
