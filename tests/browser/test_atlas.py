"""The head atlas on the page Model of the real app: against its numbers, by keyboard, on a telephone, exported."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.atlas_samples import SHIPPED, real_atlas
from tests.browser.app_driver import params, sideways
from tests.browser.conftest import CheckAccessibility, OpenPage
from tests.browser.rest import until, wait_until_idle
from transformer_core.atlas.controls import survivors
from transformer_core.atlas.measures import measure_named
from transformer_core.atlas.naming import head_roles
from transformer_core.atlas.record import Atlas
from viz_app.text import texts
from viz_app.text.role_words import head_words

if TYPE_CHECKING:
    from playwright.sync_api import Page

T = texts("en")


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return real_atlas()


def opened(open_page: OpenPage, url: str, **options: Any) -> Page:
    page = open_page(url, **options)
    page.locator(".atlas .cell").first.wait_for()
    return page


def cell(page: Page, place: str) -> Any:
    return page.locator(f'.atlas .cell[data-place="{place}"]')


def get(page: Page, expression: str) -> Any:
    """The value of an expression in JavaScript, in which `atlas` is the component's object."""
    return page.locator(".atlas").evaluate(f"({{ atlas }}) => {expression}")


def focused(page: Page) -> str:
    """Place of the head whose button has the focus."""
    answer: str = page.evaluate("document.activeElement.shadowRoot?.activeElement?.dataset.place ?? ''")
    return answer


def test_values_orders_and_filters_are_those_of_the_atlas(open_page: OpenPage, app_url: str, atlas: Atlas) -> None:
    page = opened(open_page, f"{app_url}/model?lang=en")
    roles = head_roles(atlas)
    for name in ("effect", "gain", "alignment-output"):
        page.locator(".atlas select").first.select_option(name)
        measure = measure_named(atlas, name)
        ranked = get(page, "atlas.data.ranked(atlas.state).map((head) => head.place)")
        wanted = sorted(measure.rows(), key=lambda row: -round(row[3], 5))
        assert len(ranked) == len(wanted)
        values = {f"{kind}.{layer}.{head}": value for kind, layer, head, value in wanted}
        assert [round(values[place], 5) for place in ranked] == [round(row[3], 5) for row in wanted]
        for place in (ranked[0], ranked[-1]):
            cell(page, place).scroll_into_view_if_needed()
            kind, layer, head = place.split(".")
            said = cell(page, place).get_attribute("aria-label")
            assert head_words(T, kind, roles[kind, int(layer), int(head)]) in said
            assert f"{int(layer) + 1}.{int(head) + 1}" in said
    # Without a role, by the filter.
    page.locator(".atlas select").nth(2).select_option("none")
    none = sum(not found for found in roles.values())
    assert page.locator(".atlas .cell:not(.dim)").count() == none
    assert T("atlas.matching", count=none, all=len(roles)) in page.locator(".atlas").inner_text()
    page.locator(".atlas input[type=checkbox]").check()
    assert atlas.effects
    surviving = survivors(atlas.effects, "mean")
    unknown = {head for head in roles if surviving[head[0]][head[1], head[2]] and not roles[head]}
    assert page.locator(".atlas .cell:not(.dim)").count() == len(unknown)
    page.wait_for_url("**atlas_effect=significant**")
    assert params(page)["atlas_role"] == "none"


