"""The small models that ship for the lessons: whole, alike but for one thing, measured; and the runs beside them."""

from __future__ import annotations

import json
import math
import re
import tomllib
from pathlib import Path
from typing import Any

import torch

from transformer_core.checkpoint import checkpoint_bytes
from transformer_core.cli.training.run_settings import merged_model
from transformer_core.config import ModelConfig, TrainingConfig
from transformer_core.model.transformer import Transformer, count_parameters
from transformer_core.paper.presets import preset
from transformer_core.paper.table3 import ROWS, Results, changes, common_training, reduced_row
from transformer_core.storage.format_1 import current_names
from transformer_core.training.schedule import learning_rate
from transformer_core.translator import Translator

FOLDER = Path(__file__).resolve().parents[2] / "checkpoints" / "small"
RECIPES = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in (FOLDER / "recipes").glob("*.toml")}
MODELS = sorted(name for name in RECIPES if not name.startswith("warmup-"))
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
    assert updates["step"] == list(range(training.log_every, updates["step"][-1] + 1, training.log_every))
    assert course["failed"] or updates["step"][-1] == training.steps
    assert all(math.isfinite(value) for column in updates.values() for value in column)
    for step, rate in zip(updates["step"], updates["learning_rate"], strict=True):
        expected = learning_rate(
            step, d_model=64, warmup_steps=training.warmup_steps, factor=training.learning_rate_factor
        )
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


def test_every_warm_up_run_is_what_its_recipe_says() -> None:
    runs = sorted(path.stem for path in (FOLDER / "warmup").glob("*.json"))
    assert runs == sorted(set(RECIPES) - set(MODELS))
    for name in runs:
        check_course(json.loads((FOLDER / "warmup" / f"{name}.json").read_text(encoding="utf-8")), RECIPES[name])


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
