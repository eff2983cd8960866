"""The explorer of other programs' attention on a page, opened from the disk.

Every page is watched (conftest.py): an error on the console, or a request that leaves the machine, fails the test.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import CheckAccessibility, OpenPage
from tests.browser.rest import rest
from tests.foreign_maps import RAGGED, SOURCE, decoder_only, encoder_decoder, encoder_only
from tests.hostile import SAFE, STRINGS
from transformer_core.attention_maps import AttentionMaps
from viz_app.standalone.maps import render_maps
from viz_app.text import texts


def address(folder: Path, maps: dict[str, AttentionMaps], language: str = "en") -> str:
    out = folder / "page.html"
    out.write_bytes(render_maps(maps, model="<b>mine</b>", language=language))
    return out.as_uri()


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.slow), "ko"])
def test_an_encoder_shows_its_one_kind(
    tmp_path: Path, open_page: OpenPage, check_accessibility: CheckAccessibility, language: str
) -> None:
    page = open_page(address(tmp_path, {"one": encoder_only()}, language))
    t = texts(language)
    page.locator(".tile").first.wait_for()
    for name in (
        ".choice-group.kind",
        ".player",
        ".translation",
        ".off-button",
        ".menu-tools .beam-button",
        ".view-kinds",
    ):
        assert page.locator(name).is_hidden(), name
    page.locator(".zoom-heads").click()
    rest(page)
    assert page.locator(".block-name").inner_text() == t("one_sequence.kind_encoder")
    visible = page.locator(".tile:not(.absent)")
    assert visible.count() == sum(RAGGED) and page.locator(".tile.absent:visible").count() == 0
    names = [visible.nth(i).get_attribute("data-head") for i in range(visible.count())]
    assert names == [f"{layer + 1}.{head + 1}" for layer, count in enumerate(RAGGED) for head in range(count)]
    page.locator(".order-select").select_option("entropy")
    rest(page)
    assert page.locator(".tile").count() == sum(RAGGED)
    page.locator(".order-select").select_option("layer")
    page.locator(".view-layer").click()
    for layer, count in enumerate(RAGGED):
        if count:
            page.locator(".choice-group.layer button").nth(layer).click()
            rest(page)
            assert page.locator(".tile:not(.absent)").count() == count
    check_accessibility(page)
    page.locator(".view-heads").click()
    rest(page)
    page.locator(".tile[data-head='1.1']").focus()
    for key, head in (("ArrowDown", "2.1"), ("ArrowDown", "4.1"), ("ArrowRight", "4.2"), ("End", "4.2")):
        page.keyboard.press(key)  # passes heads that are not there
        assert page.evaluate("document.querySelector('main').shadowRoot.activeElement.dataset.head") == head


def test_a_decoder_plays_without_probabilities_and_an_encoder_decoder_has_three_kinds(
    tmp_path: Path, open_page: OpenPage
) -> None:
    maps = {
        "one": decoder_only(produced=["\u2581now"]),
        "two": decoder_only(SOURCE[:5]),
        "three": encoder_decoder(),
    }
    page = open_page(address(tmp_path, maps))
    page.locator(".tile").first.wait_for()
    assert page.locator(".choice-group.kind").is_hidden() and page.locator(".tile").count() == 6
    page.locator(".player input").fill("3")
    rest(page)
    assert page.locator(".candidates").is_hidden()
    page.locator(".words .token").nth(1).click()
    assert page.locator(".candidates").is_hidden()
    page.locator(".compare-button").click()
    page.locator(".page-sentences").get_by_role("button", name="two", exact=True).click()
    page.locator(".compare-name").get_by_text("two").wait_for()
    page.locator(".compare-name").get_by_text("one").wait_for()
    page.locator(".compare-close").click()
    page.locator(".page-sentences").get_by_role("button", name="three", exact=True).click()
    page.locator(".kind-cross:visible").wait_for()
    assert page.locator(".choice-group.kind button:visible").count() == 3
    assert any(text.strip() for text in page.locator(".gloss").all_inner_texts())
    for kind, count in (("encoder", 4), ("decoder", 6), ("cross", 6)):
        page.locator(f".kind-{kind}").click()
        rest(page)
        assert page.locator(".tile").count() == count
    page.locator(".zoom-heads").click()
    rest(page)
    assert page.locator(".tile").count() == 16


def test_hostile_tokens_and_names_are_text(tmp_path: Path, open_page: OpenPage) -> None:
    page = open_page(address(tmp_path, {STRINGS[0]: decoder_only(STRINGS), STRINGS[3]: encoder_only(STRINGS)}))
    for name in (STRINGS[0], STRINGS[3]):
        page.locator(".page-sentences").get_by_role("button", name=name, exact=True).click()
        page.locator(".tile").first.wait_for()
        for zoom in ("heads", "token", "head"):
            page.locator(f".zoom-{zoom}").click()
            rest(page)
    page.locator("footer summary").click()
    owned, _, frames = page.evaluate(SAFE)
    assert owned is None and frames == 0