def test_by_keyboard_heads_are_compared_and_opened(
    open_page: OpenPage, app_url: str, atlas: Atlas, check_accessibility: CheckAccessibility
) -> None:
    page = opened(open_page, f"{app_url}/model?lang=en")
    cell(page, "encoder.0.0").focus()
    for key, place in (
        ("ArrowRight", "encoder.0.1"),
        ("ArrowDown", "encoder.1.1"),
        ("End", "encoder.1.7"),
        ("ArrowRight", "decoder.1.0"),
        ("ArrowLeft", "encoder.1.7"),
        ("Home", "encoder.1.0"),
        ("ArrowUp", "encoder.0.0"),
    ):
        page.keyboard.press(key)
        assert focused(page) == place
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    assert get(page, "atlas.state.chosen") == ["encoder.0.0", "encoder.1.0"]
    page.wait_for_url("**atlas_heads=encoder.1.1%2Cencoder.2.1**")
    assert focused(page) == "encoder.1.0", "the focus stays"
    # The maps of the sentence came with the first head.
    assert until(page, lambda: page.locator(".atlas .compared canvas").count() == 2)
    assert page.locator(".atlas .compared td.number").count() >= 2 * 10
    check_accessibility(page)
    page.keyboard.press("Enter")
    page.wait_for_url("**layer=2**")
    shown = params(page)
    assert (shown["kind"], shown["layer"], shown["head"], shown["card"]) == ("encoder", "2", "1", "open")
    page.locator(".explorer").wait_for()


@pytest.mark.slow
def test_the_preview_is_the_map_of_the_sentence(open_page: OpenPage, app_url: str) -> None:
    from transformer_core.translator import Translator

    page = opened(open_page, f"{app_url}/model?lang=en&text=The+dog+sleeps.")
    cell(page, "cross.5.4").hover()
    assert until(page, lambda: bool(get(page, "atlas.data.view('cross')")))
    weights = "view.queries.map((_, q) => view.keys.map((_, k) => view.at(5, 4, q, k)))"
    shown = get(page, f"{{ const view = atlas.data.view('cross'); return {weights}; }}")
    maps = Translator.load(SHIPPED).translate("The dog sleeps.", beam=4).attention
    np.testing.assert_allclose(shown, maps.cross[5, 4], atol=1 / 500)
    assert page.locator(".atlas .card canvas").is_visible()
    page.locator(".atlas .card").get_by_role("button", name=T("atlas.open")).click()
    page.wait_for_url("**kind=cross**")
    assert params(page)["text"] == "The dog sleeps."


@pytest.mark.slow
def test_on_a_telephone(open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility) -> None:
    link = f"{app_url}/model?lang=ko&atlas_view=list&atlas_by=entropy&atlas_heads=cross.6.5,cross.6.6"
    page = open_page(link, width=390, dark=True)
    page.locator(".atlas .ranked tbody tr").first.wait_for()
    assert page.locator(".atlas").get_attribute("lang") == "ko"
    assert page.locator(".atlas .ranked tbody tr").count() == 144
    page.get_by_role("button", name=texts("ko")("atlas.view_grid"), exact=True).click()
    box = cell(page, "cross.5.4").bounding_box()
    assert box is not None and min(box["width"], box["height"]) >= 24, "large enough for a finger"
    assert sideways(page) <= 0 and get(page, "atlas.root.scrollWidth - atlas.root.clientWidth") <= 0
    assert page.locator(".atlas .compared").is_visible()
    check_accessibility(page)


def test_curves_slider_and_files(open_page: OpenPage, app_url: str, atlas: Atlas) -> None:
    page = opened(open_page, f"{app_url}/model?lang=en&atlas_by=gradient&atlas_prune=cross&atlas_left=6")
    page.get_by_text(T("atlas.live", left=6, count=48, order=T("atlas.order_effect"))).wait_for()
    slider = page.locator("[data-testid=stSlider]").get_by_role("slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**atlas_left=7**")
    page.get_by_text(T("atlas.live", left=7, count=48, order=T("atlas.order_effect"))).wait_for()
    wait_until_idle(page)
    page.locator(".st-key-atlas-takeaways").get_by_role("button", name=T("atlas.download")).click()
    page.get_by_text("--view=grid --measure=gradient").wait_for()
    with page.expect_download() as download:
        page.locator(".st-key-download-atlas-table-csv").get_by_role("button").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines()))
    assert atlas.effects
    found = {(row["kind"], row["layer"], row["head"]): row for row in rows if row["measure"] == "gradient"}
    value = atlas.effects.gradient["cross"].value[5, 4]
    assert float(found["cross", "6", "5"]["value"]) == pytest.approx(float(value))
    assert {row["weights_hash"] for row in rows} == {atlas.weights_hash}
