"""The beam search in the explorer: its tree, its ranking under any length penalty, and the maps of its branches."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.browser import explorer_searches as searches
from tests.browser.app_driver import press_tool
from tests.browser.explorer_driver import (
    ENGLISH,
    Open,
    cell_colors,
    colors,
    map_of,
    milliseconds_of,
    nodes,
    pixels,
    press,
    settle,
    shown,
)
from tests.browser.file_explorer import reported, search
from tests.browser.rest import quickest
from viz_app.figures.colours.palette import kind_color
from viz_app.serving.models.search_tree import branch_ends, path_to
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import CheckAccessibility


COLORS = {"best": kind_color("cross", "light"), "pruned": "#a3a9b5", "kept": "#31333f"}
INKS = {name: np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) for name, color in COLORS.items()}


@pytest.fixture
def open_search(open_payload: Open) -> Open:
    """Open an explorer with its tree: `open_search(steps=9, beam=3, width=390)`."""

    def start(*, steps: int = 9, beam: int = 3, language: str = "en", closed: bool = False, **window: Any) -> Page:
        page = open_payload(*search(steps, beam, language), **window)
        if not closed:
            press_tool(page, "beam-button")
        settle(page)
        return page

    return start


def texts_of(translation: Any, order: list[int]) -> list[str]:
    ends = branch_ends(translation)
    paths = [path_to(translation.history, ends[branch]) for branch in order]
    tokens = ["".join(searches.TOKENS[node.token] for node in path if node.token != searches.EOS) for path in paths]
    return [text.replace("\u2581", " ").strip() for text in tokens]


def set_alpha(page: Page, alpha: float) -> None:
    page.locator(".beam .slider").fill(str(alpha))
    settle(page)


def listed(page: Page) -> list[str]:
    return page.locator(".beam-hypothesis .beam-text").all_inner_texts()


def test_a_branch_or_a_point_of_the_tree_opens_its_own_maps_and_the_way_back(open_search: Open) -> None:
    page = open_search()
    translation, config = searches.made_up(9)
    ends = branch_ends(translation)
    best = {index_of(translation, node) for node in path_to(translation.history, ends[0])}
    hit = "({ explorer }, node) => explorer.hit(`node ${node}`)"
    visible = [number for number, node in enumerate(translation.history) if 1 <= node.step <= 4]
    places = {node: page.locator(".explorer").evaluate(hit, node) for node in visible}
    picture = pixels(page, ".beam-tree").astype(int)
    for node, place in places.items():  # the winner in the kind's colour, what was pruned in grey
        kind = "best" if node in best else "pruned" if translation.history[node].status == "pruned" else "kept"
        apart = {name: np.abs(picture[place["y"], place["x"] - 4] - ink) for name, ink in INKS.items()}
        assert apart[kind].max() < 90, (node, kind)
        assert min(apart, key=lambda name: apart[name].sum()) == kind

    for alpha in (2.0, config.alpha):  # another one ranks again
        set_alpha(page, alpha)
        assert listed(page) == texts_of(translation, searches.ranked(translation, alpha, "gnmt")[:12])
    assert not page.locator(".branch-note").is_visible()
    page.locator(".beam-hypothesis").nth(1).click()
    note = page.locator(".branch-note")
    note.get_by_text(f"hypothesis 2 of {len(translation.hypotheses)}").wait_for()
    settle(page)
    maps = searches.maps_of(translation, 1)
    assert page.locator(".token").all_inner_texts() == [shown(token) for token in maps.outputs.tokens]
    result = cell_colors(page, len(maps.outputs), len(maps.source))
    assert (result == colors(map_of(maps, "cross"), "light")).all()
    page.get_by_text('"branch": 1').wait_for()
    pruned = next(b for b, end in enumerate(ends) if b >= 3 and translation.history[end].status == "pruned")
    page.get_by_role("button", name=ENGLISH["beam_all"]).click()
    page.get_by_role("button", name=ENGLISH["beam_open"].replace("{branch}", str(pruned + 1)), exact=True).click()
    step = translation.history[ends[pruned]].step
    note.get_by_text(f"pruned at step {step}").wait_for()
    assert page.locator(".cut").inner_text() == ENGLISH["beam_cut"]
    assert page.locator(".token").count() == step
    page.get_by_role("button", name=ENGLISH["beam_back"]).click()
    note.wait_for(state="hidden")
    assert page.locator(".token").count() == len(searches.maps_of(translation, 0).outputs)
    page.get_by_text('"branch": 0').wait_for()
    assert reported(page)["branch"] == 0
    node = next(node for node in visible if node in ends[3:])
    x, y = places[node]["x"] - 20, places[node]["y"]
    page.locator(".beam-tree canvas").click(position={"x": x, "y": y})
    page.get_by_text(f'"branch": {ends.index(node)}').wait_for()


def test_the_tree_by_keyboard_and_by_pointer(open_search: Open, check_accessibility: CheckAccessibility) -> None:
    page = open_search(language="ko", dark=True, width=390, height=844)
    translation, _ = searches.made_up(9)
    korean = texts("ko").table("explorer")
    check_accessibility(page)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    press(page, ".beam-tree", "ArrowRight", "Home")  # enters at the end of the best branch
    live = page.locator(".beam [aria-live]")
    best = path_to(translation.history, branch_ends(translation)[0])
    for number, node in enumerate(best):
        line = live.inner_text()
        assert f"{node.step}단계: {shown(searches.TOKENS[node.token])}," in line
        assert f"{node.log_probability:.2f}".replace("-", "−") in line
        assert f"{round(100 * np.exp(node.token_log_probability))}\u202f%" in line
        if number + 1 < len(best):
            children = [i for i, other in enumerate(translation.history) if other.parent == index_of(translation, node)]
            down = children.index(index_of(translation, best[number + 1]))
            press(page, ".beam-tree", "ArrowRight", *["ArrowDown"] * down)
    assert korean["beam_status_f"] in live.inner_text()
    press(page, ".beam-tree", *["ArrowDown"] * 8, "Enter")  # of the last that was pruned in this step
    page.locator(".branch-note").get_by_text(re.compile(r"\d단계")).wait_for()
    last = [i for i, node in enumerate(translation.history) if node.step == best[-1].step][-1]
    page.get_by_text(f'"branch": {branch_ends(translation).index(last)}').wait_for()
    press(page, ".beam-tree", "Escape")
    page.locator(".beam").wait_for(state="hidden")


def index_of(translation: Any, node: Any) -> int:
    match: int = next(i for i, other in enumerate(translation.history) if other is node)
    return match


def test_a_long_search_stays_light(open_search: Open) -> None:
    page = open_search(steps=512, beam=4, closed=True)
    before = nodes(page)

    def spent() -> float:
        if page.locator(".beam").is_visible():
            press_tool(page, "beam-button")
            page.locator(".beam").wait_for(state="hidden")
        page.locator(".menu-button").click()
        milliseconds = milliseconds_of(page.locator(".menu-tools .beam-button"))
        page.locator(".beam").wait_for()
        return milliseconds

    assert quickest(spent, 1_000) < 1_000
    page.get_by_role("button", name=ENGLISH["beam_all"]).click()
    settle(page)
    assert nodes(page) - before < 300
    tree = page.locator(".beam-tree")
    width = tree.evaluate("(element) => [element.scrollWidth, element.querySelector('canvas').width]")
    assert width[0] > 10_000 > width[1], "the canvas covers only what is visible"
    press(page, ".beam-tree", "ArrowRight", "Home", "End")
    assert tree.evaluate("(element) => element.scrollLeft") > 10_000
