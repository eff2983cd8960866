"""The explorer with long sentences, with other numbers of layers and heads in each kind, with rows of zeros."""

from __future__ import annotations

from tests.browser import explorer_samples as samples
from tests.browser.explorer_driver import Open, allowed, cell_colors, choose, colors, nodes, read_table, settle
from transformer_core.attention_maps import KINDS


def test_at_512_tokens_it_answers_with_few_nodes(open_explorer: Open) -> None:
    page = open_explorer("512")
    assert nodes(page) <= 2200  # 3000 in all; 144 tiles need 800 of them at most
    before = page.locator(".caption").inner_text()
    choose(page, ".kind-encoder")
    assert page.locator(".caption").inner_text() != before
    page.locator(".token").nth(1).focus()
    settle(page)
    assert page.locator(".popover").is_visible()


def test_kinds_may_differ_in_layers_and_heads_and_rows_may_be_all_zeros(open_explorer: Open) -> None:
    page = open_explorer("uneven")
    maps = samples.uneven_sample()
    for kind in KINDS:
        choose(page, f".kind-{kind}")
        layers, heads = maps.weights(kind).shape[:2]
        assert page.locator(".tile").count() == layers * heads, kind
        page.locator(".tile").last.click()
        page.mouse.move(2, 2)
        settle(page)
        weights = maps.weights(kind)[-1, -1]
        found = cell_colors(page, *weights.shape)
        visible = allowed(kind, weights.shape) & (weights.sum(-1, keepdims=True) > 0)  # others are hatched
        assert (found[visible] == colors(weights, "light")[visible]).all(), kind
    # The second row of the encoder-decoder attention looks nowhere; the table says so too.
    page.locator("button.plain", has_text="Table").first.click()
    settle(page)
    _, _, cells = read_table(page)
    assert set(cells[1]) <= {"–", "0.000"} and not set(cells[0]) <= {"–", "0.000"}
