"""The explorer's numbers: packed by Python, read and measured by its JavaScript in Node, compared with numpy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.atlas_samples import SHIPPED, real_atlas
from tests.browser import explorer_samples as samples
from tests.browser import explorer_searches as searches
from tests.explorer_measures import change, clearly_changed, distance
from transformer_core.analysis.attention_sinks import entropy, information, sink_shares
from transformer_core.attention_maps import KINDS, AttentionMaps
from transformer_core.config import LengthPenalty
from transformer_core.decoding.beam import length_penalty
from transformer_core.text.tokenizer import Tokenizer
from viz_app.components.explorer import weights as weights_module
from viz_app.components.explorer.payload import Step, pack
from viz_app.components.explorer.selection import Selection
from viz_app.figures.build.comparison import align
from viz_app.serving.models.search_tree import branch_ends

Numbers = npt.NDArray[np.float64]
Read = Callable[..., Any]
IMPORTS = """import { readFileSync } from "node:fs";
import { readPayload, Translation } from "./components/explorer/js/data/data.js";
import { Difference } from "./components/explorer/js/data/difference.js";
import { tokenPositions } from "./components/explorer/js/data/headview.js";
import { Measures } from "./components/explorer/js/data/measures.js";
import { lengthPenalty, Search } from "./components/explorer/js/data/search.js";
const kinds = ["encoder", "decoder", "cross"];
"""


@pytest.fixture
def read(javascript: Callable[[str], Any], tmp_path: Path) -> Read:
    """Evaluate an expression in which `translations` are the maps that are given, packed and read again."""

    def run(expression: str, *maps: AttentionMaps, imports: str = "", **options: Any) -> Any:
        paths = []
        for number, each in enumerate(maps):
            path = tmp_path / f"{number}.bin"
            steps = [Step(0.5)] * len(each.outputs)
            path.write_bytes(pack(each, texts={}, selection=Selection(), steps=steps, **options))
            paths.append(str(path))
        script = f"""const translations = {paths}.map((path) => new Translation(readPayload(readFileSync(path))));
