"""How heads grew, on the page Model of the real app: played, read against the file, by keyboard, on a small screen."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.browser.app_driver import choose_option, saved, sideways
from tests.browser.conftest import CheckAccessibility, OpenPage, checkpoint
from tests.browser.rest import until, wait_until_idle
from transformer_core.attention_maps import KINDS
from transformer_core.history.snapshots import History
from viz_app.lessons.small_models import HISTORIES
from viz_app.model_card.head_snapshot import moment_name
from viz_app.model_card.histories import HistorySource, available_histories
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page


T = texts("en")


@pytest.fixture(scope="module")
def shown() -> HistorySource:
    """The model whose history the page opens with."""
    return available_histories(checkpoint())[0]


@pytest.fixture(scope="module")
def history(shown: HistorySource) -> History:
    return History.load(shown.folder)


def opened(open_page: OpenPage, url: str, **options: Any) -> Page:
    page = open_page(url, **options)
    page.locator(".growth .tile").first.wait_for()
    page.locator(".growth .heads").scroll_into_view_if_needed()
    return page


def get(page: Page, expression: str, arg: Any = None) -> Any:
    """The value of an expression in JavaScript, in which `growth` is the component's object."""
    return page.locator(".growth").evaluate(f"({{ growth }}, arg) => {expression}", arg)


def wait(page: Page, expression: str) -> None:
    """Wait until an expression holds."""
    assert until(page, lambda: bool(get(page, expression))), f"never: {expression}"


def state(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = get(page, "growth.state")
    return found


def test_it_plays_and_the_numbers_are_those_of_the_file(
    open_page: OpenPage, app_url: str, history: History, check_accessibility: CheckAccessibility
) -> None:
    page = opened(open_page, f"{app_url}/model?lang=en")
    validation, alignment = history.validation, history.alignment
    assert validation is not None and alignment is not None
    assert page.locator(".growth .step-text").inner_text() == moment_name(history, 0, T)
    layers, heads = history.model["layers"], history.model["heads"]
    assert page.locator(".growth .tile").count() == layers * heads

    # Every weight of one moment and sentence, as the browser reads it.
    page.get_by_label(T("growth.sentence"), exact=True).select_option(index=4)
    read = get(
        page,
        """arg.kinds.map((kind) =>
            { const view = growth.history.view({ ...arg, kind });
              return Array.from({ length: view.layers }, (_, layer) =>
                Array.from({ length: view.heads }, (_, head) =>
                    view.queries.map((_, q) => view.keys.map((_, k) => view.at(layer, head, q, k))))); })""",
        {"kinds": KINDS, "sentence": 4, "snapshot": 9},
    )
    for kind, found in zip(KINDS, read, strict=True):
        assert np.allclose(found, history.sentences[4].decoded(kind, 9), atol=1e-6), kind

    # Played with Space from the heads, until it comes to the third moment; Space stops it.
    page.locator('.growth .tile[aria-selected="true"]').focus()
    page.keyboard.press("Space")
    wait(page, "growth.state.snapshot >= 2 && growth.state.playing")
    page.keyboard.press("Space")
    assert not state(page)["playing"]

    # A step by the slider's arrow; what is said is what the file has.
    page.get_by_label(T("growth.moment")).focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    moment = len(history.steps) - 2
    assert state(page)["snapshot"] == moment
    assert page.locator(".growth .step-text").inner_text() == T("growth.at", step=f"{history.steps[moment]:,}")
    said = page.locator(".growth .now").inner_text()
    table = np.array(alignment["aer"][moment])
    assert f"{validation['nll'][moment]:.3f}" in said
    assert f"BLEU {validation['bleu'][moment]:.1f}" in said
    layer, head = divmod(int(table.argmin()), heads)
    assert f"{100 * table.min():.1f}\u202f%" in said and f"{layer + 1}.{head + 1}" in said

    # A head is chosen by a click and shown large; the arrows read its cells.
    page.locator('.growth .chip[data-kind="decoder"]').click()
    page.locator(".growth .tile").nth(heads + 2).click()
    chosen = state(page)
    assert (chosen["kind"], chosen["layer"], chosen["head"]) == ("decoder", 1, 2)
    page.locator(".growth .map").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):  # the first one to the corner
        page.keyboard.press(key)
    weight = history.sentences[4].decoded("decoder", moment)[1, 2, 2, 1]
    assert f"{weight:.3f}" in page.locator(".growth .readout").inner_text()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert T("growth.masked") in page.locator(".growth .readout").inner_text()
    assert state(page)["snapshot"] == moment, "the arrows moved in the map, not in time"

    # The same again as tables.
    page.locator(".growth").get_by_role("button", name=T("growth.table"), exact=True).click()
    rows = page.locator(".growth .tables table").first.locator("tbody tr")
    assert rows.count() == len(history.steps)
    cells = rows.nth(moment).locator("th, td").all_inner_texts()
    assert cells[0] == f"{history.steps[moment]:,}" and f"{validation['nll'][moment]:.3f}" in cells
    shares = {role: found["shares"][moment][1][2] for role, found in history.roles["decoder"].items()}
    assert cells[-len(shares) :] == [f"{round(100 * share)}\u202f%" for share in shares.values()]
    weights = page.locator(".growth .tables table").nth(1).locator("tbody tr").nth(2).locator("td").all_inner_texts()
    exact = history.sentences[4].decoded("decoder", moment)[1, 2, 2]
    assert weights == [f"{value:.3f}" if key <= 2 else "–" for key, value in enumerate(exact)]
    check_accessibility(page)


