"""The model that ships: whole, small enough, measured, and able to translate everyday sentences."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from transformer_core.checkpoint import SHARD_BYTES, checkpoint_bytes
from transformer_core.model import count_parameters
from transformer_core.presets import preset
from transformer_core.translator import Translator

FOLDER = Path(__file__).resolve().parents[2] / "checkpoints" / "en-de"


@pytest.fixture(scope="module")
def shipped() -> Translator:
    return Translator.load(FOLDER)  # checks every hash, name and shape


def test_it_keeps_the_papers_shape_in_60_megabytes(shipped: Translator) -> None:
    assert (shipped.config.num_layers, shipped.config.num_heads) == (6, 8)
    assert checkpoint_bytes(FOLDER) <= 60_000_000
    assert all(file.stat().st_size <= SHARD_BYTES for file in FOLDER.glob("*.safetensors"))


def test_its_facts_are_those_of_the_files(shipped: Translator) -> None:
    metrics = json.loads((FOLDER / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["training"]["parameters"] == count_parameters(shipped.model)
    for name in ("tatoeba-test", "multi30k-test_2016_flickr", "ntrex128"):
        score = metrics["scores"][name]
        assert 0 < score["bleu"] < 100
        assert "version:" in score["signature"]
    errors = np.array(metrics["alignment"]["aer"]["output"])
    best = metrics["alignment"]["best_head"]
    assert errors.shape == (6, 8)
    assert best["aer"] == pytest.approx(errors.min())
    assert errors[best["layer"], best["head"]] == errors.min()


def test_its_recipe_makes_its_shape(shipped: Translator) -> None:
    recipe = tomllib.loads((FOLDER / "recipe.toml").read_text(encoding="utf-8"))
    assert preset(recipe["preset"]).model.replace(**recipe.get("model", {})) == shipped.config


@pytest.mark.parametrize(
    ("english", "words"),
    [
        ("The dog is sleeping.", {"Hund", "schläft"}),
        ("A man rides a bicycle.", {"Mann", "Fahrrad"}),
        ("I don't know where she lives.", {"ich", "weiß", "nicht"}),
        ("we have no water", {"wir", "haben", "kein", "wasser"}),
    ],
)
def test_everyday_sentences_read_as_german(shipped: Translator, english: str, words: set[str]) -> None:
    """Not the exact translation, but the words that any right one has; also as people type."""
    german = {word.strip(".,!?").lower() for word in shipped.translate(english).text.split()}
    assert {word.lower() for word in words} <= german


def test_forced_and_stepwise_scores_agree_on_a_real_sentence(shipped: Translator) -> None:
    translation = shipped.translate("The old man gave my sister a beautiful book about trains.")
    assert translation.finished
    forced = shipped.force(translation.source, translation.text)
    assert forced.pieces == translation.pieces
    assert forced.scores == pytest.approx(translation.scores, abs=1e-4)
    assert translation.attention.cross.sum(axis=-1) == pytest.approx(1.0, abs=1e-5)
