"""Two heads, two sentences, two kinds side by side, with their difference."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tests.browser import explorer_samples as samples
from tests.browser.explorer_driver import (
    ENGLISH,
    MAPS,
    Open,
    cell_colors,
    choose,
    map_of,
    numbers,
    press,
    settle,
)
from tests.browser.file_explorer import compared, reported, show_next
from viz_app.figures.colours.scales import ColorMap, diverging

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import CheckAccessibility

DIFFERENCE = ".side-difference"
EDITED = samples.sample(*samples.EDIT, seed=2)


def printed(difference: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.uint8]:
    """Colours of differences in a figure for print."""
    return ColorMap(diverging("light"), -1, 1, diverging=True).rgb(difference)


def check_edit(page: Page, a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> None:
    """Two sentences are compared where their tokens are the same, and the others are named."""
    rows = [0, 1, 2, None, 3, 9]  # Ein bra uner (kleiner) Hund </s>
    columns = [0, 1, None, *range(2, 11)]  # A brown (little) dog ...
    result = cell_colors(page, *b.shape, selector=DIFFERENCE)
    for (query, row), (key, column) in itertools.product(enumerate(rows), enumerate(columns)):
        if row is not None and column is not None:
            difference = np.array([[b[query, key] - a[row, column]]])
            assert np.abs(result[query, key].astype(int) - printed(difference)[0, 0]).max() <= 3, (query, key)
    assert "läuft" in page.locator(".compare").inner_text()
    names = page.locator(".compare-name").all_inner_texts()
    assert names[0].startswith("A: ") and "plain" in names[0] and "edit" in names[1]


def test_two_heads_then_two_kinds_then_two_sentences(
    open_payload: Open, check_accessibility: CheckAccessibility
) -> None:
    page = open_payload(compared("plain"))
    choose(page, ".compare-button")
    comparison = page.locator(".compare")
    assert ENGLISH["compare_start"] in comparison.inner_text()
    choose(page, ".tile[data-head='4.6']")
    assert ENGLISH["compare_same"] in comparison.inner_text()
    choose(page, ".tile[data-head='2.1']")
    assert not any(ENGLISH[f"compare_{each}"] in comparison.inner_text() for each in ("same", "start"))
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
    assert not comparison.is_visible() and page.locator(".head").is_visible()
    page.get_by_text('"against": null').wait_for()

    choose(page, ".kind-cross")
    choose(page, ".tile[data-head='4.6']")
    choose(page, ".compare-button")
    choose(page, ".tile[data-head='4.6']")
    show_next(page, compared("edit"))
    page.locator(".token", has_text="kleiner").wait_for()
    settle(page)
    check_edit(page, map_of(MAPS, "cross"), map_of(EDITED, "cross"))
    assert "in B kleiner, little" in comparison.get_by_text("Unmatched tokens").inner_text()


def test_a_link_to_a_comparison_on_a_phone_in_the_dark_in_korean(
    open_payload: Open, check_accessibility: CheckAccessibility
) -> None:
    page = open_payload(compared("edit", linked=True, language="ko"), width=390, height=844)
    check_edit(page, map_of(MAPS, "cross", 1, 0), map_of(EDITED, "cross"))
    lefts = page.locator(".compare-side").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().left)")
    assert len(lefts) == 3 and len(set(lefts)) == 1, "stacked"
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    check_accessibility(page, "dark")
    page.locator(".compare-models").select_option("big")
    page.get_by_text('"vsmodel": "big"').wait_for()
    assert page.locator(".head").is_visible(), "the old picture stays until the new one is there"