@pytest.mark.slow
def test_it_stops_where_nobody_looks_and_does_not_move_where_motion_is_not_wanted(
    open_page: OpenPage, app_url: str
) -> None:
    page = opened(open_page, f"{app_url}/model?lang=en")
    page.locator(".growth .play").click()
    wait(page, "growth.state.playing && growth.state.snapshot > 0")
    page.locator("h1").scroll_into_view_if_needed()
    wait(page, "!growth.state.playing")

    page.emulate_media(reduced_motion="reduce")
    page.reload()
    page.locator(".growth .tile").first.wait_for()
    page.locator(".growth .play").press("Space")
    page.locator(".growth .play").press("Space")
    assert state(page)["snapshot"] == 2 and not state(page)["playing"]

    # Another model says which it is.
    other = History.load(HISTORIES / "no-positions")
    wait_until_idle(page)
    choose_option(page, T("growth.model"), "no-positions", exact=False)
    page.get_by_text(T("growth.of_small", name="no-positions", layers="2 + 2", heads=8, steps="3,000")).wait_for()
    page.locator(".growth i", has_text=other.sentences[0].target).wait_for()


def test_what_is_seen_is_in_the_link_and_can_be_taken_away(
    open_page: OpenPage, app_url: str, shown: HistorySource, history: History, tmp_path: Path
) -> None:
    page = opened(open_page, f"{app_url}/model?lang=en")
    page.locator('.growth .chip[data-kind="encoder"]').click()
    page.locator(".growth .tile").nth(3).click()
    page.get_by_label(T("growth.moment")).focus()
    page.keyboard.press("End")
    updates = history.steps[-1]
    page.wait_for_url(f"**grown_head=encoder.1.4&grown_at={updates}**")
    wait_until_idle(page)

    fresh = opened(open_page, page.url)
    seen = {"kind": "encoder", "layer": 0, "head": 3, "snapshot": len(history.steps) - 1, "sentence": 0}
    assert {name: state(fresh)[name] for name in seen} == seen
    wait_until_idle(fresh)

    fresh.locator(".st-key-growth-takeaways").get_by_role("button", name=T("translate.download")).click()
    file = saved(fresh, "CSV", tmp_path)
    assert file.name.endswith(f"layer1_head4_{shown.name}_update{updates}.csv")
    rows = csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines())
    expected = history.sentences[0].decoded("encoder", len(history.steps) - 1)[0, 3]
    assert np.allclose([float(row["weight"]) for row in rows], expected.ravel(), atol=1e-6)


@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.slow), 390])
def test_all_heads_fit_in_one_window(
    open_page: OpenPage, app_url: str, history: History, width: int, check_accessibility: CheckAccessibility
) -> None:
    """6 + 6 layers of 8 heads, as the shipped models have."""
    page = opened(open_page, f"{app_url}/model?lang=ko", width=width, height=800, dark=True)
    assert page.locator(".growth").get_attribute("lang") == "ko"
    heads = page.locator(".growth .heads").bounding_box()
    assert page.locator(".growth .tile").count() == history.model["layers"] * history.model["heads"]
    assert heads is not None and heads["height"] <= 800 - 120, "all of them in one window, under the time bar"
    assert sideways(page) <= 0 and get(page, "growth.root.scrollWidth - growth.root.clientWidth") <= 0
    page.locator(".growth .heads").evaluate("e => e.scrollIntoView({ block: 'start' })")
    bar = page.locator(".growth .time").bounding_box()
    assert bar is not None and 0 <= bar["y"] <= 120, "the time bar stays in sight"
    page.locator(".growth .tile").nth(46).click()
    page.wait_for_url("**grown_head=cross.6.7**")
    check_accessibility(page)
