"""ship against average, one after the other; journal against the lines of the run; histories of a training."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tests.core.cli.workplace import Call, Workplace, one_line_error
from transformer_core.checkpoint import CheckpointError, load_checkpoint
from transformer_core.cli.checkpoint.ship import recipe_text
from transformer_core.cli.training.run_settings import RunSettings, changed_options, merged_model
from transformer_core.data import Corpus
from transformer_core.history.snapshots import History, history_folder
from transformer_core.history.training_history import HistoryBuilder
from transformer_core.paper.presets import preset
from transformer_core.storage.manifest import Manifest
from transformer_core.training.snapshots import snapshot_files


def test_a_shipped_training_is_averaged_scored_and_told_of(made: Workplace, call: Call, tmp_path: Path) -> None:
    (tmp_path / "about.md").write_text("Made to be read.\n", encoding="utf-8")
    out = tmp_path / "model"
    common = ["ship", made.run, "--last", "2", "--out", out]
    said = call(*common, "--valid", made.valid, "--title", "A | title", "--about", tmp_path / "about.md")
    assert said.status == 0, said.err
    shipped = load_checkpoint(out)  # with the hashes of all files
    scores = shipped.metrics["scores"]["valid"]
    assert scores["part"] == "validation"
    heads = shipped.metrics["heads"]
    assert (heads["sets"], heads["sentences"]) == (["valid"], 9)
    assert shipped.metrics["training"] == load_checkpoint(made.checkpoint).metrics["training"]
    weights = dict(load_checkpoint(made.checkpoint).model.named_parameters())
    assert all(bool((weights[name] == ours).all()) for name, ours in shipped.model.named_parameters())
    card = (out / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# A | title\n\nMade to be read.\n")
    assert f"| valid | validation | 9 | {scores['bleu']:.1f} | {scores['chrf']:.1f} | {scores['nll']:.3f} |" in card
    assert scores["signature"] in card and f"| encoder-decoder | 8 | {heads['cross']['looking']} |" in card
    assert {"journal.json", "recipe.toml"} <= set(Manifest.read(out).files)
    recipe = tomllib.loads((out / "recipe.toml").read_text(encoding="utf-8"))
    assert recipe == {"preset": "tiny", "training": {"steps": 20}}
    assert "add --force" in one_line_error(call(*common))


def test_how_it_was_trained_is_told(made: Workplace, call: Call, tmp_path: Path) -> None:
    """From which weights, without their place, with Muon and a cooldown, in two processes."""
    run, out, name = tmp_path / "run", tmp_path / "model", made.checkpoint.name
    data = ["--data", made.data, "--valid", made.valid, "--out", run, "--init-from", made.checkpoint]
    options = ["--training.steps", "4", "--training.cooldown_steps", "3"]
    options += ["--training.optimizer", "muon", "--training.muon_factor", "3"]
    assert call("train", "--preset", "tiny", "--model.vocab_size", "160", *data, *options).status == 0
    values = json.loads((run / "config.json").read_text(encoding="utf-8"))
    assert values["processes"] == 1
    (run / "config.json").write_text(json.dumps({**values, "processes": 2}), encoding="utf-8")
    assert call("ship", run, "--last", "1", "--out", out).status == 0
    facts = load_checkpoint(out).metrics["training"]
    assert (facts["optimizer"], facts["muon_factor"], facts["cooldown_steps"]) == ("muon", 3.0, 3)
    assert facts["batch_tokens"] == 2 * preset("tiny").training.batch_tokens
    card = " ".join((out / "README.md").read_text(encoding="utf-8").split())
    assert "Muon for the matrices of the layers (learning rate times 3), Adam for the rest; matrix products" in card
    assert ", then a linear cooldown to 0 over the last 3. * Label smoothing" in card
    assert f"* Start: the weights of `{name}`. " in card and f" --init-from {name} --data data" in card
    assert str(made.checkpoint.parent) not in card
    recipe = tomllib.loads((out / "recipe.toml").read_text(encoding="utf-8"))["training"]
    assert recipe == {"accumulate": 2, "steps": 4, "cooldown_steps": 3, "optimizer": "muon", "muon_factor": 3.0}


def test_recipes_give_the_options_back(made: Workplace) -> None:
    stored = RunSettings.load(made.run)
    for changes in ({"num_heads": 1}, {"d_k": 5, "causal": False}, {"d_model": 128, "dropout": 0.25}):
        chosen = preset("small").model
        model = merged_model(chosen, changes)
        training = preset("small").training.replace(learning_rate_factor=1e-4, precision="bfloat16")
        changed = changed_options(
            RunSettings(preset="small", model=model, training=training, data="", corpus=stored.corpus)
        )
        assert changed["model"] == changes
        recipe = tomllib.loads(recipe_text("small", changed))
        assert merged_model(chosen, recipe["model"]) == model
        assert preset("small").training.replace(**recipe["training"]) == training


def test_the_journal_holds_what_was_recorded(made: Workplace, call: Call, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(made.run, run)
    with (run / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"step": 30, "loss": 1')  # killed while it wrote
    for step, loss in ((15, "inf"), (23, "nan")):  # the first one was trained over
        failed = run / f"failed-{step:08d}"
        failed.mkdir()
        report = {"step": str(step), "loss": loss, "gradient_norm": "nan", "batches": []}
        (failed / "report-0.json").write_text(json.dumps(report), encoding="utf-8")
    assert call("journal", run, "--out", tmp_path / "a" / "run.json").status == 0
    journal = json.loads((tmp_path / "a" / "run.json").read_text(encoding="utf-8"))
    lines = [json.loads(line) for line in (made.run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    recorded = [line for line in lines if "loss" in line]
    assert journal["updates"]["step"] == [line["step"] for line in recorded] == [10, 20]
    for name in ("loss", "nll", "mean_nll", "learning_rate", "gradient_norm"):
        assert journal["updates"][name] == pytest.approx([line[name] for line in recorded], rel=1e-5), name
    (scores,) = [line["validation"]["valid"] for line in lines if "validation" in line]
    assert journal["validation"]["valid"]["step"] == [20]
    assert journal["validation"]["valid"]["nll"] == pytest.approx([scores["nll"]], rel=1e-5)
    assert journal["failed"] == {"step": 23, "loss": "nan", "gradient_norm": "nan"}
    assert journal["training"]["warmup_steps"] == preset("tiny").training.warmup_steps
    assert journal["model"]["vocab_size"] == 160
    (run / "metrics.jsonl").unlink()
    assert "no readable journal" in one_line_error(call("journal", run, "--out", tmp_path / "b.json"))


def test_the_commands_write_histories(corpus: Corpus, call: Call, pairs_file: Path, tmp_path: Path) -> None:
    run, sentences = tmp_path / "run", tmp_path / "sentences.txt"
    sentences.write_text("the red dog\n\na cat\teine katze\n", encoding="utf-8")
    train = ["train", "--preset", "tiny", "--data", corpus.folder, "--out", run, "--training.steps", "20"]
    assert call(*train, "--training.snapshots", "2", "--training.snapshots_from", "5").status == 0
    journal = tmp_path / "run.json"
    probe = ["journal", run, "--out", journal, "--probe", "the red dog", "der rote hund", "--head"]
    assert call(*probe, "cross.1.2").status == 0
    snapshots = json.loads(journal.read_text(encoding="utf-8"))["probe"]
    assert snapshots["step"] == [0, 5, 20] and len(snapshots["translation"]) == 3
    settings = RunSettings.load(run)
    builder = HistoryBuilder(snapshot_files(run), settings.model, corpus.tokenizer, settings.decoding)
    last = builder.translator(20)
    assert snapshots["translation"][2] == last.translate("the red dog", beam=1).text
    exact = last.teacher_force("the red dog", "der rote hund").attention
    assert np.abs(np.array(snapshots["weights"][2]) / 255 - exact.cross[0, 1]).max() <= 1 / 510 + 1e-6
    assert tuple(snapshots["queries"]) == exact.outputs.tokens and tuple(snapshots["keys"]) == exact.source.tokens
    assert "there is no head cross.9.1" in one_line_error(call(*probe, "cross.9.1"))

    common = ["history", run, "--sentences", sentences, "--out"]
    said = call(*common, tmp_path / "out", "--valid", pairs_file, "--valid-sentences", "3")
    assert json.loads(said.out)["moments"] == [0, 5, 20]
    alone = History.load(tmp_path / "out")
    assert [each.source for each in alone.sentences] == ["the red dog", "a cat"]
    assert alone.sentences[1].target == "eine katze"
    assert alone.validation is not None and alone.validation["sentences"] == 3 and alone.alignment is None
    assert "add --force" in one_line_error(call(*common, tmp_path / "out"))
    assert call(*common, tmp_path / "out", "--force").status == 0

    shipped = tmp_path / "model"
    said = call("ship", run, "--last", "1", "--out", shipped, "--history", sentences)
    assert said.status == 0, said.err
    own = shipped / "derived" / "history"
    assert History.load(own).steps == (0, 5, 20)
    assert history_folder(shipped) == own
    identity = load_checkpoint(shipped).weights_hash
    with (own / "attention.safetensors").open("ab") as file:
        file.write(b"x")
    with pytest.raises(CheckpointError, match=r"attention\.safetensors: is damaged"):
        History.load(own)
    assert load_checkpoint(shipped).weights_hash == identity, "the model is sound without its history"

    sentences.write_text("a\tb\tc\n", encoding="utf-8")
    assert "line 1 must hold" in one_line_error(call(*common, tmp_path / "new"))
