"""The stage of the lessons: playing, stepping, scenes, the table, the presenter's view, the address."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import CheckAccessibility, OpenPage, wait_until_idle
from tests.browser.lesson_driver import FIND, ROOT, address, inked, ready, settings
from viz_app.lessons.stage.state import settings_from_param, settings_to_param
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

T = texts("en")


def opened(open_page: OpenPage, app_url: str, **options: object) -> Page:
    page = open_page(address(app_url, "positions", scene="waves", **{"with": "at:4"}), **options)
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    return page


def test_a_lesson_plays_steps_and_keeps_its_place(
    open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    page = opened(open_page, app_url)
    assert settings(page)["at"] == 4
    assert inked(page) > 0.005
    canvas = page.locator(".lesson canvas")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    assert settings(page)["at"] == 5
    page.keyboard.press("Space")
    page.wait_for_function(ROOT + ".lesson.settings().at > 5.3")
    page.keyboard.press("Space")
    at = settings(page)["at"]
    page.wait_for_timeout(100)
    assert settings(page)["at"] == at
    page.keyboard.press("ArrowLeft")
    assert settings(page)["at"] == 5
    page.wait_for_function("new URL(location.href).searchParams.get('with') === 'at:5,part:sin'")
    page.get_by_role("button", name=T("lesson.table")).click()
    assert page.locator(".numbers tbody tr").count() == 16
    check_accessibility(page)
    page.get_by_role("button", name=T("lesson.present"), exact=True).click()
    box = page.locator(".lesson").bounding_box()
    assert box is not None and (box["x"], box["y"], box["width"]) == (0, 0, 1280)
    page.keyboard.press("Escape")
    # Typing in the field of the sentence neither plays nor steps.
    field = page.get_by_role("textbox", name=T("translate.input"))
    field.fill("Two dogs are")
    field.press("Space")
    field.press("ArrowLeft")
    assert settings(page)["at"] == 5
    page.wait_for_function(ROOT + ".lesson.lesson.values.tokens.length === 4")
    assert settings(page)["at"] == 5, "a new sentence leaves the reader where he is"


@pytest.mark.parametrize(("language", "width", "dark"), [("ko", 390, True), ("en", 1920, False)])
def test_nothing_sticks_out(open_page: OpenPage, app_url: str, language: str, width: int, dark: bool) -> None:
    page = open_page(address(app_url, "positions", lang=language), width=width, height=844, dark=dark, still=True)
    page.locator(".lesson canvas").wait_for()
    wait_until_idle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_link_is_of_what_is_on_the_screen(open_page: OpenPage, app_url: str) -> None:
    """Python sets the address bar later; while the figure plays it does not."""
    page = open_page(address(app_url, "positions"), still=True)
    page.evaluate(FIND)
    ready(page)
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    scene, wanted = page.evaluate(
        """() => {
            const { lesson } = window.root();
            lesson.turn(1);
            lesson.tools.copy();
            return [lesson.name, lesson.settings()];
        }"""
    )
    link = page.evaluate("window.copied")
    params = {name: value for name, (value,) in parse_qs(urlsplit(link).query).items()}
    assert (params["scene"], params["lesson"]) == (scene, "positions")
    assert settings_from_param(params["with"]) == settings_from_param(settings_to_param(wanted) or "")
