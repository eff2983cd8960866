"""Beam search and comparison on the home page in a real browser, with the model that the app serves."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from tests.browser.app_driver import SENTENCE, press_tool, saved, wait_for_params, wait_for_translation
from tests.browser.conftest import checkpoint
from transformer_core.translator import Translator
from viz_app.serving.models.search_tree import branch_translation
from viz_app.text import texts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.conftest import OpenPage

EDIT = "A woman rides a bicycle."


def test_a_branch_and_a_comparison_live_in_the_address(open_page: OpenPage, app_url: str, tmp_path: Path) -> None:
    translator = Translator.load(checkpoint())
    best = translator.translate(SENTENCE, beam=4)
    second = branch_translation(best, 1, translator)
    page = open_page(f"{app_url}/?text={quote(SENTENCE)}&lang=en&head=cross.2.1")
    wait_for_translation(page, best.text)
    press_tool(page, "beam-button")
    page.locator(".beam-hypothesis").nth(1).click()
    wait_for_params(page, branch="2")
    wait_for_translation(page, second.text)
    press_tool(page, "download")
    with np.load(saved(page, "NPZ", tmp_path)) as archive:
        np.testing.assert_allclose(archive["weights"][0], second.attention.cross[1, 0], atol=1e-6)
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.locator(".branch-note button").click()
    wait_for_translation(page, best.text)
    page.locator(".token").nth(1).click()
    page.locator(".force").first.click()
    ids = (*best.hypotheses[0].ids[:1], best.hypotheses[0].alternatives[1][1][0])
    forced = translator.translate(SENTENCE, beam=4, prefix=ids)
    wait_for_params(page, force=" ".join(translator.tokenizer.tokens(ids)), pin="q2")
    wait_for_translation(page, forced.text)
    page.locator(".branch-note button").click()
    wait_for_translation(page, best.text)
    page.locator(".compare-button").click()
    wait_for_params(page, against="cross.2.1")
    page.get_by_role("textbox", name=texts("en")("translate.input")).fill(EDIT)
    wait_for_translation(page, translator.translate(EDIT, beam=4).text)
    wait_for_params(page, text=EDIT, vs=SENTENCE, against="cross.2.1", head="cross.2.1")
    names = page.locator(".compare-name").all_inner_texts()
    again = open_page(page.url)
    again.locator(".side-difference").wait_for()
    assert again.locator(".compare-name").all_inner_texts() == names
    assert SENTENCE in names[0] and EDIT in names[1]
