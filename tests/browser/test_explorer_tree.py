"""The tree of a parser's sentence: drawn, pressed, folded, grown, by pointer and by keyboard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.browser.app_driver import LOCALES
from tests.browser.conftest import CheckAccessibility
from tests.browser.explorer_driver import Open, patch, settle, state
from tests.browser.explorer_samples import confidences
from tests.browser.file_explorer import show_next
from tests.browser.rest import rest
from tests.hostile import SAFE, STRINGS
from transformer_core.translator import Translator
from viz_app.components.explorer.payload import pack
from viz_app.components.explorer.selection import Selection
from viz_app.serving.models.parse_tree import parse_tree
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import OpenPage

SENTENCE = "I saw the man with the telescope ."
LONG = (
    "The woman who lives next door gave the boy , who had wanted it for years , a book that she had found in a small "
    "shop near the station when she was on her way home from work one day ."
)


@pytest.fixture(scope="module")
def parser(parser_checkpoint: Path) -> Translator:
    return Translator.load(parser_checkpoint)


@pytest.fixture
def tree(parser: Translator) -> dict[str, Any]:
    best = parser.translate(SENTENCE, beam=4)
    return parse_tree(best, 0, best, parser)


def node(page: Page, number: int) -> Any:
    return page.locator(f".tree-node[data-node='{number}']")


def test_the_tree_is_drawn_pressed_grows_and_leads_to_others(
    open_payload: Open, tree: dict[str, Any], parser: Translator
) -> None:
    table, start = texts("en", parses=True).table("explorer"), Selection(kind="cross", layer=1, head=0)
    maps = parser.translate(SENTENCE, beam=4).attention
    known: dict[str, Any] = {"steps": confidences(maps), "texts": table, "selection": start}
    page = open_payload(pack(maps, **known, tree=tree))
    labels = page.locator(".tree-node > text:not(.tree-mark)").all_text_contents()
    assert sorted(labels) == sorted(each["label"] for each in tree["nodes"])
    assert page.locator(".tree-word text").all_text_contents() == tree["words"]

    # A constituent pins the rows of its brackets.
    number = next(i for i, each in enumerate(tree["nodes"]) if each["label"] == "PP")
    label = node(page, number).locator("text").first
    label.click()
    settle(page)
    opening, closing = tree["nodes"][number]["opening"], tree["nodes"][number]["closing"]
    assert state(page, "pin") == f"q{opening}"
    weights = maps.cross[1, 0, opening]
    shown = page.locator(".tree-word").evaluate_all(
        "(all) => all.map((word) => Number(word.style.getPropertyValue('--weight')))"
    )
    expected = [100 * float(weights[first : last + 1].sum()) for first, last in tree["spans"]]
    assert shown == pytest.approx(expected, abs=1)
    label.click()
    settle(page)
    assert state(page, "pin") == f"q{closing}"
    label.click()
    settle(page)
    assert state(page, "pin") is None

    # An encoder gives way to the attention that generates.
    patch(page, kind="encoder", layer=0, head=0)
    node(page, 1).locator("text").first.click()
    settle(page)
    assert state(page, "kind") == "cross"
    assert state(page, "pin") == f"q{tree['nodes'][1]['opening']}"

    # It grows with the decoding.
    step = tree["nodes"][-1]["opening"]
    patch(page, step=step)
    there = page.locator(".tree-node:not(.unwritten)").evaluate_all("(all) => all.map((node) => +node.dataset.node)")
    assert there == [i for i, each in enumerate(tree["nodes"]) if each["opening"] < step]
    still_open = page.locator(".tree-node.open:not(.unwritten)").evaluate_all(
        "(all) => all.map((node) => +node.dataset.node)"
    )
    assert still_open == [i for i, each in enumerate(tree["nodes"]) if each["opening"] < step <= each["closing"]]
    assert page.locator(".tree-word.unread").count() == sum(mark >= step for mark in tree["marks"])

    # By keyboard, of the whole tree again.
    patch(page, step=None)
    node(page, 0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    second = [i for i, each in enumerate(tree["nodes"]) if each["parent"] == 0][1]
    focused = "(root) => root.getRootNode().activeElement?.dataset.node"
    assert page.locator(".explorer").evaluate(focused) == str(second)
    page.keyboard.press("Enter")
    settle(page)
    assert state(page, "pin") == f"q{tree['nodes'][second]['opening']}"
    inside = sum(1 for each in tree["nodes"] if tree["nodes"][second]["begin"] <= each["begin"]) - 1
    page.keyboard.press("Space")
    settle(page)
    assert page.locator(".tree-node").count() == len(tree["nodes"]) - inside
    assert node(page, second).get_attribute("aria-expanded") == "false"
    page.keyboard.press("Space")
    page.keyboard.press("ArrowUp")
    assert page.locator(".explorer").evaluate(focused) == "0"
    assert page.locator(".tree-node").count() == len(tree["nodes"])
    assert page.locator(".tree-node[tabindex='0']").count() == 1

    # Another tree opens its branch.
    other = page.locator(".tree-other").first
    branch = int(other.get_attribute("data-branch") or 0)
    other.click()
    page.get_by_text(f'"branch": {branch}').wait_for()

    # Words are text, whatever they are.
    hostile = {**tree, "words": STRINGS[: len(tree["words"])]}
    show_next(page, pack(maps, **known, tree=hostile))
    page.locator(".tree-word", has_text="onload").first.wait_for()
    assert page.locator(".tree-word text").all_text_contents() == list(hostile["words"])
    assert page.evaluate(SAFE)[0] is None and page.locator(".tree :is(img, script, iframe, a)").count() == 0


@pytest.mark.parametrize(("locale", "dark"), LOCALES)
def test_a_long_sentence_scrolls_in_its_own_box_and_what_comes_later_is_told(
    open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility, dark: bool, locale: str
) -> None:
    address = f"{app_url}/?model=en-tree&text={quote(LONG)}&head=cross.2.1"
    page = open_page(address, width=390, height=844, dark=dark, locale=locale)
    page.locator(".tree-node").first.wait_for()
    rest(page)
    box, inner = (page.locator(f".tree-{each}").bounding_box() for each in ("box", "drawing"))
    assert box is not None and inner is not None
    assert inner["width"] > box["width"]
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    name = texts(locale[:2])("explorer.tree")
    assert page.locator(".tree-drawing").get_attribute("aria-label") == name
    check_accessibility(page, "dark", "light")

    # Of a sentence as people type it: what the search finds when anything is allowed, and without a head.
    t = texts(locale[:2], parses=True)
    page.get_by_role("textbox", name=t("translate.input")).fill("I can't see the man with the telescope.")
    told = page.locator(".tree-free span").nth(1)
    told.filter(has_text=t("explorer.tree_free_same")).wait_for()
    page.get_by_role("button", name=t("explorer.off"), exact=True).click()
    said = re.compile("|".join(t(f"explorer.off_{each}") for each in ("same", "changed")))
    page.locator(".explorer b", has_text=said).wait_for()
