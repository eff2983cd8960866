"""train: recipes, exact resume, start from a checkpoint, a clean stop; two processes under torchrun."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.core.cli.workplace import ROOT, TRAIN, Call, Workplace, one_line_error
from tests.core.training.runs import same
from transformer_core.checkpoint import load_checkpoint
from transformer_core.cli import PROGRAM
from transformer_core.cli.training import train
from transformer_core.cli.training.run_settings import RunSettings
from transformer_core.config import TrainingConfig
from transformer_core.data import Corpus
from transformer_core.training import precision_probe
from transformer_core.training.state import step_folders
from transformer_core.training.trainer import Trainer


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_file(step_folders(run)[-1] / "model.safetensors")


def test_train_writes_all_options(made: Workplace) -> None:
    config = json.loads((made.run / "config.json").read_text(encoding="utf-8"))
    assert config["preset"] == "tiny"
    assert config["training"]["steps"] == 20
    assert config["training"]["warmup_steps"] == 20
    assert config["model"]["d_model"] == 32
    assert config["valid"] == [str(made.valid)]
    lines = [json.loads(line) for line in (made.run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["step"] for line in lines] == [10, 20, 20, 20]
    assert lines[3]["ended"] == "completed"
    assert set(lines[2]["validation"]["valid"]) == {"nll", "perplexity", "bleu", "heads"}
    assert lines[2]["validation"]["valid"]["heads"]["cross"]["heads"] == 2 * 4


def test_resumed_training_equals_an_unbroken_one(made: Workplace, call: Call, tmp_path: Path) -> None:
    start = ["train", *TRAIN, "--data", made.data, "--valid", made.valid, "--out", tmp_path / "run"]
    assert call(*start, "--training.steps", "10").status == 0
    said = call("train", "--resume", "--out", tmp_path / "run", "--training.steps", "20")
    assert said.status == 0
    assert same(weights(made.run), weights(tmp_path / "run"))
    assert json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))["training"]["steps"] == 20


def test_resume_accepts_the_first_command_again(made: Workplace, call: Call) -> None:
    said = call("train", *TRAIN, "--data", made.data, "--valid", made.valid, "--out", made.run, "--resume")
    assert said.status == 0


def test_resume_refuses_other_text(made: Workplace, call: Call, tmp_path: Path) -> None:
    vocabulary = made.data / "tokenizer.model"
    call("prepare", "--train", made.valid, "--tokenizer", vocabulary, "--out", tmp_path / "other")
    error = one_line_error(call("train", "--resume", "--out", made.run, "--data", tmp_path / "other"))
    assert "does not match the data" in error
    assert json.loads((made.run / "config.json").read_text(encoding="utf-8"))["data"] == str(made.data)


def test_train_prepares_first_and_a_recipe_says_how(made: Workplace, call: Call, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        f"preset = 'tiny'\ntrain = '{made.pairs.as_posix()}'\nvalid = ['{made.valid.as_posix()}']\n"
        f"out = '{(tmp_path / 'run').as_posix()}'\ntypo-rate = 0.2\n"
        "[model]\nd_model = 16\nvocab_size = 150\n[training]\nsteps = 3\nseed = 7\n",
        encoding="utf-8",
    )
    assert call("train", "--recipe", recipe, "--training.steps", "2").status == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))
    assert config["training"]["steps"] == 2  # the command line beats the recipe
    assert (config["training"]["seed"], config["training"]["warmup_steps"]) == (7, 20)
    assert (config["model"]["d_model"], config["model"]["d_k"], config["model"]["vocab_size"]) == (16, 4, 150)
    assert config["corpus"]["typo_rate"] == 0.2
    assert len(Corpus(tmp_path / "run" / "data").tokenizer) == 150
    assert [folder.name for folder in step_folders(tmp_path / "run")] == ["step-00000002"]


def test_the_command_line_replaces_a_missing_file_of_a_recipe(made: Workplace, call: Call, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("preset = 'tiny'\ndata = 'nowhere'\n[training]\nsteps = 1\n", encoding="utf-8")
    command = ["train", "--recipe", recipe, "--out", tmp_path / "run"]
    assert "--data: folder not found: nowhere" in one_line_error(call(*command))
    assert call(*command, "--data", made.data).status == 0


@pytest.mark.parametrize("shipped", ["en-de", "en-fr", "en-fr-small"])
def test_recipes_of_shipped_models_are_read(shipped: str) -> None:
    recipe = ROOT / "checkpoints" / shipped / "recipe.toml"
    given = train.read_recipe(str(recipe), PROGRAM.parser("train"))
    stored = tomllib.loads(recipe.read_text(encoding="utf-8"))["training"]
    assert given["training"] == stored


def test_a_training_of_format_1_goes_on(made: Workplace, call: Call, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert call("train", *TRAIN, "--data", made.data, "--out", run, "--training.steps", "2").status == 0
    for file, changed in (
        (run / "config.json", {"max_tokens": "max_pieces", "snapshots": "moments", "typo_rate": "careless_share"}),
        (run / "step-00000002" / "state.json", {"target_tokens": "target_pieces"}),
    ):
        written = file.read_text(encoding="utf-8")
        for now, name in changed.items():
            written = written.replace(f'"{now}"', f'"{name}"')
        file.write_text(written.replace('"ddp"', '"replicate"'), encoding="utf-8")
    before = json.loads((run / "step-00000002" / "state.json").read_text(encoding="utf-8"))["target_pieces"]
    assert call("train", "--resume", "--out", run, "--training.steps", "3").status == 0
    settings = RunSettings.load(run)
    assert (settings.training.snapshots, settings.training.parallel) == (0, "ddp")
    assert '"max_tokens"' in (run / "config.json").read_text(encoding="utf-8")
    after = json.loads((run / "step-00000003" / "state.json").read_text(encoding="utf-8"))["target_tokens"]
    assert after == pytest.approx(1.5 * before, rel=0.5) and after > before


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("stepss = 3", "stepss"),
        ("[training]\nwarm_up = 3", "training.warm_up"),
        ("[model]\nd_modell = 3", "model.d_modell"),
        ("[training]\nsteps = 'many'", "--training.steps is 'many', but must be a whole number"),
        ("training = 3", "training is 3, but must be a table"),
        ("train = 3", "train is 3, but must be a list of file names"),
        ("preset = ", "is not valid TOML"),
    ],
)
def test_a_wrong_recipe_is_answered_by_name(text: str, named: str, call: Call, tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(text, encoding="utf-8")
    said = call("train", "--recipe", tmp_path / "recipe.toml", "--out", tmp_path / "run")
    assert named in one_line_error(said)
    assert not (tmp_path / "run").exists()


def test_init_from_starts_with_the_weights_of_a_checkpoint(made: Workplace, call: Call, tmp_path: Path) -> None:
    said = call(
        *("train", "--preset", "tiny", "--train", made.pairs, "--out", tmp_path / "run"),
        *("--init-from", made.checkpoint, "--model.dropout", "0.2"),
        # A step so small that it changes nothing in float32.
        *("--training.steps", "1", "--training.learning_rate_factor", "1e-30"),
    )
    assert said.status == 0
    expected = dict(load_checkpoint(made.checkpoint).model.named_parameters())
    assert all(torch.equal(value, expected[name]) for name, value in weights(tmp_path / "run").items())
    config = json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))
    assert config["model"]["dropout"] == 0.2
    assert config["init_from"] == str(made.checkpoint)


def test_init_from_refuses_another_vocabulary(made: Workplace, call: Call, tmp_path: Path) -> None:
    call("prepare", "--train", made.pairs, "--vocab-size", "160", "--out", tmp_path / "data", "--typo-rate", "0")
    call("prepare", "--train", made.valid, "--vocab-size", "120", "--out", tmp_path / "other")
    said = call(
        *("train", "--preset", "tiny", "--data", tmp_path / "other"),
        *("--init-from", made.checkpoint, "--out", tmp_path / "run"),
    )
    assert "--tokenizer" in one_line_error(said)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child alone")
@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM])
@pytest.mark.process
def test_a_signal_saves_and_ends_with_status_0(number: signal.Signals, made: Workplace, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "transformer_core", "train", "--preset", "tiny", "--data", str(made.data)]
    command += ["--out", str(tmp_path / "run"), "--training.steps", "1000000", "--training.checkpoint_every", "1000000"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not (tmp_path / "run" / "metrics.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "--resume continues from there" in err
    assert "Traceback" not in err
    assert len(step_folders(tmp_path / "run")) == 1


def test_missing_tensorboard(made: Workplace, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer_core.training.journal.find_spec", lambda name: None)
    said = call("train", *TRAIN, "--train", made.pairs, "--training.tensorboard", "true", "--out", tmp_path / "run")
    assert "training.tensorboard needs TensorBoard: python -m pip install tensorboard" in one_line_error(said)
    assert not (tmp_path / "run").exists()


def test_progress_is_logged_where_there_is_no_terminal(
    made: Workplace, call: Call, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every ten seconds of training: with steps of four seconds after the third and the sixth."""
    caplog.set_level(logging.INFO)
    read = Trainer._read
    monkeypatch.setattr(Trainer, "_read", lambda trainer, seconds: read(trainer, 4.0))
    run = tmp_path / "run"
    options = ["--training.steps", "7", "--training.log_every", "1"]
    assert call("train", *TRAIN, *options, "--data", made.data, "--out", run).status == 0
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    said = [record.getMessage() for record in caplog.records if record.getMessage().startswith("step ")]
    assert said == [
        f"step {n} of 7, nll {lines[n - 1]['nll']:.2f}, {lines[n - 1]['tokens_per_second']:.0f} tokens per second"
        for n in (3, 6)
    ]


