"""train under torchrun: two processes, one training."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.core.cli.workplace import ROOT, Call, Workplace, one_line_error
from transformer_core.training.state import step_folders

pytestmark = pytest.mark.process


def torchrun(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command of docs/training.md, with two processes on the CPU."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += ["-m", "transformer_core", "train", *map(str, arguments)]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.slow
@pytest.mark.parametrize("parallel", ["ddp", "shard"])
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
    assert call(*resume, "--training.accumulate", "2", "--training.parallel", "replicate").status == 0
    expected, got = (load_file(step_folders(run)[-1] / "model.safetensors") for run in (one, two))
    for name in expected:
        torch.testing.assert_close(got[name], expected[name], atol=1e-5, rtol=1e-4)
