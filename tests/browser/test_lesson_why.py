"""The lesson "Why self-attention" in a real browser: its layers are measured by the real server."""

from __future__ import annotations

from tests.browser.conftest import OpenPage
from tests.browser.lesson_driver import FIND, ROOT, address, painted, ready
from viz_app.lessons.labels import labels

T = labels("en")
SCENE = ROOT + ".lesson.scenes.timed"


def test_layers_are_measured_watched_and_stopped(open_page: OpenPage, app_url: str) -> None:
    page, other = (open_page(address(app_url, "why", scene="timed")) for _ in range(2))
    for each in (page, other):
        each.locator(".lesson canvas").wait_for()
        each.evaluate(FIND)
        ready(each)
        painted(each)
        each.wait_for_function(SCENE + ".measurement !== null")
    assert page.locator(".readout").inner_text() == T("lesson_why.timed_idle", d=64)
    page.get_by_role("radio", name="256").check(force=True)
    page.get_by_role("button", name=T("lesson_why.measure"), exact=True).click()
    for each in (page, other):  # who has the scene open sees it
        each.wait_for_function(SCENE + ".measurement.points['256']?.length > 1")
    assert other.locator(".readout").inner_text().startswith("Measuring on this server: d = 256")
    page.get_by_role("button", name=T("lesson_why.stop"), exact=True).click()
    for each in (page, other):
        each.wait_for_function(SCENE + ".measurement.state === 'stopped'")
    count = page.evaluate(SCENE + ".measurement.points['256'].length")
    assert 2 <= count < page.evaluate(SCENE + ".measurement.total")
    told = T("lesson_why.timed_stopped", d=256, done=count, total=32)
    assert page.locator(".readout").inner_text().startswith(told)
    page.get_by_role("button", name=T("translate.download")).wait_for()  # the picture for print is there by itself
    page.get_by_role("button", name=T("lesson.table"), exact=True).click()
    assert page.locator(".numbers tbody tr").count() >= 1
