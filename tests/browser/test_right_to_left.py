"""A model from Hebrew to Arabic in a real browser: which way its text runs, and where its maps begin."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest

from tests.browser.app_driver import WORKED, sideways, wait_for_translation
from tests.browser.conftest import APP, CheckAccessibility, OpenPage, Serve
from tests.browser.explorer_driver import cell_colors, check_table, colors, shown
from tests.browser.rest import settled
from tests.random_model import save_random_model
from transformer_core.translator import Translator

if TYPE_CHECKING:
    from playwright.sync_api import Page

SOURCE = ("הכלב הקטן משחק בגן.", "הילדה קוראת ספר ישן.", "אני רואה בית גדול.")
TARGET = ("الكلب الصغير يلعب في الحديقة.", "تقرأ البنت كتابا قديما.", "أرى بيتا كبيرا.")
TEXT = SOURCE[0]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights that generate Arabic letters first: 2 + 2 layers, 4 heads."""
    folder = tmp_path_factory.mktemp("checkpoint") / "he-ar"
    metrics = {"languages": {"source": "he", "target": "ar"}}
    sentences = [*SOURCE, *TARGET]
    return save_random_model(
        folder, seed=9, sentences=sentences, vocab_size=110, extra_length=4, sharpness=3, metrics=metrics
    )


def left_edges(page: Page, selector: str) -> list[float]:
    """Of the elements in the order of the document."""
    result: list[float] = page.locator(selector).evaluate_all(
        "(all) => all.map((each) => each.getBoundingClientRect().left)"
    )
    return result


@pytest.mark.parametrize(("language", "width", "dark"), WORKED)
def test_the_text_runs_from_right_to_left_and_the_maps_from_left_to_right(
    serve: Serve,
    open_page: OpenPage,
    model: Path,
    check_accessibility: CheckAccessibility,
    language: str,
    width: int,
    dark: bool,
) -> None:
    translation = Translator.load(model).translate(TEXT, beam=4)
    maps = translation.attention
    assert re.match("[\u0600-\u06ff]", translation.text), "the first letter decides which way the text runs"
    url = serve(APP, HEADLIGHT_CHECKPOINT=str(model))
    page = open_page(f"{url}/?lang={language}&text={quote(TEXT)}&head=cross.1.4", width=width, dark=dark)
    wait_for_translation(page, translation.text, language)

    field = page.get_by_role("textbox").first
    assert field.evaluate("(input) => getComputedStyle(input).unicodeBidi") == "plaintext", "the text decides"
    line = page.locator(".explorer .words")
    assert (line.get_attribute("lang"), line.get_attribute("dir")) == ("ar", "rtl")
    assert page.locator(".explorer .sentence").get_attribute("dir") == "rtl"
    assert page.locator(".explorer .gloss").first.get_attribute("lang") == "he"
    words = left_edges(page, ".explorer .word")
    assert words[0] > words[1] > words[2], "the first word stands at the right"

    weights = maps.cross[0, 3]
    first = weights[:, 0]
    assert np.abs(first - weights[:, -1]).max() > 0.5, "the other way round this map would be another one"
    painted = cell_colors(page, *weights.shape)
    assert (painted[1:, 0] == colors(weights, "dark" if dark else "light")[1:, 0]).all()  # no row is pinned there
    page.locator(".beside .tool.plain").click()
    page.locator(".table table").wait_for()
    check_table(page, maps.source.tokens, maps.outputs.tokens, weights)
    heads = left_edges(page, ".table thead th")
    assert heads == sorted(heads), "the first token stands at the left"
    assert page.locator(".table thead th").nth(1).inner_text() == shown(maps.source.tokens[0])

    settled(page)
    assert sideways(page) <= 0
    check_accessibility(page, "dark", "light")