console.log(JSON.stringify({expression}));"""
        return javascript(IMPORTS + imports + script)

    return run


VIEWS = """kinds.map((kind) => {
  const view = translations[0].view(kind, "UNIT", translations[0].length);
  const matrix = (layer, head, average) => {
    const found = view.matrix(layer, head, average);
    return view.queries.map((_, query) => view.keys.map((_, key) => found.at(query, key)));
  };
  return Array.from({ length: view.layers }, (_, layer) => ({
    heads: Array.from({ length: view.heads }, (_, head) => matrix(layer, head)),
    mean: matrix(layer, 0, "layer"),
    sums: Array.from({ length: view.heads }, (_, head) =>
      view.queries.map((_, query) => view.matrix(layer, head).rowSum(query))),
  }));
})"""


@pytest.mark.parametrize("most_bytes", [weights_module.MAX_BYTES, 0])
@pytest.mark.parametrize("maps", [samples.long_sample(40, layers=2, heads=3), samples.unequal_sample()])
@pytest.mark.parametrize("unit", ["tokens", "words"])
def test_weights_means_and_sums_of_rows(
    read: Read, monkeypatch: pytest.MonkeyPatch, maps: AttentionMaps, most_bytes: int, unit: str
) -> None:
    monkeypatch.setattr(weights_module, "MAX_BYTES", most_bytes)
    content = read(VIEWS.replace("UNIT", unit), maps)
    shown = maps if unit == "tokens" else maps.merged_to_words()
    two = 0.5 if unit == "tokens" else 1  # a word adds two keys
    for kind, layers in zip(KINDS, content, strict=True):
        weights = shown.weights(kind)
        # Bytes are parts of the largest weight of their row, so that a faint row keeps its shape.
        row = two / 255 * maps.weights(kind).max(axis=-1, keepdims=True) + two / 65535
        within = two / 65535 + 1e-6 if most_bytes else (row if unit == "tokens" else row.max()) + 1e-6
        assert (np.abs(np.array([layer["heads"] for layer in layers]) - weights) <= within).all()
        assert np.abs(np.array([layer["mean"] for layer in layers]) - weights.mean(1)).max() <= np.max(within)
        # Of bytes the exact sums travel as well; uint16 are added up.
        off = len(shown.keys(kind)) / 131070 + 1e-4 if most_bytes else 1e-4
        assert np.abs(np.array([layer["sums"] for layer in layers]) - weights.sum(-1)).max() <= off


def test_of_a_word_that_is_half_written_only_the_written_tokens_count(read: Read) -> None:
    maps = samples.long_sample(40)
    words, outputs = maps.merged_to_words(), np.asarray(maps.outputs.words)
    keys = np.flatnonzero(np.diff(np.asarray(maps.source.words), prepend=-1))
    # Words are merged once for all steps; only the row of a word that is half written differs from step to step.
    steps = [3, 4, 3, 7, 40]
    last = [int(outputs[step - 1]) for step in steps]  # the newest word
    content = read(
        f"{[list(pair) for pair in zip(steps, last, strict=True)]}"
        + """.map(([step, last]) => {
          const view = translations[0].view("cross", "words", step);
          return Array.from({ length: last + 1 }, (_, row) => view.keys.map((_, key) => view.at(3, 5, row, key)));
        })""",
        maps,
    )
    for step, newest, rows in zip(steps, last, content, strict=True):
        tokens = maps.cross[3, 5, :step][outputs[:step] == newest]
        expected = np.vstack([words.cross[3, 5, :newest], np.add.reduceat(tokens.mean(0), keys)])
        assert np.abs(np.array(rows) - expected).max() <= 1e-4, step


def test_the_measures_of_heads(read: Read) -> None:
    before, after = samples.sample(*samples.SENTENCE), samples.sample(*samples.OTHER)
    rates = samples.error_rates(after)
    names = ["entropy", "distance", "change", "resting", "information", "alignment"]
    content = read(
        f"""kinds.map((kind) => {{
          const measures = new Measures(translations[1], translations[0]);
          const value = (name) => {{ const all = measures.of(name, kind); return all && Array.from(all); }};
          return {{ ...Object.fromEntries({names}.map((name) => [name, value(name)])),
                   changed: [...measures.changed(kind)] }};
        }})""",
        before,
        after,
        alignment={"cross": rates},
    )
    for kind, values in zip(KINDS, content, strict=True):
        weights = after.weights(kind).astype(float)
        changes = change(before, after, kind)
        expected = {
            "entropy": (entropy(weights).mean(axis=-1), 2e-3),
            "distance": (distance(weights), 2e-3),
            "change": (changes, 1e-4),
            "resting": (sink_shares(after, kind), 1e-3),
            "information": (information(after, kind), 1e-3),
        }
        for name, (numbers, within) in expected.items():
            assert np.abs(np.array(values[name]) - numbers.ravel()).max() < within, (kind, name)
        assert values["changed"] == np.flatnonzero(clearly_changed(changes)).tolist()
        assert values["alignment"] == (np.array(rates).ravel().tolist() if kind == "cross" else None)


def test_a_new_measure_is_one_row_and_its_labels(read: Read) -> None:
    """It is offered, orders the heads, stands under the tiles and is read out; its name comes through a report."""
    maps = samples.sample(*samples.SENTENCE)
    imports = 'import { MEASURES } from "./components/explorer/js/data/measures.js";'
    row = "{ digits: 2, descending: true, of: ({ translation }, kind) => peaks(translation, kind) }"
    shown = read(
        f"""(() => {{
          const peaks = (translation, kind) => {{
            const view = translation.view(kind, "tokens", translation.length);
            const size = view.queries.length * view.keys.length;
            const largest = (start) => Math.max(...view.values.subarray(start, start + size)) * view.scale;
            return Float64Array.from({{ length: view.layers * view.heads }}, (_, map) => largest(map * size));
          }};
          MEASURES.peak = {row};
          const texts = {{ tile: "{{kind}} {{head}}", tiles_peak: "largest weight {{value}}", kind_cross: "cross" }};
          const measures = new Measures(translations[0], null);
          return {{
            orders: measures.orders(["cross"]),
            sorted: measures.sorted("peak", "cross"),
            label: Tiles.prototype.describe("cross", 3, "peak", measures, false, texts),
          }};
        }})()""",
        maps,
        imports=imports + 'import { Tiles } from "./components/explorer/js/tiles.js";',
    )
    peaks = maps.cross.max(axis=(-2, -1)).ravel()
    assert shown["orders"] == ["layer", "entropy", "distance", "peak"]
    assert peaks[shown["sorted"]].tolist() == pytest.approx(sorted(peaks, reverse=True), abs=1e-4)
    assert shown["label"] == f"cross cross.1.4, largest weight {peaks[3]:.2f}"
    assert Selection.from_state(Selection(order="peak").to_dict(), default=Selection()).order == "peak"


def test_screen_and_file_compare_the_same_tokens(read: Read) -> None:
    """Of 400 pairs of sentences that the atlas has as examples, in the order in which they stand there."""
    examples = real_atlas().examples
    assert examples
    tokenizer = Tokenizer.load(SHIPPED / "tokenizer.model")
    sentences = [tokenizer.encode(text).tokens for text in examples.sentences.values()]
    pairs = [(sentences[i % len(sentences)], sentences[(i * 7 + 3) % len(sentences)]) for i in range(400)]
    rows = read(
        f"""{[[list(tokens) for tokens in pair] for pair in pairs]}.map((pair) => {{
          const [a, b] = pair.map((tokens) => {{
            const positions = tokenPositions(tokens);
            const size = {{ rows: tokens.length, columns: tokens.length }};
            return {{ kind: "encoder", queries: positions, keys: positions, ...size }};
          }});
          return [...new Difference(a, b).rows].flatMap((row, index) => (row < 0 ? [] : [[row, index]]));
        }})"""
    )
    assert rows == [[list(pair) for pair in align(one, two)] for one, two in pairs]
    assert sum(len(each) > 1 for each in rows) > 100, "enough of them have something in common"


@pytest.mark.parametrize("kind", ["gnmt", "power"])
def test_alpha_ranks_again_by_the_formula_of_the_decoder(read: Read, kind: LengthPenalty) -> None:
    generator = np.random.default_rng(1)
    cases = list(zip(generator.integers(1, 513, 100).tolist(), generator.uniform(0, 2, 100).tolist(), strict=True))
    penalties = read(
        f"{[list(case) for case in cases]}.map(([length, alpha]) => lengthPenalty(length, alpha, '{kind}'))"
    )
    np.testing.assert_allclose(penalties, [length_penalty(*case, kind) for case in cases], rtol=1e-9)

    translation, config = searches.made_up(9, kind=kind)
    first = [index for index, each in enumerate(translation.hypotheses) if each.finished]
    assert searches.ranked(translation, config.alpha, kind)[: len(first)] == first, "as the search itself ranked them"
    alphas = [config.alpha, 0.0, 1.0, 2.0]
    ranking = f"{alphas}.map((alpha) => translations[0].ranking(alpha).map(({{ branch }}) => branch))"
    beam = searches.tree_of(translation, config, 0)
    content = read(
        ranking.replace("translations[0]", "new Search(translations[0].beam)"),
        searches.maps_of(translation, 0),
        beam=beam,
    )
    assert content == [searches.ranked(translation, alpha, kind) for alpha in alphas]
    assert len(set(map(tuple, content))) > 1, "alpha must make a difference, or the test shows nothing"
    assert len(branch_ends(translation)) == len(beam["leaves"])
