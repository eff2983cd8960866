"""Two heads, two sentences, two kinds side by side, with their difference."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.browser import explorer_samples as samples
from tests.browser.explorer_driver import (
    ENGLISH,
    HEAD,
    LAYER,
    MAPS,
    Open,
    cell_colors,
    choose,
    map_of,
    numbers,
    patch,
    press,
    selected,
    settle,
)
from tests.browser.file_explorer import compared, reported, show_next
from viz_app.figures.colours.scales import ColorMap, diverging

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import CheckAccessibility

DIFFERENCE = ".side-difference"


def printed(difference: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.uint8]:
    """Colours of differences in a figure for print."""
    return ColorMap(diverging("light"), -1, 1, diverging=True).rgb(difference)


def pin_first_then(page: Page, tile: int) -> None:
    page.locator(".compare-button").click()
    page.locator(".compare").wait_for()
    choose(page, f".tile >> nth={tile}")


def test_two_heads_and_their_difference(open_payload: Open, check_accessibility: CheckAccessibility) -> None:
    page = open_payload(compared("plain"))
    pin_first_then(page, 8)  # head 2.1
    a, b = map_of(MAPS, "cross"), map_of(MAPS, "cross", 1, 0)
    result = cell_colors(page, *a.shape, selector=DIFFERENCE)
    assert np.abs(result.astype(int) - printed(b - a)).max() <= 3
    assert not page.locator(".head").is_visible()
    page.get_by_text('"against": "cross.4.6"').wait_for()
    assert reported(page)["vs"] == "plain"
    press(page, DIFFERENCE, "ArrowRight", "ArrowDown", "ArrowRight")
    sign = "+" if b[1, 1] > a[1, 1] else "−"
    live = page.locator(".compare [aria-live]")
    heads = "head cross.2.1 minus head cross.4.6"
    assert live.inner_text() == f"{heads}, 'bra' to 'brown', {sign}{abs(b[1, 1] - a[1, 1]):.2f}"
    readout = page.locator(".compare-readout").inner_text()
    assert f"A {a[1, 1]:.3f}, B {b[1, 1]:.3f}" in readout
    page.get_by_role("button", name=ENGLISH["compare_table"]).click()
    cells = page.locator(".compare tbody tr").evaluate_all(
        "(rows) => rows.map((row) => Array.from(row.cells).slice(1).map((cell) => cell.textContent))"
    )
    values = numbers([[cell.replace("−", "-") for cell in row] for row in cells])
    np.testing.assert_allclose(values, b - a, atol=6e-4)
    check_accessibility(page)
    choose(page, ".kind-encoder")
    assert page.get_by_text(ENGLISH["compare_kinds"]).is_visible()
    assert not page.locator(DIFFERENCE).is_visible() and page.locator(".side-a").is_visible()
    press(page, ".side-b", "Escape")
    assert not page.locator(".compare").is_visible() and page.locator(".head").is_visible()
    page.get_by_text('"against": null').wait_for()


@pytest.mark.parametrize("linked", [False, True])
def test_an_edit_of_the_sentence_is_compared_where_the_tokens_are_the_same(open_payload: Open, linked: bool) -> None:
    page = open_payload(compared("edit", linked=True) if linked else compared("plain"))
    if not linked:
        pin_first_then(page, 29)
        show_next(page, compared("edit"))
        page.locator(".token", has_text="kleiner").wait_for()
        settle(page)
    after = samples.sample(*samples.EDIT, seed=2)
    a = map_of(MAPS, "cross", *((1, 0) if linked else (LAYER, HEAD)))
    b = map_of(after, "cross", LAYER, HEAD)
    rows = [0, 1, 2, None, 3, 9]  # Ein bra uner (kleiner) Hund </s>
    columns = [0, 1, None, *range(2, 11)]  # A brown (little) dog ...
    result = cell_colors(page, *b.shape, selector=DIFFERENCE)
    for (query, row), (key, column) in itertools.product(enumerate(rows), enumerate(columns)):
        if row is not None and column is not None:
            difference = np.array([[b[query, key] - a[row, column]]])
            assert np.abs(result[query, key].astype(int) - printed(difference)[0, 0]).max() <= 3, (query, key)
    alone = page.locator(".compare").get_by_text("Unmatched tokens").inner_text()
    assert "läuft" in alone and "in B kleiner, little" in alone
    names = page.locator(".compare-name").all_inner_texts()
    assert names[0].startswith("A: Head") and "plain" in names[0] and "edit" in names[1]


def test_on_a_phone_in_the_dark_in_korean(open_payload: Open, check_accessibility: CheckAccessibility) -> None:
    page = open_payload(compared("edit", linked=True, language="ko"), dark=True, width=390, height=844)
    lefts = page.locator(".compare-side").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().left)")
    assert len(lefts) == 3 and len(set(lefts)) == 1, "stacked"
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    check_accessibility(page)
    page.locator(".compare-close").click()
    settle(page)
    page.locator(".compare-models").select_option("big")
    page.get_by_text('"vsmodel": "big"').wait_for()
    assert page.locator(".head").is_visible(), "the old picture stays until the new one is there"


def test_it_starts_with_the_next_head_and_says_what_to_do(explorer: Page) -> None:
    choose(explorer, ".compare-button")
    assert ENGLISH["compare_start"] in explorer.locator(".compare").inner_text()
    assert selected(explorer) == "4.7", "A is 4.6"
    explorer.locator(".tile[data-head='4.6']").click()
    settle(explorer)
    assert ENGLISH["compare_same"] in explorer.locator(".compare").inner_text()
    explorer.locator(".tile[data-head='2.3']").click()
    settle(explorer)
    said = explorer.locator(".compare").inner_text()
    assert ENGLISH["compare_same"] not in said and ENGLISH["compare_start"] not in said


def test_a_weak_gloss_is_explained(explorer: Page) -> None:
    patch(explorer, kind="cross", layer=0, head=0)  # attends to nothing in particular
    assert explorer.locator(".gloss.weak").count()
    assert ENGLISH["weak_note"] in explorer.locator(".words-note").inner_text()
