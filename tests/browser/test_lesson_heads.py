"""The lesson on heads in the browser: every scene paints, heads can be pressed, and the head of the tour opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.conftest import CheckAccessibility, OpenPage, wait_until_idle
from tests.browser.lesson_driver import FIND, ROOT, address, painted, ready, settings
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

T = texts("en")
LESSON = ROOT + ".lesson"


def press(page: Page, kind: str, layer: int, head: int) -> None:
    """Press the tile of a head."""
    tile = page.evaluate(
        f"{LESSON}.scenes[{LESSON}.name].grid({LESSON}.stage.pen(null)).tile('{kind}', {layer}, {head})"
    )
    middle = tile["size"] / 2
    page.locator(".lesson canvas").click(position={"x": tile["x"] + middle, "y": tile["y"] + middle})


def test_the_lesson_on_heads(open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility) -> None:
    page = open_page(address(app_url, "heads"), still=True)
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    for scene in ("tour", "one", "concat", "off"):
        page.evaluate(f"{LESSON}.go('{scene}')")
        painted(page, 0.02)
    # The last scene hides its answer; the costly number comes when it is open.
    page.evaluate(f"{LESSON}.go('predict')")
    page.wait_for_function(LESSON + ".lesson.values.alone !== null")
    assert page.evaluate(LESSON + ".stage.pen(null).revealed") is False
    page.get_by_role("button", name=T("lesson.reveal")).click()
    alone = page.evaluate(LESSON + ".lesson.values.alone")
    assert str(alone["same"]) in page.locator(".readout").inner_text()
    painted(page, 0.02)
    wait_until_idle(page)  # what a run leaves behind fades
    check_accessibility(page)
    # A head that is pressed is switched off, by the model.
    page.evaluate(f"{LESSON}.go('off')")
    press(page, "cross", 1, 2)
    page.wait_for_function(LESSON + ".lesson.answers.off !== 'none.0'")
    assert settings(page)["pressed"] == page.evaluate(LESSON + ".lesson.answers.off")
