"""The lesson on the whole way in a browser: every scene paints, stations can be pressed, steps and keys work."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import CheckAccessibility, OpenPage, checkpoint, wait_until_idle
from tests.browser.lesson_driver import FIND, ROOT, address, painted, ready, settings
from viz_app.lessons import load_lesson
from viz_app.lessons.labels import labels

if TYPE_CHECKING:
    from playwright.sync_api import Page

LESSON = ROOT + ".lesson"
SCENE = f"{LESSON}.scenes[{LESSON}.name]"
SCENES = [scene.name for scene in load_lesson("architecture", "en").scenes]


def opened(open_page: OpenPage, app_url: str, language: str = "en", **options: object) -> Page:
    page = open_page(address(app_url, "architecture", lang=language), still=True, **options)
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    return page


def go(page: Page, scene: str) -> None:
    page.evaluate(f"{LESSON}.go({scene!r})")


def station(page: Page) -> dict[str, object]:
    """The station at which the sentence is."""
    found: dict[str, object] = page.evaluate(f"{SCENE}.moment({LESSON}.settings().at).station")
    return found


def press_box(page: Page, x: float, y: float) -> None:
    page.locator(".lesson canvas").click(position={"x": x, "y": y})


def test_the_sentence_goes_through_figure_1(
    open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    page = opened(open_page, app_url)
    painted(page, 0.02)
    assert station(page)["name"] == "ids"
    page.locator(".lesson canvas").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert (station(page)["name"], station(page)["layer"]) == ("self_attention", 0)
    # A box is pressed, then the number of a layer: the same station there.
    places = page.evaluate(f"""() => {{
        const scene = {SCENE};
        const {{ figure }} = scene.places({LESSON}.stage);
        for (let y = figure.y; y < figure.y + figure.height; y++) {{
            const x = figure.x + figure.width * 0.7;
            const patch = scene.grab(x, y, {{ ...{LESSON}.stage.pen(null), first: true }}, {LESSON}.settings());
            if (patch && scene.route[patch.at].name === "cross_attention") return {{ x, y: y + 6 }};
        }}
        return null;
    }}""")
    press_box(page, **places)
    assert (station(page)["name"], station(page)["side"], station(page)["layer"]) == ("cross_attention", "decoder", 0)
    shape = page.evaluate(f"{SCENE}.shape({SCENE}.moment({LESSON}.settings().at).station)")
    assert shape in page.locator(".readout").inner_text()
    page.wait_for_function("(new URL(location.href).searchParams.get('with') ?? '').includes('at:')")
    page.keyboard.press("End")  # no key of the lesson: nothing changes
    assert station(page)["name"] == "cross_attention"
    page.get_by_role("button", name=labels("en")("lesson.table")).click()
    rows = page.locator(".numbers tbody tr")
    assert rows.count() == page.evaluate(f"{SCENE}.route.length")
    wait_until_idle(page)  # what a run leaves behind fades
    check_accessibility(page)


@pytest.mark.parametrize(("language", "width", "dark"), [("en", 1280, True), ("ko", 390, False)])
def test_every_scene_paints_and_fits(open_page: OpenPage, app_url: str, language: str, width: int, dark: bool) -> None:
    page = opened(open_page, app_url, language, width=width, dark=dark)
    for scene in SCENES:
        go(page, scene)
        painted(page, 0.02)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), scene
        assert page.locator(".readout").inner_text().strip()
        description = page.locator(".lesson canvas").get_attribute("aria-label")
        assert description and "{" not in description and "undefined" not in description, scene


def test_steps_controls_and_the_hidden_answer(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, app_url)
    t = labels("en")
    go(page, "training")
    page.locator(".lesson canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert settings(page)["step"] == 3
    assert "6" in page.locator(".readout").inner_text(), "1 + 2 + 3 rows without a cache"
    page.get_by_role("radio", name=t("lesson_architecture.cache_with")).check()
    assert page.evaluate(f"{SCENE}.lit({LESSON}.settings())") == "last"
    go(page, "ffn")
    page.locator(".lesson canvas").focus()
    page.keyboard.press("ArrowRight")
    slots = page.evaluate(f"{SCENE}.slots(4, {LESSON}.settings().at)")
    assert slots == [1, 0, 2, 3], "the first token is at the second place, the second at the first"
    halfway = page.evaluate(f"{SCENE}.slots(4, 1.5)")
    assert sorted(halfway) != slots and sum(halfway) == 6
    go(page, "residual")
    stats = page.evaluate(f"{SCENE}.rows({SCENE}.moment({LESSON}.settings())).map((row) => row.stats)")
    width = json.loads((checkpoint() / "config.json").read_text(encoding="utf-8"))["model"]["d_model"]
    for mean, deviation, length in stats:
        assert abs(length - (width * (mean**2 + deviation**2)) ** 0.5) < 1e-3, "one vector, three numbers"
    go(page, "predict")
    page.get_by_role("button", name=t("lesson.table")).click()
    assert page.locator(".numbers tbody tr").count() == 0, "hidden"
    page.get_by_role("button", name=t("lesson.reveal")).click()
    assert page.locator(".numbers tbody tr").count() == 4
    assert t("lesson_architecture.part_feed_forward") in page.locator(".readout").inner_text()
