"""The page Figures in a real browser: from Translate to a changed figure, its files, its address."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.browser.conftest import wait_until_idle
from tests.browser.rest import wait_for_value
from viz_app.figures import VIEWS
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import CheckAccessibility, OpenPage

SENTENCE = "A man rides a bicycle."
T = texts("en")


def wait_for_params(page: Page, **wanted: str) -> None:
    page.wait_for_function(
        "wanted => Object.entries(wanted).every(([k, v]) => new URL(location.href).searchParams.get(k) === v)",
        arg=wanted,
    )


def choose(page: Page, label: str, option: str) -> None:
    """Choose from a list, with the keyboard."""
    box = page.get_by_role("combobox", name=T(f"studio.{label}"), exact=True)
    box.focus()
    page.keyboard.type(option)
    page.get_by_role("option", name=option, exact=True).wait_for()
    page.keyboard.press("Enter")


def picture(page: Page) -> str:
    """Address of the preview, which changes with its bytes."""
    wait_until_idle(page)
    return page.locator(".st-key-studio-paper img").get_attribute("src") or ""


def saved(page: Page, button: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def test_from_translate_to_a_printed_figure(
    open_page: OpenPage, app_url: str, tmp_path: Path, check_accessibility: CheckAccessibility
) -> None:
    page = open_page(f"{app_url}/?text={quote(SENTENCE)}&kind=cross&layer=2&head=1&lang=en")
    page.get_by_role("gridcell").first.wait_for()
    page.get_by_role("button", name=T("translate.download")).click()
    page.get_by_role("button", name=T("studio.edit")).click()
    page.locator(".st-key-studio-paper img").wait_for()
    wait_for_params(page, figure="head", kind="cross", layer="2", head="1", text=SENTENCE)
    wait_for_value(page.get_by_role("textbox", name=T("translate.input")), SENTENCE)
    before = picture(page)

    choose(page, "size", T("studio.size_acl_column"))
    wait_for_params(page, size="acl-column")
    choose(page, "scale", T("studio.scale_viridis"))
    wait_for_params(page, size="acl-column", colours="viridis")
    styled = picture(page)
    assert styled != before
    shown = page.locator(".st-key-studio-paper img").bounding_box()
    assert shown is not None and abs(shown["width"] - 77 / 25.4 * 96) < 2, "a column of 77 mm, in print size"
    check_accessibility(page)

    choose(page, "view", VIEWS["layer"].label["en"])
    wait_for_params(page, figure="layer")
    assert picture(page) != styled
    pdf = saved(page, "PDF", tmp_path)
    assert pdf.name == "headlight_cross_layer2.pdf"
    assert pdf.read_bytes().startswith(b"%PDF-")
    width = re.search(rb"/MediaBox \[ ?0 0 ([0-9.]+)", pdf.read_bytes())
    assert width is not None and abs(float(width[1]) / 72 * 25.4 - 77) < 0.1
    bundle = saved(page, T("studio.bundle"), tmp_path)
    with zipfile.ZipFile(io.BytesIO(bundle.read_bytes())) as archive:
        assert archive.testzip() is None
        assert archive.read(f"pdf/{pdf.name}") == pdf.read_bytes()
        assert "index.html" in archive.namelist()
    assert "--view=layer --kind=cross --layer=2" in page.get_by_test_id("stMain").inner_text()

    page.get_by_role("button", name=T("studio.add")).click()
    page.get_by_role("button", name=T("studio.added")).wait_for()
    choose(page, "size", T("studio.size_slide"))
    wait_for_params(page, size="slide")
    page.get_by_role("button", name=T("studio.add")).click()
    collected = saved(page, T("studio.collection_zip", count=2), tmp_path)
    with zipfile.ZipFile(io.BytesIO(collected.read_bytes())) as archive:
        assert archive.read(f"pdf/{pdf.name}") == pdf.read_bytes()
        assert f"pdf/{pdf.stem}-2.pdf" in archive.namelist()
    shown = page.locator(".st-key-studio-paper img").bounding_box()
    assert shown is not None and abs(shown["width"] - 254 / 25.4 * 96) < 2, "a slide too is shown as large as it is"
    assert page.locator(".st-key-studio-paper").evaluate("sheet => sheet.scrollWidth - sheet.clientWidth") > 100
    check_accessibility(page)


def test_on_a_phone_in_korean_in_the_dark(
    open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    page = open_page(f"{app_url}/?lang=ko", width=390, height=844, dark=True)
    page.get_by_role("gridcell").first.wait_for()
    page.get_by_role("button", name=texts("ko")("translate.download")).click()
    page.get_by_role("button", name=texts("ko")("studio.edit")).click()
    page.locator(".st-key-studio-paper img").wait_for()
    wait_until_idle(page)
    page.get_by_role("button", name=texts("ko")("studio.add")).click()
    page.get_by_role("button", name=texts("ko")("studio.remove", number=1)).wait_for()
    wait_until_idle(page)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("element => element.scrollWidth - element.clientWidth") <= 0
    check_accessibility(page)
