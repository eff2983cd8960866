"""A model with hundreds of heads in a real browser: it opens by layer, and nothing of it lies beyond the window."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import explorer_samples as samples
from tests.browser.app_driver import params, sideways, wait_for_params
from tests.browser.conftest import APP, OpenPage, Serve
from tests.browser.explorer_driver import ENGLISH, Open
from tests.browser.rest import rest, settled, until
from tests.random_model import save_random_model
from viz_app.components.explorer.payload import pack
from viz_app.components.explorer.selection import Selection
from viz_app.explorer_view.snapshot import MAX_SIDE_BY_SIDE, opening_view
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

LAYERS, HEADS = 24, 9


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights: 24 + 24 layers of 9 heads."""
    folder = tmp_path_factory.mktemp("checkpoint") / "deep"
    return save_random_model(folder, seed=3, layers=LAYERS, heads=HEADS, d_model=18, d_ff=16, extra_length=2)


@pytest.fixture
def url(serve: Serve, random_checkpoint: Path, deep: Path) -> str:
    return serve(APP, HEADLIGHT_CHECKPOINT=str(random_checkpoint), HEADLIGHT_CHECKPOINTS=str(deep))


def choose_model(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name, exact=True).click()
    named = None if name == "random" else name  # the one that is served to all stands in no address
    assert until(page, lambda: params(page).get("model") == named)


@pytest.mark.slow
def test_how_a_model_opens_is_its_own_and_what_is_chosen_stays(url: str, open_page: OpenPage) -> None:
    t = texts("en")
    page = open_page(f"{url}/?text=The+dog.&model=deep")
    wait_for_params(page, view="layer")
    page.get_by_role("link", name=t("nav.model"), exact=True).click()
    page.wait_for_url("**/model?**")
    choose_model(page, "random")
    page.get_by_role("link", name=t("nav.translate"), exact=True).click()
    wait_for_params(page, view="heads")
    page.get_by_role("button", name=t("explorer.view_layer")).click()
    for name, heads in (("deep", HEADS), ("random", 4)):
        wait_for_params(page, view="layer")
        choose_model(page, name)
        assert until(page, lambda heads=heads: page.locator(".explorer .tile").count() == heads)  # type: ignore[misc]
    settled(page)
    assert page.locator(".explorer .tile").count() == 4 and params(page)["view"] == "layer"


def test_it_opens_by_layer_and_all_its_heads_are_one_press_away(open_payload: Open) -> None:
    assert LAYERS * HEADS > MAX_SIDE_BY_SIDE
    maps = samples.long_sample(6, layers=LAYERS, heads=HEADS)
    start = Selection(kind="cross", view=opening_view(LAYERS, HEADS))
    page = open_payload(pack(maps, steps=None, texts=ENGLISH, selection=start))
    tiles = page.locator(".explorer .tile")
    assert tiles.count() == HEADS
    box = page.locator(".explorer .overview").bounding_box()
    assert box is not None
    for button in page.locator(".explorer .choice-group.layer button").all():
        place = button.bounding_box()
        assert place is not None
        assert place["x"] + place["width"] <= box["x"] + box["width"]
    page.locator(".explorer .layer-23").click()
    page.get_by_text('"layer": 23').wait_for()
    page.get_by_role("button", name=ENGLISH["view_heads"]).click()
    page.set_viewport_size({"width": 390, "height": 844})
    rest(page)
    assert tiles.count() == LAYERS * HEADS
    page.get_by_role("button", name=ENGLISH["view_layer"]).click()
    rest(page)
    assert tiles.count() == HEADS
    assert sideways(page) <= 0
