"""The models that ship: whole, small enough, measured, and able to translate everyday sentences."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from transformer_core.analysis.head_scores import shortcomings
from transformer_core.attention_maps import KINDS
from transformer_core.checkpoint import checkpoint_bytes
from transformer_core.cli.training.run_settings import merged_model
from transformer_core.constituency_parser import ConstituencyParser
from transformer_core.model.transformer import count_parameters
from transformer_core.paper.presets import preset
from transformer_core.storage.measurements import read_metrics
from transformer_core.storage.tensor_files import SHARD_BYTES
from transformer_core.translator import Translator

CHECKPOINTS = Path(__file__).resolve().parents[2] / "checkpoints"
_FRENCH = {
    "The dog is sleeping.": {"chien"},
    "A man rides a bicycle.": {"homme", "vélo"},
    "I don't know where she lives.": {"sais", "pas", "où"},
    "we have no water": {"nous", "eau"},
}
EVERYDAY = {
    "en-de": {
        "The dog is sleeping.": {"Hund", "schläft"},
        "A man rides a bicycle.": {"Mann", "Fahrrad"},
        "I don't know where she lives.": {"ich", "weiß", "nicht"},
        "we have no water": {"wir", "haben", "kein", "wasser"},
    },
    "en-fr": _FRENCH,
    "en-fr-small": _FRENCH,
}


@pytest.fixture(scope="module", params=sorted(EVERYDAY))
def folder(request: pytest.FixtureRequest) -> Path:
    return CHECKPOINTS / str(request.param)


@pytest.fixture(scope="module")
def shipped(folder: Path) -> Translator:
    return Translator.load(folder)  # checks every hash, name and shape


def test_it_keeps_the_papers_shape_in_60_megabytes(folder: Path, shipped: Translator) -> None:
    assert (shipped.config.num_layers, shipped.config.num_heads) == (6, 8)
    assert checkpoint_bytes(folder) <= 60_000_000
    assert all(file.stat().st_size <= SHARD_BYTES for file in folder.glob("*.safetensors"))


def test_its_facts_are_those_of_the_files(folder: Path, shipped: Translator) -> None:
    metrics = shipped.metrics
    assert metrics["training"]["parameters"] == count_parameters(shipped.model)
    assert "-".join(metrics["languages"][side] for side in ("source", "target")) == folder.name.removesuffix("-small")
    for name in ("tatoeba-test", "multi30k-test_2016_flickr", "ntrex128"):
        score = metrics["scores"][name]
        assert 0 < score["bleu"] < 100
        assert "version:" in score["signature"]
    errors = np.array(metrics["alignment"]["aer"]["output"])
    best = metrics["alignment"]["best_head"]
    assert errors.shape == (6, 8)
    assert best["aer"] == pytest.approx(errors.min())
    assert errors[best["layer"], best["head"]] == errors.min()


def test_its_heads_look(folder: Path, shipped: Translator) -> None:
    """Whoever opens the app wants to see heads that look."""
    assert shortcomings(shipped.metrics["heads"]) == []


def test_the_default_models_heads_reach_every_aim() -> None:
    """They look at different things that matter; the small French model is what they are compared with."""
    german, french = (read_metrics(CHECKPOINTS / name)["heads"] for name in ("en-de", "en-fr-small"))

    def count(name: str, *kinds: str) -> int:
        return sum(german[kind][name] for kind in kinds)

    assert count("looking", "encoder", "decoder") >= 70  # of 96
    assert count("looking", "cross") >= 45  # of 48
    assert count("resting", "encoder", "decoder") <= 10  # of 96
    assert count("fixed_offset", *KINDS) <= 24  # of all 144
    assert count("surviving", *KINDS) >= 1
    for kind in KINDS:
        assert german[kind]["median_divergence"] >= french[kind]["median_divergence"]


def test_its_recipe_makes_its_shape(folder: Path, shipped: Translator) -> None:
    recipe = tomllib.loads((folder / "recipe.toml").read_text(encoding="utf-8"))
    assert merged_model(preset(recipe["preset"]).model, recipe.get("model", {})) == shipped.config


@pytest.mark.parametrize("number", range(4))
def test_everyday_sentences_read_as_its_language(folder: Path, shipped: Translator, number: int) -> None:
    """Not the exact translation, but the words that any right one has; also as people type."""
    english, words = list(EVERYDAY[folder.name].items())[number]
    read = {part.strip(".,!?") for word in shipped.translate(english).text.lower().split() for part in word.split("'")}
    assert {word.lower() for word in words} <= read


def test_forced_and_stepwise_scores_agree_on_a_real_sentence(shipped: Translator) -> None:
    translation = shipped.translate("The old man gave my sister a beautiful book about trains.")
    assert translation.finished
    forced = shipped.teacher_force(translation.source, translation.text)
    assert forced.tokens == translation.tokens
    assert forced.scores == pytest.approx(translation.scores, abs=1e-4)
    assert translation.attention.cross.sum(axis=-1) == pytest.approx(1.0, abs=1e-5)


def test_the_parser_is_small_measured_and_looks() -> None:
    """Its F1 is far above that of trees that always branch to the right; its heads look."""
    folder = CHECKPOINTS / "en-tree"
    parser = Translator.load(folder)
    assert (parser.config.num_layers, parser.config.num_heads) == (4, 8)
    assert checkpoint_bytes(folder) <= 15_000_000
    recipe = tomllib.loads((folder / "recipe.toml").read_text(encoding="utf-8"))
    assert merged_model(preset(recipe["preset"]).model, recipe.get("model", {})) == parser.config
    assert parser.decoding == preset(recipe["preset"]).decoding
    assert parser.decoding.constrained
    for name in ("ptb-sample-test", "gum-silver-test"):
        scores = parser.metrics["scores"][name]
        result, free = scores["bracketing"], scores["free"]
        assert free["f1_95"][0] > result["right_branching_f1"] + 10
        assert result["f1"] > free["f1"] and result["well_formed"] == 100 > free["well_formed"]
    assert shortcomings(parser.metrics["heads"]) == []


def test_the_parser_finds_the_tree_of_a_simple_sentence() -> None:
    parse = ConstituencyParser(Translator.load(CHECKPOINTS / "en-tree")).parse("He eats an apple .")
    assert parse.is_well_formed
    assert str(parse.tree) == "(TOP (S (NP (XX He)) (VP (XX eats) (NP (XX an) (XX apple))) (XX .)))"
