"""count: the table and the line of JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.cli.workplace import Call, Workplace, one_line_error
from transformer_core.cli.training.run_settings import RunSettings
from transformer_core.model.transformer import Transformer, count_parameters


def test_base_and_the_papers_own_estimate(call: Call) -> None:
    said = call("count", "--preset", "base", "--length", "25")
    assert said.status == 0
    *table, last = said.out.splitlines()
    told = json.loads(last)
    assert told["parameters"] == sum(told["parameters_by_part"].values()) == 63_045_632
    assert told["paper_flops"] == pytest.approx(3.28e18, rel=1e-3)
    assert told["flops_per_run"] == told["flops_per_step"] * 100_000 == pytest.approx(9.5e17, rel=0.02)
    assert sum(told["flops_per_step_by_part"].values()) == pytest.approx(told["flops_per_step"])
    assert any(line.split()[:2] == ["total", "63,045,632"] for line in table)
    assert any(line.startswith("the paper's own estimate") and line.endswith("3.283e+18") for line in table)


def test_options_change_the_preset(call: Call) -> None:
    said = call(
        "count", "--preset", "table3-c-ff1024", "--model.vocab_size", "40960", "--model.attention_biases", "true"
    )
    told = json.loads(said.out.splitlines()[-1])
    assert told["parameters"] == 52_514_816
    assert told["paper_flops"] is None
    doubled = call("count", "--preset", "table3-c-ff1024", "--training.accumulate", "2")
    assert json.loads(doubled.out.splitlines()[-1])["batch_tokens"] == 50_000


def test_a_recipe_counts_the_model_that_train_builds(made: Workplace, call: Call, tmp_path: Path) -> None:
    """With the vocabulary of its text; options override it, and a folder that is gone leaves the preset's."""
    recipe = tmp_path / "recipe.toml"
    text = "preset = 'tiny'\ndata = '{}'\nout = 'run'\n[model]\nd_ff = 48\n[training]\nsteps = 1\n"
    recipe.write_text(text.format(made.data.as_posix()), encoding="utf-8")
    changed = ["--recipe", recipe, "--model.d_model", "16"]
    assert call("train", *changed, "--out", tmp_path / "run").status == 0
    told = json.loads(call("count", *changed).out.splitlines()[-1])
    model = Transformer(RunSettings.load(tmp_path / "run").model)
    assert (told["parameters"], told["preset"], told["steps"]) == (count_parameters(model), "tiny", 1)
    meta = json.loads((made.data / "meta.json").read_text(encoding="utf-8"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "meta.json").write_text(json.dumps(meta | {"vocab_size": 200}), encoding="utf-8")
    recipe.write_text(text.format((tmp_path / "other").as_posix()), encoding="utf-8")
    larger = json.loads(call("count", *changed).out.splitlines()[-1])
    assert larger["parameters"] - told["parameters"] == (200 - meta["vocab_size"]) * 16
    recipe.write_text(text.format("nowhere"), encoding="utf-8")
    assert json.loads(call("count", *changed).out.splitlines()[-1])["parameters"] == told["parameters"]  # also 160
    recipe.write_text("preset = 'tiny'\nstepss = 1\n", encoding="utf-8")
    assert "stepss" in one_line_error(call("count", "--recipe", recipe))
    assert "did you mean --recipe?" in one_line_error(call("count", "--recipie", recipe))


def test_why_base_has_63_million(call: Call) -> None:
    """The line is true, and stands only where it belongs."""
    asked = "The paper says 65 M: with a vocabulary of 40,960 and attention_biases"
    assert asked in call("count", "--preset", "base").out
    told = call("count", "--model.vocab_size", "40960", "--model.attention_biases", "true")
    assert round(json.loads(told.out.splitlines()[-1])["parameters"] / 1e6) == 65
    for other in (told, call("count", "--preset", "big")):
        assert asked not in other.out
