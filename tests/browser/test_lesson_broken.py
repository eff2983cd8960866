"""The lesson "What is wrong with this model?" in a real browser."""

from __future__ import annotations

from tests.browser.conftest import OpenPage
from tests.browser.lesson_driver import FIND, ROOT, address, painted, ready
from viz_app.lessons import load_lesson
from viz_app.lessons.labels import labels

T = labels("en")
SCENES = load_lesson("broken", "en").scenes
READY = ROOT + ".lesson.scenes[" + ROOT + ".lesson.name].ready"


def test_evidence_then_a_name(open_page: OpenPage, app_url: str) -> None:
    page = open_page(address(app_url, "broken", text="Tom reads a book.", scene="a"))
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    readout = page.locator(".readout")
    for scene in SCENES[:4]:
        page.get_by_role("tab", name=scene.title).click()
        page.wait_for_function(READY)
        painted(page)
        assert scene.question is not None
        assert "BLEU" not in readout.inner_text()
        for exhibit in ("attention", "order", "vectors", "evenness", "loss"):
            page.get_by_role("radio", name=T(f"lesson_broken.exhibit_{exhibit}"), exact=True).check(force=True)
            page.wait_for_function(ROOT + f".lesson.settings().exhibit === '{exhibit}'")
            painted(page)
            assert readout.inner_text()
    page.get_by_role("tab", name=SCENES[0].title).click()
    page.wait_for_function(READY)
    page.get_by_role("radio", name=T("lesson_broken.exhibit_order"), exact=True).check(force=True)
    assert "by 0.00 in the suspect" in readout.inner_text()
    page.get_by_role("button", name="positional encoding").click()
    page.locator(".lesson canvas").focus()
    page.keyboard.press("Enter")
    assert "BLEU: 19.9 healthy, 17.3 suspect" in readout.inner_text()
    page.get_by_role("tab", name=SCENES[4].title).click()
    page.wait_for_function(READY)
    painted(page)
    assert "future tokens" not in readout.inner_text()
    page.locator(".lesson canvas").focus()
    page.keyboard.press("Enter")
    assert "of its attention on future tokens" in readout.inner_text()
    painted(page)


def test_while_the_models_read_it_says_so_and_a_long_sentence_is_cut(open_page: OpenPage, app_url: str) -> None:
    text = "The woman who lives next door is a doctor and works in the hospital with her old friends."
    page = open_page(
        address(app_url, "broken", text=text, scene="d", **{"with": "exhibit:attention,head:9"}), width=390
    )
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    page.wait_for_function(READY)
    painted(page)
    assert T("lesson_broken.cut") in page.locator(".readout").inner_text()
    assert page.evaluate(ROOT + ".lesson.lesson.values.read") != text
