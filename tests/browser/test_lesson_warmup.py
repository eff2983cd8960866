"""The lesson on warm-up in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.conftest import APP, OpenPage, Serve
from tests.browser.lesson_driver import FIND, ROOT, address, painted, ready, settings
from viz_app.lessons import load_lesson
from viz_app.lessons.labels import labels

if TYPE_CHECKING:
    from playwright.sync_api import Page

T = labels("en")
LESSON = ROOT + ".lesson"


def train(page: Page) -> None:
    """Start the run and wait for two looks at it; it ends where a machine is too busy for anybody to ask."""
    looks = f"({LESSON}.scenes.live.live?.attention?.shape[0] ?? 0) > 1"
    left = f"{LESSON}.scenes.live.live?.state === 'stopped'"
    for _ in range(5):
        page.get_by_role("button", name=T("lesson_warmup.train_now")).click()
        page.wait_for_function(f"{LESSON}.scenes.live.live?.state === 'running' || {looks}")
        page.wait_for_function(f"{looks} || {left}")
        if page.evaluate(looks):
            return
    raise AssertionError("the run ended five times without a watcher")


def test_from_the_formula_to_a_live_run(open_page: OpenPage, serve: Serve) -> None:
    # A server of its own: the run gives way to all that others want.
    page = open_page(address(serve(APP, HEADLIGHT_SLOTS="1"), "warmup", scene="curve", **{"with": "step:2000"}))
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    painted(page, 0.005)
    assert page.locator(".readout").inner_text().startswith("Step 2,000")
    assert "3.49" in page.locator(".readout").inner_text()  # 512^-0.5 * 2000 * 4000^-1.5 = 3.494e-4
    page.locator(".lesson canvas").focus()
    page.keyboard.press("ArrowRight")
    assert settings(page)["step"] == 2001  # steps of 100 from the first update on

    page.keyboard.press("PageDown")  # shape: the peak is dragged, curves are pinned
    box = page.locator(".lesson canvas").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    first = settings(page)["warmup"]
    assert 8_000 < first < 11_000
    pin = page.get_by_role("button", name=T("lesson_warmup.pin"), exact=True)
    pin.click()
    page.get_by_role("radio", name="1024").check(force=True)
    pin.click()
    assert settings(page)["pins"] == f"512-{first // 100}_1024-{first // 100}"
    page.get_by_role("button", name=T("lesson_warmup.unpin")).first.click()
    assert settings(page)["pins"] == f"1024-{first // 100}"

    for _ in load_lesson("warmup", "en").scenes[2:4]:  # runs, adam
        page.locator(".lesson canvas").focus()
        page.keyboard.press("PageDown")
        painted(page)

    page.get_by_role("tab", name=load_lesson("warmup", "en").scenes[4].title).click()  # live
    train(page)
    assert settings(page)["source"] == "live"
    live = page.evaluate(LESSON + ".scenes.live.live.word")
    assert live == "thelittle"  # of the sentence that stands there at first

    page.get_by_role("tab", name=load_lesson("warmup", "en").scenes[5].title).click()
    assert "4.94" not in page.locator(".readout").inner_text()
    page.locator(".lesson canvas").focus()
    page.keyboard.press("Enter")
    assert "4.94" in page.locator(".readout").inner_text()
