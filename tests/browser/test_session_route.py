"""A session to its last stop, with a reload on the way; the link of the page that is open."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.browser.app_driver import params, sideways, wait_for_params
from tests.browser.conftest import CheckAccessibility, OpenPage
from tests.browser.lesson_driver import Lesson
from tests.browser.rest import rest, until
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import QUESTIONS, ROUTES, SESSION, SHORT, core_scenes
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

T = texts("en")


def place(stop: str, language: str = "en", route: str = SESSION) -> str:
    """What the bar says at a stop."""
    stops = ROUTES[route]
    number = list(stops).index(stop) + 1
    return texts(language)("index.progress", stop=number, stops=len(stops), minutes=stops[stop])


def wait_for_stop(page: Page, stop: str, language: str = "en", route: str = SESSION) -> None:
    page.get_by_text(place(stop, language, route), exact=True).wait_for()


def look_at_further_scenes(page: Page, scene: str) -> None:
    """What is not on the short route is marked, and opens by its tab."""
    names = [each.name for each in load_lesson("positions", "en").scenes]
    further = [name for name in names if name not in core_scenes("positions", SHORT)]
    marked = page.locator(".lesson .tab.further")
    assert [each.get_attribute("data-scene") for each in marked.all()] == further
    for place, name in ((marked.first, further[0]), (page.locator(f".lesson .tab[data-scene={scene}]"), scene)):
        place.click()
        wait_for_params(page, scene=name)
        assert page.locator(".lesson .section").get_by_text(T("lesson.further")).is_visible() == (name in further)


def test_one_button_leads_over_every_core_scene_to_the_last_stop(
    open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    """The end of the short route, with a reload on the way; a prediction is kept for the last stop."""
    start, *_ = core_scenes("positions", SHORT)
    page = open_page(f"{app_url}/lessons?lang=en&lesson=positions&scene={start}&route=short", still=True)
    words = load_lesson("positions", "en")
    asked = next(scene for scene in words.scenes if scene.question is not None)
    assert asked.question is not None
    wrong = [choice.right for choice in asked.question.choices].index(False)
    for stop in list(ROUTES[SHORT])[list(ROUTES[SHORT]).index("positions") : -1]:
        wait_for_stop(page, stop, route=SHORT)
        for number, scene in enumerate(core_scenes(stop, SHORT)):
            wait_for_params(page, lesson=stop, scene=scene, route=SHORT)
            if (stop, number) == ("positions", 1):
                page.reload()
                wait_for_params(page, lesson=stop, scene=scene, route=SHORT)
            if (stop, scene) == ("positions", asked.name):
                page.locator(".lesson .answer").nth(wrong).click()
                page.locator(".lesson .reveal").click()
            onward = page.locator(".lesson .next")
            onward.wait_for()
            assert page.get_by_role("button", name=re.compile("^Next")).count() == 1
            if (stop, number) == ("positions", 0):
                look_at_further_scenes(page, scene)
                Lesson(page).press("PageDown")  # passes over them
            else:
                onward.click()
    wait_for_stop(page, QUESTIONS, route=SHORT)
    page.get_by_text(T("questions.yours")).wait_for()
    rest(page)  # Streamlit draws one line after the other
    assert page.get_by_text("\u2717").count() == 1
    assert page.get_by_text(T("questions.right")).count() == 1
    page.reload()  # the device has kept the prediction
    page.get_by_text(T("questions.yours")).wait_for()
    rest(page)
    assert page.get_by_text("\u2717").count() == page.get_by_text(T("questions.right")).count() == 1
    check_accessibility(page)
    page.get_by_role("button", name=T("index.finish"), exact=True).click()
    page.locator(".index button.short").wait_for()
    assert until(page, lambda: "route" not in params(page) and "lesson" not in params(page))
    page.locator(".index button.short").click()
    wait_for_stop(page, "translate", route=SHORT)
    wait_for_params(page, route=SHORT)
    page.get_by_role("button", name=T("index.next", title=load_lesson("heads", "en").title)).wait_for()


def test_a_question_opens_its_scene_and_the_link_of_the_lessons_the_index(open_page: OpenPage, app_url: str) -> None:
    t = texts("ko")
    page = open_page(f"{app_url}/lessons?lang=ko&lesson={QUESTIONS}", width=390, height=844, dark=True, still=True)
    words = load_lesson("masks", "ko")
    asked = next(scene for scene in words.scenes if scene.question is not None)
    button = page.get_by_role("button", name=f"{words.title}: {asked.title}").last
    button.wait_for()
    assert sideways(page) == 0
    button.click()
    wait_for_params(page, lesson="masks", scene=asked.name)
    page.locator(".lesson canvas").wait_for()
    page.set_viewport_size({"width": 1280, "height": 720})
    rest(page)
    page.get_by_role("link", name=t("nav.lessons"), exact=True).click()
    for name in ("why", "subwords"):
        page.locator(".index button.start").wait_for()
        assert until(page, lambda: "lesson" not in params(page))
        page.locator(".index button.stop").filter(has_text=load_lesson(name, "ko").title).click()
        page.locator(".lesson canvas").wait_for()  # a press is answered once
        wait_for_params(page, lesson=name)
        Lesson(page).press("PageDown")
        wait_for_params(page, scene=load_lesson(name, "ko").scenes[1].name)  # beside the route none is passed over
        page.get_by_role("button", name=t("lessons.all")).click()
        page.evaluate("const now = Date.now; Date.now = () => now() - 86400000")  # a clock may be set back
