"""The explorer with long sentences, with other numbers of layers and heads in each kind, with rows of zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.browser import explorer_samples as samples
from tests.browser.explorer_driver import Open, allowed, cell_colors, choose, colors, nodes, read_table, settle
from transformer_core.attention_maps import KINDS, AttentionMaps, Kind

if TYPE_CHECKING:
    from playwright.sync_api import Page

Cell = tuple[Kind, int, int, int, int]

READ = """(root, [unit, cells]) => {
  const { translation } = root.explorer;
  const views = Object.fromEntries(["encoder", "decoder", "cross"].map(
    (kind) => [kind, translation.view(kind, unit, translation.length)]));
  return cells.map(([kind, layer, head, query, key]) => [
    views[kind].at(layer, head, query, key),
    views[kind].matrix(layer, head).at(query, key),
    views[kind].matrix(layer, head).rowSum(query),
    views[kind].matrix(layer, head, "layer").at(query, key),
  ]);
}"""

ROWS = """(root, [step, count]) => {
  const view = root.explorer.translation.view("cross", "words", step);
  return Array.from({ length: count }, (_, row) => view.keys.map((_, key) => view.at(3, 5, row, key)));
}"""


def some_cells(maps: AttentionMaps, count: int) -> list[Cell]:
    """Cells drawn at random, and each kind's largest weight."""
    generator = np.random.default_rng(0)
    cells: list[Cell] = []
    for kind in KINDS:
        weights = maps.weights(kind)
        places = [np.unravel_index(int(weights.argmax()), weights.shape)]
        places += [np.unravel_index(int(i), weights.shape) for i in generator.integers(weights.size, size=count)]
        cells += [(kind, *(int(index) for index in place)) for place in places]  # type: ignore[misc]
    return cells


def compare(page: Page, maps: AttentionMaps, unit: str, within: float) -> None:
    shown = maps if unit == "tokens" else maps.merged_to_words()
    cells = some_cells(shown, 80)
    found = page.locator(".explorer").evaluate(READ, [unit, cells])
    for (kind, layer, head, query, key), (value, drawn, row_sum, mean) in zip(cells, found, strict=True):
        weights = shown.weights(kind)
        assert abs(value - weights[layer, head, query, key]) <= within, (kind, layer, head, query, key)
        assert drawn == value
        # Of bytes the exact sums travel as well; uint16 are added up.
        off = 1e-4 if "bytes" in page.url else len(shown.keys(kind)) / 131070 + 1e-4
        assert abs(row_sum - weights[layer, head, query].sum()) <= off
        assert abs(mean - weights[layer, :, query, key].mean()) <= within


@pytest.mark.parametrize(("query", "bits", "step"), [({}, 16, 1 / 65535), ({"bytes": "1"}, 8, 1 / 255)])
def test_values_are_within_half_a_step_of_the_true_ones(
    open_explorer: Open, query: dict[str, str], bits: int, step: float
) -> None:
    page = open_explorer("40", **query)
    maps = samples.long_sample(40)
    assert page.locator(".explorer").evaluate("(root) => root.explorer.translation.weights.bits") == bits
    compare(page, maps, "tokens", step / 2 + 1e-7)
    compare(page, maps, "words", step + 1e-6)  # a word sums over two keys


def test_of_a_word_that_is_half_written_only_the_written_tokens_count(open_explorer: Open) -> None:
    page = open_explorer("40")
    maps = samples.long_sample(40)
    # Words are merged once for all steps; only the row of a word that is half written differs from step to step.
    words, outputs = maps.merged_to_words(), np.asarray(maps.outputs.words)
    keys = np.flatnonzero(np.diff(np.asarray(maps.source.words), prepend=-1))
    for step in (3, 4, 3, 7, 40):
        last = int(outputs[step - 1])  # the newest word
        rows = page.locator(".explorer").evaluate(ROWS, [step, last + 1])
        tokens = maps.cross[3, 5, :step][outputs[:step] == last]
        expected = np.vstack([words.cross[3, 5, :last], np.add.reduceat(tokens.mean(0), keys)])
        assert np.abs(np.array(rows) - expected).max() <= 1e-4, step


def test_at_512_tokens_it_answers_with_few_nodes(open_explorer: Open) -> None:
    page = open_explorer("512")
    assert nodes(page) <= 2200  # 3000 in all; 144 tiles need 800 of them at most
    before = page.locator(".caption").inner_text()
    choose(page, ".kind-encoder")
    assert page.locator(".caption").inner_text() != before
    compare(page, samples.few_heads_sample(512), "tokens", 1 / 131070 + 1e-7)
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
    compare(page, maps, "tokens", 1 / 131070 + 1e-7)
    compare(page, maps, "words", 1e-4)
    # The second row of the encoder-decoder attention looks nowhere; the table says so too.
    page.locator("button.plain", has_text="Table").first.click()
    settle(page)
    _, _, cells = read_table(page)
    assert set(cells[1]) <= {"–", "0.000"} and not set(cells[0]) <= {"–", "0.000"}
