"""variations: killed and continued, with numbers that others find too."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.core.cli.workplace import ROOT, Call, Workplace, one_line_error
from transformer_core.data import read_pairs

pytestmark = pytest.mark.process

ROWS = ["table3-c-n2", "table3-b-dk16"]
OPTIONS = [
    *("--reduce", "16", "--steps", "60", "--rows", *ROWS),
    *("--training.warmup_steps", "30", "--training.learning_rate_factor", "0.6", "--training.checkpoint_every", "10"),
]


def arguments(made: Workplace, out: Path) -> list[str]:
    return ["variations", "--data", str(made.data), "--valid", str(made.valid), "--out", str(out), *OPTIONS]


def results(out: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((out / "variations.json").read_text(encoding="utf-8"))
    return values


def lasting(values: dict[str, Any]) -> dict[str, Any]:
    """All but the time that it took."""
    return {**values, "runs": [{**run, "seconds": 0} for run in values["runs"]]}


@pytest.fixture(scope="module")
def compared(made: Workplace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rows, trained without a break."""
    from transformer_core.cli import main

    out = tmp_path_factory.mktemp("variations") / "out"
    assert main(arguments(made, out)) == 0
    return out


@pytest.mark.parametrize("row", ROWS)
def test_scores_equal_evaluate(row: str, made: Workplace, compared: Path, call: Call) -> None:
    match = next(run for run in results(compared)["runs"] if run["row"] == row)
    folder, checkpoint = compared / "runs" / f"{row}-seed1", compared.parent / f"model-{row}"
    weights = load_file(folder / "step-00000060" / "model.safetensors")
    assert match["parameters"] == sum(weight.numel() for weight in weights.values())
    assert call("average", folder, "--last", "1", "--out", checkpoint).status == 0
    said = call("evaluate", "--checkpoint", checkpoint, "--test", made.valid, "--beam", "4", "--alpha", "0.6")
    scores = json.loads(said.out.splitlines()[-1])
    assert match["bleu"] == pytest.approx(scores["bleu"])
    assert match["perplexity"] == pytest.approx(scores["perplexity"], rel=1e-4)


def test_the_file_tells_what_was_done(made: Workplace, compared: Path) -> None:
    values = results(compared)
    assert values["reduced_by"] == {"widths": 16, "layers": 2}
    assert (values["training"]["steps"], values["training"]["cooldown_steps"]) == (60, 20)
    assert values["search"] == {"beam": 4, "alpha": 0.6, "length_penalty": "gnmt"}
    assert values["validation"]["sentences"] == len(list(read_pairs(made.valid)))
    runs = {run["row"]: run for run in values["runs"]}
    assert list(runs) == ["table3-b-dk16", "table3-c-n2"]  # in the order of the table
    assert runs["table3-c-n2"]["changes"] == {"num_layers": 1}
    assert runs["table3-b-dk16"]["changes"] == {"d_k": 1}
    assert {run["target_tokens"] for run in values["runs"]} == {runs["table3-c-n2"]["target_tokens"]}  # the same text
    assert all(run["updates"] == 60 and run["seconds"] > 0 for run in values["runs"])
    assert runs["table3-c-n2"]["bleu"] > 0
    assert runs["table3-c-n2"]["signature"].startswith("nrefs:1|case:mixed|eff:no|tok:13a")
    assert runs["table3-c-n2"]["versions"]["torch"] == torch.__version__


@pytest.mark.slow  # test_killed.py kills the training itself
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_and_continued_it_ends_alike(made: Workplace, compared: Path, tmp_path: Path) -> None:
    """Killed in the midst of the second training: the first is not done again, the second goes on."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "transformer_core", *arguments(made, out)]
    second = out / "runs" / f"{ROWS[1]}-seed1"
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        while not (second / "step-00000010").exists() and process.poll() is None:
            time.sleep(0.02)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    before = results(out)
    assert [run["row"] for run in before["runs"]] == ROWS[:1]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{ROWS[0]}, seed 1: done before" in done.stderr
    assert "resumed at step" in done.stderr
    after = results(out)
    assert before["runs"][0] in after["runs"]
    assert lasting(after) == lasting(results(compared))
    assert done.stdout.splitlines()[0].split() == ["row", "seeds", "perplexity", "BLEU", "parameters"]
    means = json.loads(done.stdout.splitlines()[-1])
    assert means[ROWS[0]] == {
        "bleu": before["runs"][0]["bleu"],
        "perplexity": before["runs"][0]["perplexity"],
        "seeds": 1,
    }


def test_rows_of_another_training_are_not_mixed_in(made: Workplace, compared: Path, call: Call) -> None:
    before = (compared / "variations.json").read_bytes()
    error = one_line_error(call(*arguments(made, compared), "--training.warmup_steps", "31"))
    assert "made with other settings: training.warmup_steps was 30, is 31" in error
    error = one_line_error(call(*arguments(made, compared), "--reduce", "8"))
    assert "reduced_by.widths was 16, is 8" in error
    assert (compared / "variations.json").read_bytes() == before
