"""The page Figures in a real browser: from Translate to a changed figure, its files, its address."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.browser.app_driver import SENTENCE, saved, sideways, wait_for_params
from tests.browser.figures_driver import choose, edit_figure, picture, printed_width, shown_width
from tests.browser.rest import settled, wait_for_value
from viz_app.text import texts

if TYPE_CHECKING:
    from tests.browser.conftest import CheckAccessibility, OpenPage

T = texts("en")


def test_from_translate_to_a_printed_figure(
    open_page: OpenPage, app_url: str, tmp_path: Path, check_accessibility: CheckAccessibility
) -> None:
    page = open_page(f"{app_url}/?text={quote(SENTENCE)}&head=cross.2.1&lang=en")
    page.get_by_role("gridcell").first.wait_for()
    edit_figure(page)
    wait_for_params(page, figure="head", head="cross.2.1", text=SENTENCE)
    wait_for_value(page.get_by_role("textbox", name=T("translate.input")), SENTENCE)
    before = picture(page)

    choose(page, "size", T("figures_page.size_acl_column"))
    wait_for_params(page, size="acl-column")
    choose(page, "scale", T("figures_page.scale_viridis"))
    wait_for_params(page, size="acl-column", colours="viridis")
    styled = picture(page)
    assert styled != before
    assert abs(shown_width(page) - 77) < 0.5, "a column of 77 mm, in print size"
    check_accessibility(page)

    choose(page, "view", texts("en")("figures_page.view_layer"))
    wait_for_params(page, figure="layer")
    assert picture(page) != styled
    pdf = saved(page, "PDF", tmp_path)
    assert pdf.name == "headlight_cross.2.pdf"
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert abs(printed_width(pdf) - 77) < 0.1
    bundle = saved(page, T("figures_page.bundle"), tmp_path)
    with zipfile.ZipFile(io.BytesIO(bundle.read_bytes())) as archive:
        assert archive.testzip() is None
        assert archive.read(f"pdf/{pdf.name}") == pdf.read_bytes()
        assert "index.html" in archive.namelist()
    assert "--view=layer --layer=cross.2" in page.get_by_test_id("stMain").inner_text()

    page.get_by_role("button", name=T("figures_page.add")).click()
    page.get_by_role("button", name=T("figures_page.added")).wait_for()
    choose(page, "size", T("figures_page.size_slide"))
    wait_for_params(page, size="slide")
    page.get_by_role("button", name=T("figures_page.add")).click()
    collected = saved(page, T("figures_page.collection_zip", count=2), tmp_path)
    with zipfile.ZipFile(io.BytesIO(collected.read_bytes())) as archive:
        assert archive.read(f"pdf/{pdf.name}") == pdf.read_bytes()
        assert f"pdf/{pdf.stem}-2.pdf" in archive.namelist()
    assert abs(shown_width(page) - 254) < 0.5, "a slide too is shown as large as it is"
    assert page.locator(".st-key-figures-paper").evaluate("sheet => sheet.scrollWidth - sheet.clientWidth") > 100
    page.set_viewport_size({"width": 390, "height": 844})
    settled(page)
    assert sideways(page) <= 0
    check_accessibility(page, "light", "dark")
