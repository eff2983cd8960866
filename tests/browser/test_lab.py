"""The Lab in the browser: every bench opens, answers in Korean, and works by keyboard; links lead there and back."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, quote, urlsplit

from tests.browser.conftest import CheckAccessibility, OpenLesson, OpenPage
from tests.browser.lesson_driver import ANSWERED, Lesson
from tests.browser.rest import until
from viz_app.lessons.lab.bench import benches
from viz_app.lessons.labels import labels
from viz_app.text import texts

T = labels("en")
LONG = "A man in a blue shirt is standing on a tall ladder in the garden, and his son is cleaning the old window."


def test_every_bench_answers_by_keyboard_and_keeps_the_chosen_head(
    open_lesson_file: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    """In Korean, on a phone, in the dark. Where a bench shows a head, what was chosen last counts."""
    lesson = open_lesson_file("lab", "off", settings="chosen:decoder.3.6", lang="ko", width=390, height=844, dark=True)
    lesson.wait(ANSWERED)
    lesson.go("redirect")
    lesson.wait("lesson.scene.own?.head === 'decoder.3.6'")
    lesson.get("lesson.set({ chosen: 'encoder.2.4' })")
    for bench, head in (("why", "encoder.2.4"), ("parts", ""), ("off", "decoder.3.6"), ("why", "decoder.3.6")):
        lesson.go(bench)
        assert lesson.settings()["chosen"] == head, bench
    for bench in benches():
        lesson.go(bench)
        lesson.wait(ANSWERED)
        lesson.painted(0.01)
        assert re.search("[가-힣]", lesson.said()) and lesson.get("lesson.scene.table(lesson.settings()).rows.length")
        before = lesson.settings()
        lesson.press("ArrowLeft" if bench == "depth" else "ArrowRight")  # its playhead starts at its end
        assert (lesson.settings() != before) == (bench != "early")
        lesson.wait(ANSWERED)
        if bench in ("off", "redirect", "trace", "flow"):  # the others have no other controls
            check_accessibility(lesson.page)


def test_from_a_head_in_translate_to_the_lab_and_back(open_page: OpenPage, app_url: str) -> None:
    page = open_page(f"{app_url}/?lang=ko&head=cross.4.3", still=True)
    page.locator(".explorer .tile").first.wait_for()
    page.locator(".st-key-open-in-lab button").click()
    lesson = Lesson(page)
    lesson.wait(ANSWERED)
    assert lesson.settings()["chosen"] == "cross.4.3"
    page.get_by_text(texts("ko")("lessons.recipe")).click()
    code = page.locator("[data-testid=stExpander] code")
    assert "Translator.load" in code.last.inner_text() and code.first.inner_text().startswith("python -m ")
    lesson.press("ArrowRight")
    other = lesson.get("lesson.settings().chosen")
    assert until(page, lambda: other in parse_qs(urlsplit(page.url).query).get("with", [""])[0])
    page.locator(".st-key-open-head button").click()
    page.locator(".explorer").wait_for()
    assert until(page, lambda: parse_qs(urlsplit(page.url).query).get("head") == [other])


def test_a_card_of_try_this_opens_its_experiment(open_page: OpenPage, app_url: str) -> None:
    page = open_page(f"{app_url}/?text={quote('Birds sing.')}", still=True)
    page.locator(".try-this [data-card=redirect]").click()
    lesson = Lesson(page)
    lesson.wait(ANSWERED)
    tops = lesson.get("lesson.scene.own.top")
    assert max(tops, key=lambda top: top[2])[0] == "\u2581Die"  # what the card shows
    assert max(tops, key=lambda top: top[1])[0] == "\u2581Der"


def test_a_long_computation_is_stopped_and_computed_after_all(
    open_lesson: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    lesson = open_lesson("lab", "trace", text=LONG)
    lesson.wait(ANSWERED)
    switch = lesson.page.get_by_role("checkbox", name=T("lesson_lab.method_integrated_gradients"))
    switch.check(force=True)
    main = lesson.page.get_by_test_id("stMain")  # Streamlit has a button Stop of its own, above the page
    stop = main.get_by_role("button", name=T("lesson_lab.stop"), exact=True)
    stop.click()
    lesson.wait("lesson.lesson.values.bench === null")
    assert lesson.said() == T("lesson_lab.stopped")
    check_accessibility(lesson.page)
    switch.uncheck(force=True)  # without which it takes no time
    main.get_by_role("button", name=T("lesson_lab.compute"), exact=True).click()
    lesson.wait("lesson.scene.own")
    stop.wait_for(state="detached")
