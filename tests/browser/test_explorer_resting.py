"""Heads that rest step back, say so, and are not what a kind of attention opens with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.browser.app_driver import wait_for_params
from tests.browser.explorer_driver import ENGLISH, choose, settle, state
from transformer_core.analysis.attention_sinks import SINK_SHARE, most_informative_head, sink_shares
from transformer_core.attention_maps import KINDS
from transformer_core.translator import Translator
from viz_app.serving.models.registry import checkpoint_folder
from viz_app.text.examples import EXAMPLES, FIRST_EXAMPLE

if TYPE_CHECKING:
    from tests.browser.conftest import OpenPage


def test_tiles_of_resting_heads_step_back_and_a_kind_opens_with_a_head_that_looks(
    open_page: OpenPage, app_url: str
) -> None:
    maps = Translator.load(checkpoint_folder()).translate(EXAMPLES[FIRST_EXAMPLE], beam=4).attention
    kind = max(KINDS, key=lambda each: sink_shares(maps, each).max())
    shares = sink_shares(maps, kind)
    layer, head = (int(index) for index in np.unravel_index(shares.argmax(), shares.shape))
    assert shares[layer, head] > SINK_SHARE, "this model has no resting head; the test needs another"
    other = next(each for each in KINDS if each != kind)
    page = open_page(f"{app_url}/?lang=en&head={other}.{layer + 1}.{head + 1}")
    page.locator(".tile").first.wait_for()
    choose(page, f".kind-{kind}")
    assert (kind, state(page, "layer"), state(page, "head")) == most_informative_head(maps, kind)
    pale = {f"{row + 1}.{column + 1}" for row, column in np.argwhere(shares > SINK_SHARE)}
    result = page.locator(".tile.resting").evaluate_all("(all) => all.map((tile) => tile.dataset.head)")
    assert set(result) == pale
    key = ENGLISH["tiles_resting_key"].format(resting=len(pale), all=shares.size)
    assert key in page.locator(".count").inner_text()
    page.get_by_role("gridcell", name=f"head {kind}.{layer + 1}.{head + 1},").click()
    settle(page)
    share = f"{round(float(shares[layer, head]) * 100)}\u202f%"
    assert ENGLISH["resting"].format(share=share) in page.locator(".notes").inner_text()
    assert (
        page.locator(".tile[aria-selected=true]")
        .get_attribute("aria-label")
        .endswith(  # type: ignore[union-attr]
            ENGLISH["tiles_resting"].format(share=share)
        )
    )
    wait_for_params(page, head=f"{kind}.{layer + 1}.{head + 1}")
