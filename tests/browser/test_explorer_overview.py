"""The explorer's overview in a real browser: all heads of all kinds, their order, what has changed, the keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tests.browser import explorer_samples as samples
from tests.browser.explorer_driver import (
    ENGLISH,
    MAPS,
    Open,
    choose,
    focused,
    patch,
    settle,
    state,
)
from tests.browser.file_explorer import reported, sample, show_next
from tests.browser.rest import rest
from tests.explorer_measures import change, clearly_changed, distance, entropy
from transformer_core.analysis.attention_sinks import SINK_SHARE, most_informative_head, sink_shares
from transformer_core.attention_maps import KINDS, Kind

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import CheckAccessibility

Numbers = npt.NDArray[np.float64]


def names(page: Page, block: str = "") -> list[str]:
    """The heads of the tiles from left to right and from top to bottom."""
    result: list[str] = page.locator(f"{block} .tile").evaluate_all("(all) => all.map((tile) => tile.dataset.head)")
    return result


# What is moved by an animation from now on.
_ANIMATED = """(root) => {
  root.animated = [];
  const { animate } = Element.prototype;
  Element.prototype.animate = function (...how) { root.animated.push(this); return animate.apply(this, how); };
}"""


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


def style(page: Page, kind: str, name: str) -> float:
    """A length in pixels that all tiles of a kind share."""
    script = "(grid, name) => parseFloat(grid.style.getPropertyValue(name))"
    answer: float = page.locator(f".block[data-kind={kind}] .tiles").evaluate(script, name)
    return answer


def test_144_tiles_at_a_glance_and_each_opens_its_head(open_explorer: Open) -> None:
    page = open_explorer(height=800)
    count = page.locator(".count")
    before = count.inner_text()
    assert before.endswith(ENGLISH["count_note"])
    page.locator(".tile").nth(20).hover()  # tells its strongest link
    settle(page)
    text = count.inner_text()
    assert text.startswith("Encoder-decoder attention, head cross.3.5, entropy") and "head cross.3.5 attends" in text
    page.mouse.move(2, 2)
    settle(page)
    assert count.inner_text() == before

    # Where the same head of another kind rests, the kind opens with one that looks; those that rest say so.
    shares = sink_shares(MAPS, "encoder")
    choose(page, f".tile >> nth={shares.argmax()}")
    choose(page, ".kind-encoder")
    assert ("encoder", state(page, "layer"), state(page, "head")) == most_informative_head(MAPS, "encoder")
    resting = {f"{layer + 1}.{head + 1}" for layer, head in np.argwhere(shares > SINK_SHARE)}
    pale = page.locator(".tile.resting").evaluate_all("(all) => all.map((tile) => tile.dataset.head)")
    assert resting and set(pale) == resting
    assert ENGLISH["tiles_resting_key"].format(resting=len(resting), all=shares.size) in count.inner_text()
    choose(page, f".tile >> nth={shares.argmax()}")
    share = f"{round(float(shares.max()) * 100)}\u202f%"
    assert ENGLISH["resting"].format(share=share) in page.locator(".notes").inner_text()
    label = page.locator(".tile[aria-selected=true]").get_attribute("aria-label") or ""
    assert label.endswith(ENGLISH["tiles_resting"].format(share=share))

    choose(page, ".zoom-heads")
    assert page.locator(".tile").count() == 144 and not page.locator("figure.head").is_visible()
    boxes = [page.locator(".block").nth(number).bounding_box() for number in range(3)]
    assert all(box and box["y"] + box["height"] <= 800 and box["x"] + box["width"] <= 1280 for box in boxes)
    assert len({box["y"] for box in boxes if box}) == 1, "side by side"
    assert page.locator(".block-name").all_inner_texts() == [ENGLISH[f"kind_{kind}"] for kind in KINDS]
    assert page.locator(".block-axes").nth(2).inner_text() == "Query ↓ generated token · Key → source token"
    page.locator(".block[data-kind=encoder] .tile").nth(20).focus()
    page.keyboard.press("Enter")
    page.get_by_text('"head": 4').wait_for()
    assert [reported(page)[name] for name in ("kind", "layer", "head")] == ["encoder", 2, 4]
    assert page.locator(".map").is_visible() and "head encoder.3.5" in page.locator(".caption").inner_text()
    page.keyboard.press("Escape")
    settle(page)
    assert not page.locator(".map").is_visible() and focused(page) == "encoder 3.5"
    choose(page, ".block[data-kind=cross] .tile >> nth=9")
    choose(page, ".zoom-heads")
    assert focused(page) == "cross 2.2" and page.locator(".tile").count() == 144

    # One token is followed through all heads.
    patch(page, pin="q3")
    following = page.locator(".tiles").evaluate_all("(all) => all.map((one) => one.classList.contains('following'))")
    assert following == [False, True, True], "the same place of the decoder writes the same token"
    line = style(page, "cross", "--row-line")
    assert abs(line - (4 * style(page, "cross", "--tile-height") / 10 - 1)) <= 0.5, "the last pixel of the fourth row"
    assert style(page, "cross", "--column-line") < 0, "out of sight"
    patch(page, pin=None, step=5)
    assert style(page, "decoder", "--row-line") > line


def test_tiles_flow_in_the_order_of_a_measure_and_of_what_has_changed(
    explorer: Page, check_accessibility: CheckAccessibility
) -> None:
    rates = np.array(samples.error_rates(MAPS))
    choose(explorer, ".zoom-heads")
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

    # What has changed since the last sentence.
    choose(explorer, ".view-kinds")
    assert explorer.locator(".tile.changed").count() == 0
    explorer.locator(".explorer").evaluate(_ANIMATED)
    show_next(explorer, sample("other"))
    explorer.get_by_text("vergessen", exact=True).wait_for()
    rest(explorer)
    glowing = "({ animated }) => animated.map((each) => each.matches('.tile.changed')).filter((each) => each).length"
    assert explorer.locator(".explorer").evaluate(glowing) == explorer.locator(".tile.changed").count()
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


def test_all_heads_are_one_press_away_and_a_tile_grows_into_the_map(explorer: Page) -> None:
    heads = sum(MAPS.weights(kind).shape[0] * MAPS.weights(kind).shape[1] for kind in KINDS)
    explorer.get_by_role("button", name=f"All {heads} heads", exact=True).click()
    settle(explorer)
    assert len(names(explorer)) == heads
    root = explorer.locator(".explorer")
    root.evaluate(_ANIMATED)
    explorer.locator(".block[data-kind=decoder] .tile").nth(3).click()
    settle(explorer)
    assert root.evaluate("({ animated }) => animated.map((each) => each.className)") == ["map"]
    assert [state(explorer, name) for name in ("kind", "head", "view")] == ["decoder", 3, "heads"]
    explorer.emulate_media(reduced_motion="reduce")
    explorer.locator(".tile").nth(5).click()
    settle(explorer)
    assert root.evaluate("({ animated }) => animated.length") == 1 and state(explorer, "head") == 5
