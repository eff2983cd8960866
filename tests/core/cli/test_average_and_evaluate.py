"""average against the mean of the saved steps; evaluate against sacreBLEU called directly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sacrebleu
import torch

from tests.core.cli.workplace import Call, Workplace, one_line_error
from transformer_core.checkpoint import load_checkpoint
from transformer_core.training.state import average_weights, step_folders
from transformer_core.translator import Translator


def test_average_is_the_mean_of_the_last_steps_in_float16(made: Workplace) -> None:
    loaded = dict(load_checkpoint(made.checkpoint).model.named_parameters())
    assert [folder.name for folder in step_folders(made.run)] == ["step-00000010", "step-00000020"]
    for name, mean in average_weights(step_folders(made.run)).items():
        assert torch.equal(loaded[name], mean.half().float())


def test_average_tells_how_the_model_came_about(made: Workplace, call: Call, tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text('{"training": {"hardware": "x"}, "valid": {"bleu": 3.0}}', encoding="utf-8")
    (tmp_path / "card.md").write_text("# Karte\n", encoding="utf-8")
    said = call(
        *("average", made.run, "--last", "1", "--out", tmp_path / "new"),
        *("--metrics", tmp_path / "metrics.json", "--card", tmp_path / "card.md"),
    )
    checkpoint = load_checkpoint(tmp_path / "new")
    assert json.loads(said.out)["checkpoint_hash"] == checkpoint.hash
    assert checkpoint.metrics["valid"] == {"bleu": 3.0}
    training = checkpoint.metrics["training"]
    assert (training["hardware"], training["steps"], training["averaged_steps"]) == ("x", 20, [20])
    assert training["parameters"] == sum(p.numel() for p in checkpoint.model.parameters())
    assert (tmp_path / "new" / "README.md").read_text(encoding="utf-8") == "# Karte\n"


def test_average_replaces_nothing_unasked(made: Workplace, call: Call, tmp_path: Path) -> None:
    before = load_checkpoint(made.checkpoint).hash
    assert "--force" in one_line_error(call("average", made.run, "--last", "1", "--out", made.checkpoint))
    assert load_checkpoint(made.checkpoint).hash == before
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    said = call("average", made.run, "--last", "1", "--out", tmp_path, "--force")
    assert "something else than a checkpoint" in one_line_error(said)
    assert (tmp_path / "thesis.txt").exists()


def test_average_of_more_steps_than_there_are(made: Workplace, call: Call, tmp_path: Path) -> None:
    error = one_line_error(call("average", made.run, "--last", "9", "--out", tmp_path / "new"))
    assert "--last is 9" in error
    assert "2 saved steps" in error


def test_evaluate_ends_with_one_line_of_json(made: Workplace, call: Call) -> None:
    said = call("evaluate", "--checkpoint", made.checkpoint, "--test", made.valid, "--greedy", "--per-sentence")
    assert said.status == 0
    table, _, last = said.out.rstrip("\n").rpartition("\n")
    scores = json.loads(last)
    rows = [line.split("\t") for line in table.split("\n\n")[0].splitlines()]
    assert rows[0] == ["number", "chrf", "source", "translation", "reference 1"]
    translations, references = [row[3] for row in rows[1:]], [row[4] for row in rows[1:]]
    translator = Translator.load(made.checkpoint)
    assert translations == [translator.translate(row[2], beam=1).text for row in rows[1:]]
    assert scores["bleu"] == pytest.approx(sacrebleu.corpus_bleu(translations, [references]).score)
    assert scores["chrf"] == pytest.approx(sacrebleu.corpus_chrf(translations, [references]).score)
    assert scores["signature"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp")
    assert (scores["sentences"], scores["beam"], scores["not_translated"]) == (9, 1, 0)
    assert scores["checkpoint_hash"] == translator.checkpoint_hash


def test_evaluate_takes_columns_and_more_references(made: Workplace, call: Call, tmp_path: Path) -> None:
    test = tmp_path / "test.tsv"
    test.write_text("The man sees.\tIgnoriert.\tDer Mann sieht.\tEin Mann sieht.\n" * 2, encoding="utf-8")
    common = ["evaluate", "--checkpoint", made.checkpoint, "--test", test, "--beam", "1"]
    said = call(*common, "--target-column", "3", "--references", "2")
    scores = json.loads(said.out.splitlines()[-1])
    assert scores["references"] == 2
    assert scores["signature"].startswith("nrefs:2|")
    assert json.loads(call(*common, "--references", "all").out.splitlines()[-1])["references"] == 3
