"""A parser in a real browser: chosen beside the sentence, its brackets read, and hostile input on its way."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.app_driver import choose_option, params, saved, wait_for_params
from tests.browser.conftest import CheckAccessibility
from tests.browser.figures_driver import choose, edit_figure, picture
from tests.browser.rest import settled, until, wait_for_value, wait_until_idle
from tests.hostile import OWN, SAFE
from viz_app.serving.input_validation import MAX_CHARACTERS
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

SENTENCE = "The dog is sleeping."
WORDS = 5  # with the full stop
TREE, OTHER = "English → tree", "English → German"
HOSTILE = (
    "",
    ("word " * MAX_CHARACTERS)[: MAX_CHARACTERS - 1],
    "\U0001f600 👨\u200d👩\u200d👧 runs",
    "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd",
    f"</script><script>{OWN}</script>",
    "( ) -LRB- (S XX )S",
    "개가 짖는다",
)


def choice(page: Page, name: str) -> None:
    """Choose a model from the list, and wait until the page shows it."""
    choose_option(page, texts("en")("models.choice"), name)
    wait_until_idle(page)


def field_of(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("^Sentence in "))


def tokens(page: Page) -> list[str]:
    """What the model generated, as the explorer shows it."""
    return [token.strip() for token in page.locator(".explorer .token").all_text_contents()]


def answer(page: Page) -> str:
    """The tree, or why there is none."""
    shown = page.locator(".explorer .token, [data-testid='stAlert']")
    return " ".join(text.strip() for text in shown.all_text_contents())


def test_from_the_translator_to_brackets_to_their_files_and_back(
    page: Page, tmp_path: Path, check_accessibility: CheckAccessibility
) -> None:
    field = field_of(page)
    field.fill(SENTENCE)
    wait_for_params(page, text=SENTENCE)
    choice(page, TREE)
    wait_for_params(page, model="en-tree", text=SENTENCE)
    assert until(page, lambda: tokens(page).count("XX") == WORDS)
    assert tokens(page)[0] == "(" + tokens(page)[-2].removeprefix(")")
    wait_for_value(field, SENTENCE)
    check_accessibility(page)

    generated = " ".join(tokens(page)[:-1])
    edit_figure(page)
    before = picture(page)
    choose(page, "view", texts("en")("figures_page.view_tree"))
    wait_for_params(page, figure="tree", model="en-tree", text=SENTENCE)
    assert picture(page) != before
    check_accessibility(page)

    pdf = saved(page, "PDF", tmp_path)
    assert pdf.name == "headlight_tree.pdf" and pdf.read_bytes().startswith(b"%PDF-")
    bundle = saved(page, texts("en")("figures_page.bundle"), tmp_path)
    with zipfile.ZipFile(io.BytesIO(bundle.read_bytes())) as archive:
        record = json.loads(archive.read("json/headlight_tree.json"))
        tikz = archive.read("tex/headlight_tree.tex").decode()
    assert generated in json.dumps(record)
    assert all(f"\\strut {word}" in tikz for word in SENTENCE.replace(".", " .").split())

    page.get_by_role("link", name=texts("en")("nav.translate")).click()
    field_of(page).wait_for()
    choice(page, OTHER)
    assert until(page, lambda: tokens(page) != [] and "XX" not in tokens(page))
    wait_for_value(field_of(page), SENTENCE)
    assert params(page)["text"] == SENTENCE


@pytest.mark.slow
def test_whatever_is_typed_gives_a_tree_or_a_message(page: Page) -> None:
    """No error, nothing that runs; the page goes on with the next sentence."""
    choice(page, TREE)
    field = field_of(page)
    for text in HOSTILE:
        field.fill(text)
        settled(page)
        assert until(page, lambda: bool(answer(page)))
        owned, _, frames = page.evaluate(SAFE)
        assert owned is None and frames == 0
        assert page.locator("[data-testid='stException']").count() == 0
    field.fill(SENTENCE)
    assert until(page, lambda: tokens(page).count("XX") == WORDS)
