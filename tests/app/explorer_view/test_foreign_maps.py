"""The explorer's payload of other programs' attention, read by its JavaScript in Node; their figures and BertViz."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.explorer_measures import entropy
from tests.foreign_maps import RAGGED, SOURCE, decoder_only, encoder_decoder, encoder_only
from transformer_core.attention_maps import KINDS, AttentionMaps
from viz_app.components.bertviz_frame.document import bertviz_document
from viz_app.components.buffer import split_buffer
from viz_app.components.explorer.selection import Selection
from viz_app.explorer_view.foreign_maps import foreign_payload
from viz_app.figures import VIEWS, export, formats_of
from viz_app.text import LANGUAGES, texts

MODELS: dict[str, Callable[[], AttentionMaps]] = {
    "encoder": encoder_only,
    "decoder": decoder_only,
    "all": encoder_decoder,
}
SCRIPT = """import { readFileSync } from "node:fs";
import { readPayload, Translation } from "./components/explorer/js/data/data.js";
import { Measures } from "./components/explorer/js/data/measures.js";
globalThis.addEventListener = () => {}; // there is no window
const { fitted } = await import("./components/explorer/js/selectiontext.js");
const { kindsShown } = await import("./components/explorer/js/tiles.js");
const translation = new Translation(readPayload(readFileSync(PATH)));
const state = { kind: "cross", layer: 2, head: 2, step: 3, pin: null, unit: "tokens", average: "none" };
const measures = new Measures(translation, null);
const kinds = translation.available.map((kind) => {
  const view = translation.view(kind, "tokens", translation.length);
  const cells = (matrix) => view.queries.map((_, query) => view.keys.map((_, key) => matrix.at(query, key)));
  const heads = Array.from({ length: view.layers }, (_, layer) => Array.from({ length: view.heads }, (_, head) =>
    view.lacks(layer, head) ? null : cells(view.matrix(layer, head))));
  return { heads, mean: cells(view.matrix(0, 0, "all")), sorted: measures.sorted("entropy", kind) };
});
console.log(JSON.stringify({ available: translation.available, kinds, fitted: fitted(translation, state),
  shown: kindsShown({ view: "kinds", kind: "cross" }, translation), length: translation.length }));"""


@pytest.mark.parametrize("name", MODELS)
def test_javascript_reads_what_the_model_has(name: str, javascript: Callable[[str], Any], tmp_path: Path) -> None:
    maps = MODELS[name]()
    path = tmp_path / "payload.bin"
    path.write_bytes(foreign_payload(maps))
    read = javascript(SCRIPT.replace("PATH", json.dumps(str(path))))
    assert read["available"] == read["shown"] == list(maps.kinds)
    assert read["length"] == len(maps.outputs)
    for kind, result in zip(maps.kinds, read["kinds"], strict=True):
        weights, there = maps.weights(kind), []
        for layer in range(maps.layers(kind)):
            for head in range(maps.heads(kind)):
                assert (result["heads"][layer][head] is not None) == maps.existing(kind)[layer, head]
                if maps.existing(kind)[layer, head]:
                    there.append(weights[layer, head])
                    np.testing.assert_allclose(result["heads"][layer][head], weights[layer, head], atol=1 / 65535)
        np.testing.assert_allclose(result["mean"], np.mean(there, axis=0), atol=2 / 65535)
        present = np.flatnonzero(~np.isnan(weights[:, :, 0, 0]))
        assert sorted(result["sorted"]) == present.tolist()
        sharpness = entropy(np.nan_to_num(weights)).reshape(-1)[result["sorted"]]
        assert (np.diff(sharpness) > -1e-3).all()
    place = read["fitted"]
    assert place["kind"] == maps.kinds[-1] and maps.existing(place["kind"])[place["layer"], place["head"]]
    assert place["step"] == (3 if maps.inputs.tokens else None)
    python = Selection(kind="cross", layer=2, head=2, step=3).fitted(maps)
    assert python.kind == place["kind"] and python.layer == place["layer"] and python.step == place["step"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_header_says_what_is_there_and_names_it(language: str) -> None:
    header, _ = split_buffer(foreign_payload(encoder_only(), text="a", model="m", language=language))
    assert list(header["kinds"]) == ["encoder"] and header["kinds"]["encoder"]["absent"] == [4, 5, 6, 7, 8, 11]
    assert header["steps"] == [] and header["about"]["answers"] == {"off": False, "branches": [0]}
    assert not {"beam", "tree"} & header.keys()
    t = texts(language)
    assert header["texts"]["kind_encoder"] == t("one_sequence.kind_encoder") != t("explorer.kind_encoder")
    assert {*t.table("one_sequence")} <= {*t.table("explorer")}
    header, _ = split_buffer(foreign_payload(encoder_decoder(), language=language))
    assert header["texts"] == t.table("explorer")


@pytest.mark.parametrize("name", MODELS)
def test_figures_draw_what_the_model_has(name: str) -> None:
    maps = MODELS[name]()
    for kind in maps.kinds:
        for view in ("head", "layer", "heads", "compare", "lines"):
            figure = VIEWS[view].draw(maps=maps, kind=kind)
            assert (figure.caption and "tex" in formats_of(figure)) or view == "lines"
            assert view == "heads" or export(figure, "svg")
        assert export(VIEWS["heads"].draw(maps=maps, kind=kind, unit="words"), "tex")
    for kind in set(KINDS) - set(maps.kinds):
        with pytest.raises(ValueError, match=f"'{kind}', but this model has only"):
            VIEWS["head"].draw(maps=maps, kind=kind)
    if name == "decoder":
        steps = VIEWS["steps"].draw(maps=maps, kind="decoder")
        assert export(steps, "svg")


def test_a_layer_is_drawn_with_its_own_heads_and_the_grid_with_gaps() -> None:
    maps = encoder_only()
    assert [len(VIEWS["layer"].draw(maps=maps, kind="encoder", layer=n).panels) for n in (0, 1, 3)] == [3, 1, 2]  # type: ignore[attr-defined]
    grid = VIEWS["heads"].draw(maps=maps, kind="encoder")
    empty = [bool(np.isnan(panel.weights).all()) for panel in grid.panels]  # type: ignore[attr-defined]
    assert empty == [head >= count for count in RAGGED for head in range(3)]
    assert f"{sum(RAGGED)} heads" in grid.caption and grid.masked_note  # type: ignore[attr-defined]
    assert VIEWS["all"].draw(maps=maps).panels  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="head is 2, but must be between 0 and 0"):
        VIEWS["head"].draw(maps=maps, kind="encoder", layer=1, head=2)
    with pytest.raises(ValueError, match="layer 3 has no heads"):
        VIEWS["layer"].draw(maps=maps, kind="encoder", layer=2)


def test_two_models_are_compared() -> None:
    one, other = decoder_only(), decoder_only([*SOURCE[:-1], "</s>"])
    figure = VIEWS["compare"].draw(maps=one, other=other, kind="decoder", head=1)
    a, b, difference = figure.panels  # type: ignore[attr-defined]
    shared = len(SOURCE) - 1
    np.testing.assert_allclose(difference.weights, (b.weights - a.weights)[:shared, :shared], atol=1e-7)


def test_bertviz_draws_them() -> None:
    for maps in (decoder_only(), encoder_only(heads=[2, 2])):
        assert "dog" in bertviz_document(maps, "head", layer=1, head=1)
        assert "dog" in bertviz_document(maps, "model")
    with pytest.raises(ValueError, match="layers with different numbers of heads"):
        bertviz_document(encoder_only(), "head", kind="encoder")
