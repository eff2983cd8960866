"""From a lesson to its picture in print, in a real browser: style, files, the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.app_driver import SENTENCE, params, saved, wait_for_params
from tests.browser.conftest import CheckAccessibility, OpenLesson, OpenPage
from tests.browser.figures_driver import PREVIEW, choose, edit_figure, picture, printed_width, shown_width
from tests.browser.lesson_driver import Lesson
from tests.browser.rest import until
from viz_app.text import texts

T = texts("en")


@pytest.mark.slow
def test_from_a_lesson_to_a_printed_figure(
    open_lesson: OpenLesson, open_page: OpenPage, tmp_path: Path, check_accessibility: CheckAccessibility
) -> None:
    page = open_lesson("positions", "waves", settings="at:5,part:cos", text=SENTENCE).page
    edit_figure(page)
    wait_for_params(page, lesson="positions", scene="waves", text=SENTENCE)
    assert until(page, lambda: {"at:5", "part:cos"} <= set(params(page)["with"].split(",")))
    before = picture(page)

    choose(page, "size", T("figures_page.size_acl_column"))
    wait_for_params(page, size="acl-column")
    assert picture(page) != before
    assert abs(shown_width(page) - 77) < 0.5, "a column of 77 mm, in print size"
    assert not page.get_by_role("combobox", name=T("figures_page.scale"), exact=True).count(), (
        "curves have no such colours"
    )
    check_accessibility(page)

    pdf = saved(page, "PDF", tmp_path)
    assert pdf.name == "headlight_positions_waves.pdf"
    assert abs(printed_width(pdf) - 77) < 0.1
    text = page.get_by_test_id("stMain").inner_text()
    assert "viz_app lesson" in text and "--lesson=positions --scene=waves" in text and "--preset=acl-column" in text

    link = page.url
    page.get_by_role("button", name=T("figures_page.attention")).click()
    wait_for_params(page, figure="head", size="acl-column")
    page.get_by_role("combobox", name=T("figures_page.view"), exact=True).wait_for()
    again = open_page(link)
    again.locator(PREVIEW).wait_for()
    wait_for_params(again, lesson="positions", scene="waves", size="acl-column")
    again.get_by_role("button", name=T("figures_page.to_lesson")).click()
    lesson = Lesson(again)
    assert lesson.get("lesson.name") == "waves"
    assert lesson.settings()["at"] == 5