def torchrun(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command of docs/training.md, with two processes on the CPU."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += ["-m", "transformer_core", "train", *map(str, arguments)]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_two_processes_then_one(made: Workplace, call: Call, tmp_path: Path, parallel: str) -> None:
    common: list[str | Path] = ["--preset", "tiny", "--data", made.data, "--valid", made.valid, "--model.dropout", "0"]
    common += ["--training.batch_tokens", "400", "--training.precision", "float32"]
    one, two = tmp_path / "one", tmp_path / "two"
    assert call("train", *common, "--out", one, "--training.steps", "6", "--training.accumulate", "2").status == 0
    done = torchrun(*common, "--out", two, "--training.steps", "4", "--training.parallel", parallel)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("parameters,") == 1  # only the first process logs
    lines = [json.loads(line) for line in (two / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["step"] for line in lines] == [4, 4, 4]
    assert "bleu" in lines[1]["validation"]["valid"]

    resume = ["train", "--resume", "--out", two, "--training.steps", "6"]
    error = one_line_error(call(*resume))
    assert "training.accumulate 1 x 2 processes, and would have 1 x 1; give --training.accumulate 2" in error
    assert call(*resume, "--training.accumulate", "2", "--training.parallel", "ddp").status == 0
    torch.testing.assert_close(weights(two), weights(one), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    ("ratio", "precision", "device", "told"),
    [
        (40.0, "bfloat16", "cpu", True),
        (0.5, "bfloat16", "cpu", False),
        (40.0, "float32", "cpu", False),
        (40.0, "bfloat16", "cuda", False),
    ],
)
def test_training_tells_when_float32_is_faster(
    ratio: float,
    precision: str,
    device: str,
    told: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(precision_probe, "bfloat16_time_ratio", lambda: ratio)
    with caplog.at_level(logging.WARNING):
        train._warn_if_bfloat16_is_slow(TrainingConfig.from_dict({"precision": precision}), torch.device(device))
    assert ("--training.precision float32" in caplog.text) is told
    assert ("40 times" in caplog.text) is told
