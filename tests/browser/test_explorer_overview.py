"""The explorer's overview in a real browser: all heads of all kinds, their order, what has changed, the keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tests.browser import explorer_samples as samples
from tests.browser.app_driver import sideways
from tests.browser.explorer_driver import (
    ENGLISH,
    MAPS,
    Open,
    allowed,
    choose,
    nodes,
    painting,
    patch,
    pixels,
    settle,
)
from tests.browser.file_explorer import reported, sample, show_next
from tests.browser.rest import quickest, rest
from tests.explorer_measures import change, clearly_changed, distance, entropy
from transformer_core.attention_maps import KINDS, Kind
from viz_app.figures.colours.palette import scale

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from tests.browser.conftest import CheckAccessibility

Numbers = npt.NDArray[np.float64]


def names(page: Page, block: str = "") -> list[str]:
    """The heads of the tiles from left to right and from top to bottom."""
    result: list[str] = page.locator(f"{block} .tile").evaluate_all("(all) => all.map((tile) => tile.dataset.head)")
    return result


def focused(page: Page) -> str:
    """The kind and head of the tile that has the focus."""
    answer: str = page.locator(".explorer").evaluate(
        """(root) => {
          const tile = root.getRootNode().activeElement;
          return `${tile.closest(".block").dataset.kind} ${tile.dataset.head}`;
        }"""
    )
    return answer


def measured(name: str, kind: Kind) -> Numbers:
    """(layers, heads) of the sentence that stands there at first, or of the other one and what has changed."""
    if name == "change":
        return change(MAPS, samples.sample(*samples.OTHER), kind)
    return {"distance": distance, "entropy": entropy}[name](MAPS.weights(kind).astype(float))


def all_names(values: Numbers) -> list[str]:
    return [f"{layer + 1}.{head + 1}" for layer, head in np.ndindex(values.shape)]


def check_order(page: Page, name: str, kind: Kind, *, most: bool = False) -> None:
    """All tiles of a kind stand in the order of a measure, up to its rounding in the browser."""
    result, values = names(page, f".block[data-kind={kind}]"), measured(name, kind)
    assert sorted(result) == sorted(all_names(values))
    ranked = [values.ravel()[all_names(values).index(head)] for head in result]
    assert (np.diff(ranked) * (-1 if most else 1) >= -4e-3).all(), (name, kind)


def best_first(values: Numbers) -> list[str]:
    order = np.argsort(values.ravel(), kind="stable")
    return [f"{index // values.shape[1] + 1}.{index % values.shape[1] + 1}" for index in order]


def test_144_tiles_at_a_glance_and_each_opens_its_head(open_explorer: Open) -> None:
    page = open_explorer(height=800)
    choose(page, ".view-kinds")
    choose(page, ".zoom-heads")
    assert page.locator(".tile").count() == 144
    boxes = [page.locator(".block").nth(number).bounding_box() for number in range(3)]
    assert all(box and box["y"] + box["height"] <= 800 and box["x"] + box["width"] <= 1280 for box in boxes)
    assert len({box["y"] for box in boxes if box}) == 1, "side by side"
    assert page.locator(".block-name").all_inner_texts() == [ENGLISH[f"kind_{kind}"] for kind in KINDS]
    assert page.locator(".block-axes").nth(2).inner_text() == "Query ↓ generated token · Key → source token"
    page.locator(".block[data-kind=encoder] .tile").nth(20).focus()
    page.keyboard.press("Enter")
    page.get_by_text('"layer": 2').wait_for()
    assert [reported(page)[name] for name in ("kind", "layer", "head")] == ["encoder", 2, 4]
    assert page.locator(".map").is_visible() and "head encoder.3.5" in page.locator(".caption").inner_text()
    page.keyboard.press("Escape")
    settle(page)
    assert not page.locator(".map").is_visible() and focused(page) == "encoder 3.5"
    choose(page, ".block[data-kind=cross] .tile >> nth=9")
    choose(page, ".zoom-heads")
    assert focused(page) == "cross 2.2"


def test_tiles_flow_in_the_order_of_a_measure(explorer: Page, check_accessibility: CheckAccessibility) -> None:
    rates = np.array(samples.error_rates(MAPS))
    choose(explorer, ".view-kinds")
    order = explorer.locator(".order-select")
    assert order.locator("option").evaluate_all("(all) => all.map((one) => one.value)") == [
        *("layer", "entropy", "distance", "alignment")
    ]
    order.select_option("distance")
    settle(explorer)
    for kind in KINDS:
        check_order(explorer, "distance", kind)
    check_accessibility(explorer)
    entropy, distance = (measured(name, "cross") for name in ("entropy", "distance"))
    shown = explorer.locator(".block[data-kind=cross] .tile-value").all_inner_texts()
    assert shown == [f"{value:.1f}" for value in np.sort(distance.ravel())]
    label = explorer.locator(".block[data-kind=cross] .tile[data-head='2.3']").get_attribute("aria-label")
    nats, tokens = entropy[1, 2], distance[1, 2]
    assert label == f"Encoder-decoder attention, head cross.2.3, entropy {nats:.2f} nats, distance {tokens:.1f} tokens"
    order.select_option("alignment")
    settle(explorer)
    assert names(explorer, ".block[data-kind=cross]") == best_first(rates)
    assert names(explorer, ".block[data-kind=encoder]")[:9] == [*(f"1.{head}" for head in range(1, 9)), "2.1"]
    choose(explorer, ".view-layer")
    assert names(explorer) == [name for name in best_first(rates) if name.startswith("4.")]
    choose(explorer, ".kind-encoder")
    assert order.input_value() == "layer", "nobody has measured how encoder heads align"


def test_what_has_changed_since_the_last_sentence(explorer: Page) -> None:
    choose(explorer, ".view-kinds")
    assert explorer.locator(".tile.changed").count() == 0
    show_next(explorer, sample("other"))
    explorer.get_by_text("vergessen", exact=True).wait_for()
    rest(explorer)
    explorer.locator(".order-select").select_option("change")
    settle(explorer)
    for kind in KINDS:
        check_order(explorer, "change", kind, most=True)
        changed = np.flatnonzero(clearly_changed(measured("change", kind)))
        marked = explorer.locator(f".block[data-kind={kind}] .tile.changed")
        assert marked.evaluate_all("(all) => all.map((tile) => tile.dataset.head).sort()") == sorted(
            all_names(measured("change", kind))[index] for index in changed
        )
    assert explorer.locator(".tile.changed").count() and "changed clearly" in str(
        explorer.locator(".tile.changed").first.get_attribute("title")
    )


def test_an_unequal_model_shows_each_kind_in_its_own_shape(open_explorer: Open) -> None:
    page = open_explorer("unequal")
    choose(page, ".view-kinds")
    choose(page, ".zoom-heads")
    counts = [page.locator(f".block[data-kind={kind}] .tile").count() for kind in KINDS]
    assert counts == [12, 4, 10]
    assert page.locator(".order-select option").count() == 3, (
        "no error rates were measured, and it is the first sentence"
    )
    page.locator(".block[data-kind=encoder] .tile").nth(3).focus()
    visited = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "Home", "ArrowDown", "Control+End"):
        page.keyboard.press(key)
        visited.append(focused(page))
    expected = ["decoder 1.1", "decoder 1.2", "cross 1.1", "cross 2.1", "cross 2.1", "encoder 2.1", "encoder 3.1"]
    assert visited == [*expected, "encoder 3.4"]
    assert page.locator(".tile[tabindex='0']").count() == 1


def test_a_tile_has_the_colors_of_its_weights_for_every_scale(explorer: Page) -> None:
    weights = MAPS.cross[2, 4].astype(float)
    tones: dict[str, Callable[[Numbers], Numbers]] = {
        "linear": lambda w: w,
        "sqrt": np.sqrt,
        "row": lambda w: w / w.max(axis=1, keepdims=True),
    }
    for special in (True, False):
        text = weights if special else weights[:-1, :-1]  # </s> is the last of both axes
        for name, tone in tones.items():
            patch(explorer, scale=name, special=special, threshold=12)
            image = pixels(explorer, ".tile >> nth=20").astype(int)
            rows = ((np.arange(len(text)) + 0.5) * image.shape[0] / len(text)).astype(int)
            columns = ((np.arange(text.shape[1]) + 0.5) * image.shape[1] / text.shape[1]).astype(int)
            index = np.rint(np.where(text < 0.12, 0.0, tone(text)) * 255).astype(int)
            wrong = np.abs(image[np.ix_(rows, columns)] - scale("light")[index].astype(int)).max(axis=-1)
            assert wrong.max() <= 3, f"{name}: a rounding may take the neighbouring colour, no more"


def test_a_pixel_of_many_cells_shows_the_largest_and_masked_ones_are_hatched(open_explorer: Open) -> None:
    page = open_explorer("128")
    weights = samples.long_sample(128).decoder[0, 3].astype(float)
    choose(page, ".kind-decoder")
    image = pixels(page, ".tile >> nth=3").astype(int)
    height, width = image.shape[:2]
    assert height < 128 and width < 128
    bin_of = [np.arange(128) * size // 128 for size in (height, width)]
    largest = np.zeros((height, width))
    np.maximum.at(largest, (bin_of[0][:, None], bin_of[1][None, :]), weights)
    plain = np.zeros((height, width), bool)
    np.logical_or.at(plain, (bin_of[0][:, None], bin_of[1][None, :]), allowed("decoder", weights.shape))
    expected = scale("light")[np.rint(largest * 255).astype(int)].astype(int)
    assert np.abs(image - expected)[plain].max() <= 3
    assert (image[~plain] != 255).any() and (image[~plain] == 255).any(), "hatched"


def style(page: Page, kind: str, name: str) -> float:
    """A length in pixels that all tiles of a kind share."""
    script = "(grid, name) => parseFloat(grid.style.getPropertyValue(name))"
    answer: float = page.locator(f".block[data-kind={kind}] .tiles").evaluate(script, name)
    return answer


def test_one_token_is_followed_through_all_heads(explorer: Page) -> None:
    choose(explorer, ".view-kinds")
    patch(explorer, pin="q3")
    following = explorer.locator(".tiles").evaluate_all(
        "(all) => all.map((one) => one.classList.contains('following'))"
    )
    assert following == [False, True, True], "the same place of the decoder writes the same token"
    tile = [style(explorer, "cross", name) for name in ("--row-start", "--row-extent", "--tile-height")]
    assert np.allclose(tile[0], 3 * tile[2] / 10) and np.allclose(tile[1], max(2, tile[2] / 10))
    patch(explorer, pin=None, step=5)
    moved = style(explorer, "decoder", "--row-start")
    assert moved > tile[0]


def test_pointing_at_a_tile_tells_its_strongest_link(explorer: Page) -> None:
    before = explorer.locator(".count").inner_text()
    assert before.endswith(ENGLISH["count_note"])
    explorer.locator(".tile").nth(20).hover()
    settle(explorer)
    text = explorer.locator(".count").inner_text()
    assert text.startswith("Encoder-decoder attention, head cross.3.5, entropy") and "head cross.3.5 attends" in text
    explorer.mouse.move(2, 2)
    settle(explorer)
    assert explorer.locator(".count").inner_text() == before


def test_all_kinds_on_a_telephone_and_in_few_nodes(open_explorer: Open) -> None:
    page = open_explorer("128", language="ko", width=390, height=844)
    choose(page, ".zoom-heads")
    choose(page, ".view-kinds")
    page.locator(".order-select").select_option("entropy")
    settle(page)
    boxes = page.locator(".block").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().toJSON())")
    assert [box["left"] for box in boxes] == [boxes[0]["left"]] * 3, "one below the other"
    assert all(box["right"] <= 390 for box in boxes) and sideways(page) <= 0
    assert nodes(page) < 2000
    assert quickest(lambda: painting(page), 250) < 250
