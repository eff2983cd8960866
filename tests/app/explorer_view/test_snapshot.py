"""From a translation to what is shown and taken away."""

from __future__ import annotations

import dataclasses
import io
import json
import shlex
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from transformer_core.analysis.attention_sinks import separators
from transformer_core.attention_maps import KINDS
from transformer_core.cli import main
from transformer_core.head import Head
from transformer_core.translator import Translation, Translator
from viz_app.cli import PROGRAM
from viz_app.components.explorer.selection import Selection
from viz_app.explorer_view.snapshot import MAX_SIDE_BY_SIDE, ExplorerSnapshot, alignment_rates, best_head
from viz_app.export import make_provenance
from viz_app.export.figure_request import ForwardResult
from viz_app.figure_editor.rendering import forward_result
from viz_app.figures import Flows, HeatmapFigure, LinesFigure
from viz_app.serving.measurements.model_card import ModelCard
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue


@pytest.fixture(scope="module")
def translator(random_checkpoint: Path) -> Translator:
    translator = Translator.load(random_checkpoint)
    translator.decoding = translator.decoding.replace(extra_length=4)  # random weights write to the limit
    return translator


@pytest.fixture(scope="module")
def translation(translator: Translator) -> Translation:
    return translator.translate("The bus.", beam=2)


@pytest.fixture(scope="module")
def seen(translator: Translator, translation: Translation) -> ForwardResult:
    flows = Flows.from_model(translator, translation.source, translation, translation.attention)
    return ForwardResult(translation.attention, make_provenance(translator, translation), None, flows=flows)


def test_alignment_rates_are_those_measured_and_only_where_they_fit(translation: Translation) -> None:
    maps = translation.attention
    layers, heads = maps.cross.shape[:2]
    table = [[0.5] * heads for _ in range(layers)]
    for aer, expected in (({"output": table, "input": []}, {"cross": table}), ({}, {}), ({"output": table[:-1]}, {})):
        assert alignment_rates(ModelCard.from_metrics({"alignment": {"aer": aer}}), maps) == expected


def test_the_first_head_is_the_best_aligner_unless_it_rests(translator: Translator, translation: Translation) -> None:
    maps = translation.attention
    layers, heads = maps.cross.shape[:2]
    words = ~separators(maps.source)
    weights = np.where(words, 1 / words.sum(), 0.0).astype(np.float32)
    looking = dataclasses.replace(maps, cross=np.broadcast_to(weights, maps.cross.shape).copy())
    assert best_head(ModelCard.from_metrics(translator.metrics), looking) == Selection(kind="cross", layer=1, head=2)
    far = ModelCard(best_head=Head("cross", 9, 9))
    assert best_head(far, looking) == Selection(kind="cross", layer=layers - 1, head=heads - 1)
    rests = looking.cross.copy()
    rests[1, 2] = 0
    rests[1, 2, :, -1] = 1  # all on </s>
    rests[0, 1] = np.eye(*maps.cross.shape[2:])
    resting = dataclasses.replace(maps, cross=rests)
    for card in (ModelCard(best_head=Head("cross", 1, 2)), ModelCard()):
        assert best_head(card, resting) == Selection(kind="cross", layer=0, head=1)


@pytest.mark.parametrize(("layers", "view"), [(12, "heads"), (13, "layer")])
def test_more_heads_than_fit_side_by_side_open_by_layer(translation: Translation, layers: int, view: str) -> None:
    maps = translation.attention
    cross = np.resize(maps.cross, (layers, 16, *maps.cross.shape[2:]))
    assert (layers * 16 > MAX_SIDE_BY_SIDE) == (view == "layer")
    for card in (ModelCard(), ModelCard(best_head=Head("cross", 1, 2))):
        assert best_head(card, dataclasses.replace(maps, cross=cross)).view == view


