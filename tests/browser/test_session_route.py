"""A session from its first stop to its last, with a reload on the way; the link of the page that is open."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pypdf
import pytest

from tests.browser.app_driver import params, sideways, wait_for_params
from tests.browser.conftest import CheckAccessibility, OpenPage
from tests.browser.lesson_driver import Lesson
from tests.browser.rest import rest, until
from transformer_core.translator import Translator
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSONS, QUESTIONS, ROUTE
from viz_app.lessons.context import LessonContext
from viz_app.lessons.route_handout import render_route
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.text import LANGUAGES, texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

T = texts("en")


def place(stop: str, language: str = "en") -> str:
    """What the bar says at a stop."""
    number = list(ROUTE).index(stop) + 1
    return texts(language)("index.progress", stop=number, stops=len(ROUTE), minutes=ROUTE[stop])


def wait_for_stop(page: Page, stop: str, language: str = "en") -> None:
    page.get_by_text(place(stop, language), exact=True).wait_for()


def test_a_session_reaches_its_last_stop_and_survives_a_reload(
    open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    page = open_page(f"{app_url}/lessons?lang=en", still=True)
    page.locator(".index button.start").click()
    onward = page.locator(".st-key-route-next button")
    for number, stop in enumerate(ROUTE):
        wait_for_stop(page, stop)
        assert page.get_by_text(T("translate.stop").split("**")[-1].strip()).count() == (stop == "translate")
        if number == 2:
            wait_for_params(page, lesson=stop, route="on")
            page.reload()
            wait_for_stop(page, stop)
        if stop != QUESTIONS:
            onward.click()
    wait_for_params(page, lesson=QUESTIONS, route="on")
    for name in ROUTE:
        if name not in ("translate", QUESTIONS):
            words = load_lesson(name, "en")
            asked = next(scene for scene in words.scenes if scene.question is not None)
            page.get_by_role("button", name=f"{words.title}: {asked.title}").first.wait_for()
    check_accessibility(page)
    page.get_by_role("button", name=T("index.finish"), exact=True).click()
    page.locator(".index button.start").wait_for()
    assert until(page, lambda: "route" not in params(page) and "lesson" not in params(page))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_brief_handout_prints_on_two_pages(browser: Browser, random_checkpoint: Path, language: str) -> None:
    service = TranslationService(Translator.load(random_checkpoint, device="cpu"), RequestQueue(1))
    sheet = render_route("brief", LessonContext("The dog sleeps.", LessonState(), language, lambda: service, "test"))
    page = browser.new_page()
    page.set_content(sheet.decode())
    printed = pypdf.PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True)))
    page.close()
    assert len(printed.pages) == 2
    assert texts(language)("questions.ticket") in printed.pages[1].extract_text()


def test_page_down_keeps_to_the_time_of_the_route(open_page: OpenPage, app_url: str) -> None:
    """Of a lesson that the route opens at one scene it shows no other; beside the route the lesson goes on."""
    entry = next(entry for entry in LESSONS if entry.opens_at and entry.name in ROUTE)
    stops = list(ROUTE)
    before, after = (stops[stops.index(entry.name) + step] for step in (-1, 1))
    page = open_page(f"{app_url}/lessons?lang=en&lesson={before}&route=on", still=True)
    wait_for_stop(page, before)
    page.locator(".st-key-route-next button").click()
    wait_for_params(page, lesson=entry.name, scene=entry.opens_at)
    Lesson(page).press("PageDown")
    wait_for_params(page, lesson=after)
    page = open_page(f"{app_url}/lessons?lang=en&lesson={entry.name}&scene={entry.opens_at}", still=True)
    scenes = [scene.name for scene in load_lesson(entry.name, "en").scenes]
    Lesson(page).press("PageDown")
    wait_for_params(page, lesson=entry.name, scene=scenes[scenes.index(entry.opens_at) + 1])


def test_a_question_opens_its_scene(open_page: OpenPage, app_url: str) -> None:
    page = open_page(f"{app_url}/lessons?lang=ko&lesson={QUESTIONS}", width=390, height=844, dark=True, still=True)
    words = load_lesson("masks", "ko")
    asked = next(scene for scene in words.scenes if scene.question is not None)
    button = page.get_by_role("button", name=f"{words.title}: {asked.title}").last
    button.wait_for()
    assert sideways(page) == 0
    button.click()
    wait_for_params(page, lesson="masks", scene=asked.name)
    page.locator(".lesson canvas").wait_for()


def test_the_link_of_the_lessons_leads_from_a_lesson_to_the_index(open_page: OpenPage, app_url: str) -> None:
    page = open_page(f"{app_url}/lessons?lang=en&lesson=why", still=True)
    page.locator(".lesson canvas").wait_for()
    rest(page)
    page.get_by_role("link", name=T("nav.lessons"), exact=True).click()
    page.locator(".index button.start").wait_for()
    assert until(page, lambda: "lesson" not in params(page))
    page.locator(".index button.stop").filter(has_text=load_lesson("masks", "en").title).click()
    page.locator(".lesson canvas").wait_for()  # a press is answered once
    wait_for_params(page, lesson="masks")
