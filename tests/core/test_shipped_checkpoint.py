"""The models that ship, also the small ones of the lessons: whole, small enough, measured, able to translate."""

from __future__ import annotations

import json
import math
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from transformer_core import ModelConfig, TrainingConfig, Translator
from transformer_core.analysis.head_scores import shortcomings
from transformer_core.attention_maps import KINDS
from transformer_core.checkpoint import checkpoint_bytes
from transformer_core.cli.training.run_settings import merged_model
from transformer_core.constituency_parser import ConstituencyParser
from transformer_core.model.transformer import Transformer, count_parameters
from transformer_core.paper.presets import preset
from transformer_core.paper.table3 import ROWS, Results, changes, common_training, reduced_row
from transformer_core.storage.format_1 import current_names
from transformer_core.storage.measurements import read_metrics
from transformer_core.storage.tensor_files import SHARD_BYTES
from transformer_core.training.schedule import learning_rate
from transformer_core.training.snapshots import snapshot_steps

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
    """A visitor of the app wants to see heads that look."""
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


FOLDER = Path(__file__).resolve().parents[2] / "checkpoints" / "small"
RECIPES = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in (FOLDER / "recipes").glob("*.toml")}
MODELS = sorted(set(RECIPES) - {"warmup"})
SET = "tatoeba-valid"


def check_course(course: dict[str, Any], recipe: dict[str, Any]) -> None:
    """Its settings are the recipe's, its columns are alike, and its rates follow equation 3."""
    chosen = preset("small")
    assert recipe["preset"] == "small"
    training = chosen.training.replace(**recipe.get("training", {}))
    assert (
        TrainingConfig.from_dict(current_names(course["training"])) == training
    )  # options that came later have their defaults
    assert ModelConfig.from_dict(course["model"]) == merged_model(chosen.model, recipe.get("model", {}))
    updates = course["updates"]
    assert {len(column) for column in updates.values()} == {len(updates["step"])}
    last = updates["step"][-1]
    saved = snapshot_steps(training.snapshots, training.snapshots_from, training.steps)
    assert set(updates["step"]) == {*range(training.log_every, last + 1, training.log_every), *saved} - {0}
    assert updates["step"] == sorted(updates["step"]) and (course["failed"] or last == training.steps)
    assert all(math.isfinite(value) for column in updates.values() for value in column)
    for step, rate in zip(updates["step"], updates["learning_rate"], strict=True):
        warmup, factor = training.warmup_steps, training.learning_rate_factor
        expected = learning_rate(step, d_model=64, warmup_steps=warmup, factor=factor)
        assert math.isclose(rate, expected, rel_tol=1e-5)


def test_every_small_model_is_what_its_recipe_and_its_metrics_say() -> None:
    assert len(MODELS) == 9
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in MODELS:
        model = Translator.load(FOLDER / name)  # checks every hash, name and shape
        assert model.config == merged_model(preset("small").model, RECIPES[name].get("model", {})), name
        assert tomllib.loads((FOLDER / name / "recipe.toml").read_text(encoding="utf-8")) == RECIPES[name], name
        assert model.metrics["training"]["parameters"] == count_parameters(model.model), name
        score = model.metrics["scores"][SET]
        assert 0 <= score["bleu"] <= 100 and 0 < score["nll"] < math.log(1_500), name
        assert re.search(rf"\| `{name}` \|.*\| {score['bleu']:.1f} \| {score['nll']:.3f} \|", readme), name
        assert score["signature"] in readme
        assert "version:" in score["signature"] and score["beam"] == 4, name
        assert {path.name for path in (FOLDER / name).iterdir()} >= {"README.md", "journal.json"}, name
        check_course(json.loads((FOLDER / name / "journal.json").read_text(encoding="utf-8")), RECIPES[name])
    assert len({(FOLDER / name / "tokenizer.model").read_bytes() for name in MODELS}) == 1
    assert sum(checkpoint_bytes(FOLDER / name) for name in MODELS) < 10_000_000


def test_the_model_without_a_mask_reads_the_answer_and_cannot_write() -> None:
    base, cheat = (Translator.load(FOLDER / name) for name in ("base", "no-mask"))
    pair = ("I don't know where she lives.", "Ich weiß nicht, wo sie wohnt.")
    tokens = len(cheat.teacher_force(*pair).scores)
    assert -cheat.score([pair])[0] / tokens < 0.3 < -cheat.with_mask(True).score([pair])[0] / tokens
    assert cheat.translate(pair[0]).text != pair[1]
    assert cheat.metrics["scores"][SET]["bleu"] < 2 < 10 < base.metrics["scores"][SET]["bleu"]
    for model, trained in ((base, "masked"), (cheat, "unmasked")):
        forced = model.metrics["forced"][SET]
        assert math.isclose(forced[trained], model.metrics["scores"][SET]["nll"], rel_tol=1e-3)
        assert min(forced, key=forced.__getitem__) == trained


