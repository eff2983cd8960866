"""Hebrew that became Arabic, in a real browser: which way the text runs, and where its maps begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.browser import explorer_samples as samples
from tests.browser.app_driver import WORKED, sideways
from tests.browser.conftest import CheckAccessibility
from tests.browser.explorer_driver import Open, cell_colors, check_table, colors, shown
from viz_app.components.explorer.payload import pack
from viz_app.components.explorer.selection import Selection
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

SOURCE = ["▁הכלב", "▁הקטן", "▁משחק", "▁בגן", "."]
TARGET = ["▁الكلب", "▁الصغير", "▁يلعب", "▁في", "▁الحد", "يقة", "."]


def left_edges(page: Page, selector: str) -> list[float]:
    """Of the elements in the order of the document."""
    result: list[float] = page.locator(selector).evaluate_all(
        "(all) => all.map((each) => each.getBoundingClientRect().left)"
    )
    return result


@pytest.mark.parametrize(("language", "width", "dark"), WORKED)
def test_the_text_runs_from_right_to_left_and_the_maps_from_left_to_right(
    open_payload: Open, check_accessibility: CheckAccessibility, language: str, width: int, dark: bool
) -> None:
    maps = samples.sample(SOURCE, TARGET)
    table, start = texts(language).table("explorer"), Selection(kind="cross", layer=0, head=3)
    payload = pack(maps, steps=None, texts=table, selection=start, source_language="he", target_language="ar")
    page = open_payload(payload, width=width, dark=dark)

    line = page.locator(".explorer .words")
    assert (line.get_attribute("lang"), line.get_attribute("dir")) == ("ar", "rtl")
    assert page.locator(".explorer .words").get_attribute("dir") == "rtl"
    assert page.locator(".explorer .gloss").first.get_attribute("lang") == "he"
    words = left_edges(page, ".explorer .word")
    assert words[0] > words[1] > words[2], "the first word stands at the right"

    weights = maps.cross[0, 3]
    first = weights[:, 0]
    assert np.abs(first - weights[:, -1]).max() > 0.5, "the other way round this map would be another one"
    page.mouse.move(2, 2)
    assert (cell_colors(page, *weights.shape)[:, 0] == colors(weights, "dark" if dark else "light")[:, 0]).all()
    page.locator(".beside .tool.plain").click()
    page.locator(".table table").wait_for()
    check_table(page, maps.source.tokens, maps.outputs.tokens, weights)
    heads = left_edges(page, ".table thead th")
    assert heads == sorted(heads), "the first token stands at the left"
    assert page.locator(".table thead th").nth(1).inner_text() == shown(maps.source.tokens[0])
    assert sideways(page) <= 0
    check_accessibility(page, "dark", "light")