def test_files_hold_the_selected_weights(translator: Translator, seen: ForwardResult) -> None:
    """Of a head, of a layer side by side up to a step, of all heads."""
    encoder, decoder = seen.maps.encoder, seen.maps.decoder
    for selection, expected in (
        (Selection(kind="encoder", layer=1, head=3), encoder[1, 3]),
        (Selection(kind="decoder", layer=0, view="layer", zoom="heads", step=3), decoder[0, :, :3, :3]),
        (Selection(kind="encoder", zoom="heads"), encoder),
    ):
        picture = ExplorerSnapshot(seen, selection, "en")
        with np.load(io.BytesIO(picture.file("npz"))) as archive:
            np.testing.assert_array_equal(archive["weights"].reshape(expected.shape), expected)
            assert json.loads(str(archive["provenance"]))["checkpoint_sha256"] == translator.checkpoint_hash


def test_every_download_is_a_file_of_its_kind(seen: ForwardResult) -> None:
    picture = ExplorerSnapshot(seen, Selection(step=2), "en")
    starts = {
        "pdf": b"%PDF-",
        "svg": b"<?xml",
        "png": b"\x89PNG",
        "tex": b"% Headlight",
        "gif": b"GIF89a",
        "csv": b"\xef\xbb\xbf",
        "npz": b"PK",
        "json": b"{",
    }
    assert picture.formats == tuple(starts)
    files = {name: picture.file(name) for name in picture.formats}
    for name, start in starts.items():
        assert files[name].startswith(start)
    assert picture.file_name("pdf") == "headlight_cross.1.1_step2.pdf"
    assert picture.file_name("gif") == "headlight_cross.1.1_decoding.gif"
    with Image.open(io.BytesIO(files["gif"])) as film:
        assert film.n_frames == len(seen.maps.outputs)  # type: ignore[attr-defined]


def test_the_flow_is_downloaded_as_it_is_shown(seen: ForwardResult) -> None:
    picture = ExplorerSnapshot(seen, Selection(form="flow", pin="q1", unfold=True, share=30), "en")
    assert {"pdf", "tex", "gif", "csv"} <= set(picture.formats)
    assert picture.file_name("gif") == "headlight_flow_word2_unfolded.gif"
    assert "--view=flow --word=2 --unfold=true --share=30" in picture.command
    assert b"\r\nway,2," in picture.file("csv")
    with Image.open(io.BytesIO(picture.file("gif"))) as film:
        assert film.n_frames == 20  # type: ignore[attr-defined]


def test_a_picture_is_what_the_explorer_shows(seen: ForwardResult) -> None:
    maps = seen.maps

    def shown(**selection: Any) -> ExplorerSnapshot:
        return ExplorerSnapshot(seen, Selection(kind="encoder", layer=1, head=2, **selection), "en")

    lines = shown(form="lines")
    assert isinstance(lines.figure, LinesFigure) and "tex" not in lines.formats
    assert "gif" not in lines.formats and "gif" not in shown().formats, "the encoder does not follow the decoding"
    np.testing.assert_array_equal(lines.figure.panels[0].weights, maps.encoder[1, 2])
    pair = shown(against="decoder.1.2").figure
    assert isinstance(pair, HeatmapFigure)
    np.testing.assert_array_equal(pair.panels[0].weights, maps.decoder[0, 1])
    np.testing.assert_array_equal(pair.panels[1].weights, maps.encoder[1, 2])
    every = shown(zoom="heads", view="kinds").figure
    assert isinstance(every, HeatmapFigure)
    assert len(every.panels) == sum(maps.layers(kind) * maps.heads(kind) for kind in KINDS)
    assert shown(scale="sqrt").file("png") != shown().file("png")


def test_the_command_of_a_relative_folder_makes_the_file_again(
    random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run it in the repository's root, here `tmp_path`; the model was started with a relative path."""
    (tmp_path / "models").mkdir()
    shutil.copytree(random_checkpoint, tmp_path / "models" / "mine")
    monkeypatch.setattr(import_module("viz_app.export.provenance"), "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    served = TranslationService(Translator.load(Path("models/mine")), RequestQueue(1))
    best = served.translate("me", "The dog.")
    picture = ExplorerSnapshot(forward_result(served, best, best, 0), Selection(kind="decoder", layer=1, head=2), "en")
    words = shlex.split(picture.command)
    assert "--checkpoint=models/mine" in words
    assert main(words[3:], program=PROGRAM) == 0
    assert (tmp_path / picture.file_name("pdf")).read_bytes() == picture.file("pdf")
