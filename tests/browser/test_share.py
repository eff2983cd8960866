"""Sharing what is on the screen: the link, its QR code over the whole screen, the command that opens the app."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import segno

from tests.browser.conftest import CheckAccessibility, OpenLesson
from tests.browser.file_page import FilePage
from tests.browser.rest import until
from tests.browser.test_session_route import place, wait_for_stop
from viz_app.components import share
from viz_app.components.modules import join_modules
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import SESSION, core_scenes, next_stop
from viz_app.lessons.labels import labels
from viz_app.state.share_link import qr_rows
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

T = texts("en")
LINK = "http://192.168.1.20:8501/lessons?lang=en&lesson=masks&text=Is+it+%3Cb%3E50+%25%3C%2Fb%3E%3F"
OPENS = re.compile(r"python -m viz_app class --port \d+")
BORDER = 4  # modules of quiet zone (ISO/IEC 18004)


def dark_modules(page: Page) -> set[tuple[int, int]]:
    """Row and column of each dark module of the code that fills the screen, without the quiet zone."""
    path = page.locator(".qr-screen svg path").get_attribute("d") or ""
    return {(int(y) - BORDER, int(x) - BORDER) for x, y in re.findall(r"M(\d+) (\d+)h1v1h-1z", path)}


# The component as a page from the disk shows it.
START = """
export default function start() {
  globalThis[Symbol.for("headlight.share-code")] = ({ data, parentElement }) =>
    show({ data: JSON.parse(new TextDecoder().decode(data)), parentElement });
}"""


def test_the_code_fills_the_screen(file_page: FilePage, check_accessibility: CheckAccessibility) -> None:
    width, height, t = 390, 844, texts("ko")
    page = file_page.page
    page.set_viewport_size({"width": width, "height": height})
    code = join_modules(Path(share.__file__).parent / "js" / "main.js").replace("export default ", "") + START
    data = {"url": LINK, "rows": qr_rows(LINK), "command": "", "texts": t.table("share"), "language": "ko"}
    file_page.open("share-code", code, json.dumps(data).encode())
    page.get_by_role("button", name=t("share.fill"), exact=True).click()
    screen = page.locator(".qr-screen").bounding_box()
    assert screen == {"x": 0, "y": 0, "width": width, "height": height}
    drawn = page.locator(".qr-screen svg").bounding_box()
    assert drawn is not None and min(drawn["width"], drawn["height"]) > 0.85 * min(width, height)
    expected = segno.make(LINK, micro=False, error="l", boost_error=True).matrix
    assert dark_modules(page) == {(y, x) for y, row in enumerate(expected) for x, dark in enumerate(row) if dark}
    assert page.locator(".qr-screen code").inner_text() == LINK
    check_accessibility(page)
    page.keyboard.press("Escape")
    assert until(page, lambda: page.locator(".qr-screen").count() == 0)


def assert_notes(notes: Page, stop: str) -> None:
    """The window of the teacher's notes shows a stop, with its minutes."""
    t = labels("en")
    notes.get_by_role("heading", name=load_lesson(stop, "en").title, exact=True).wait_for()
    assert t(f"lesson_{stop}.teacher_note") in notes.locator("body").inner_text()
    assert place(stop) in notes.locator("body").inner_text() and re.match(
        r"\d+:\d\d$", notes.locator("time").inner_text()
    )


def test_the_presenter_keeps_the_route_and_shows_the_code(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("masks", route="on")
    page = lesson.page
    wait_for_stop(page, "masks")
    lesson.click(T("lesson.present"))
    line = page.locator(".st-key-route").bounding_box()
    tabs = lesson.root.get_by_role("tablist").bounding_box()
    assert line is not None and tabs is not None and line["y"] >= 0 and line["y"] + line["height"] <= tabs["y"]
    onward = page.locator(".lesson .words .next")
    onward.click(trial=True)  # nothing lies over it
    lesson.press("q")
    screen = page.get_by_role("dialog", name=T("share.title"))
    screen.get_by_text(OPENS).wait_for()
    assert page.locator(".qr-screen").bounding_box() == {"x": 0, "y": 0, "width": 1280, "height": 720}
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    screen.get_by_role("button", name=T("share.copy"), exact=True).click()
    screen.get_by_role("button", name=T("share.copied"), exact=True).wait_for()
    assert OPENS.fullmatch(page.evaluate("window.copied"))
    page.keyboard.press("Escape")
    assert lesson.get("lesson.presenting"), "Esc closed the code only"
    with page.expect_popup() as opened:
        page.get_by_role("button", name=T("index.notes"), exact=True).click()
    notes = opened.value
    assert_notes(notes, "masks")
    after = next_stop("masks", SESSION)
    assert after is not None
    for _ in core_scenes("masks"):
        onward.click()
    wait_for_stop(page, after)
    page.locator(".lesson.presenting canvas").last.wait_for()  # the lesson before goes when the run has ended
    assert_notes(notes, after)
    assert page.locator(".st-key-route").evaluate("node => getComputedStyle(node).position") == "fixed"