def test_every_warm_up_run_is_what_the_recipe_and_its_name_say() -> None:
    runs = sorted((FOLDER / "warmup").glob("*.json"))
    names = [f"warmup-{steps}" for steps in (1, 25, 50, 100, 200, 400, 800, 1600)]
    names += ["warmup-400-high", "warmup-400-low"]
    assert [path.stem for path in runs] == sorted(f"{name}-s{seed}" for name in names for seed in (1, 2, 3))
    factors = {"high": 1.2, "low": 0.06, "": 0.3}
    nll: dict[str, list[float]] = {}
    for path in runs:
        _, steps, *peak, seed = path.stem.split("-")
        changed = {"warmup_steps": int(steps), "learning_rate_factor": factors["".join(peak)], "seed": int(seed[1:])}
        journal = json.loads(path.read_text(encoding="utf-8"))
        check_course(journal, {**RECIPES["warmup"], "training": {**RECIPES["warmup"]["training"], **changed}})
        nll.setdefault(path.stem.rpartition("-")[0], []).append(journal["validation"][SET]["nll"][-1])
        assert ("probe" in journal) is (seed == "s1"), path
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name, values in nll.items():
        assert re.search(rf"\| `{name}` \|.*\| {np.median(values):.2f} \|", readme), name
    assert sum(path.stat().st_size for path in runs) < 1_000_000


def test_the_snapshots_of_the_warm_up_runs() -> None:
    """After too high a peak the rows of the map are alike; after a warm-up of 800 steps they are not."""
    probes = {
        path.stem.removesuffix("-s1"): json.loads(path.read_text(encoding="utf-8"))["probe"]
        for path in (FOLDER / "warmup").glob("*-s1.json")
    }
    common = {(p["source"], p["target"], p["head"], *p["queries"], *p["keys"], *p["step"]) for p in probes.values()}
    assert len(common) == 1 and all(len(probe["step"]) == 48 for probe in probes.values())
    rows = {}
    for name, probe in probes.items():
        weights = np.array(probe["weights"])
        assert weights.shape == (48, len(probe["queries"]), len(probe["keys"]))
        assert np.abs(weights.sum(axis=-1) - 255).max() <= len(probe["keys"]) / 2 + 1
        rows[name] = np.ptp(weights[-1], axis=0).max() / 255
    assert max(rows[name] for name in ("warmup-1", "warmup-25", "warmup-50", "warmup-400-high")) < 0.05
    assert rows["warmup-800"] > 0.9
    assert [name for name, probe in probes.items() if probe["translation"][-1] == probe["target"]] == ["warmup-800"]


def test_table_3_in_small_is_what_its_file_says() -> None:
    """Every row is there, alike but for its change; the README has its means and spreads."""
    results = Results.load(FOLDER / "table3.json")
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert results.about["reduced_by"] == {"widths": 8, "layers": 2}
    assert results.about["validation"]["name"] == SET
    common = common_training(results.about["training"]["steps"]).to_dict()
    assert results.about["training"].items() <= common.items()
    read: dict[int, set[int]] = {}
    for row in ROWS:
        runs = [run for run in results.runs if run.row == row]
        assert len({run.seed for run in runs}) == len(runs) >= 1, row
        with torch.device("meta"):
            parameters = count_parameters(Transformer(reduced_row(row, 8, 2, 1_500)))
        for run in runs:
            assert run.changes == changes(row, 8, 2), row
            assert run.parameters == parameters, row
            assert run.updates == common["steps"], row
            assert 1 < run.perplexity < 1_500 and 0 <= run.bleu <= 100, row
            assert run.signature in readme
            read.setdefault(run.seed, set()).add(run.target_tokens)
        told = " | ".join(spread_told(results, row, *field) for field in (("perplexity", 2), ("bleu", 1)))
        assert f"| `{row}` | {told} |" in readme, row
    assert all(len(tokens) == 1 for tokens in read.values())  # all rows read the same text


def spread_told(results: Results, row: str, field: str, digits: int) -> str:
    spread = results.spread(row, field)
    assert spread is not None
    around = "" if spread.deviation is None else f" ± {spread.deviation:.{digits}f}"
    return f"{spread.mean:.{digits}f}{around}"
