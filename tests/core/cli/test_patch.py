"""patch: which values carry the difference between two sentences, in a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.core.cli.workplace import Call, Workplace, one_line_error
from transformer_core.analysis import patching as module
from transformer_core.analysis.patching import DIRECTIONS, SITES, patching
from transformer_core.cli.patch import _DIRECTIONS, _SITES
from transformer_core.translator import Translator

CLEAN, CORRUPTED = "The man sees a house.", "The man sees a horse."
ANSWERS = ("Der Mann sieht ein Haus.", "Der Mann sieht eine Tasse.")


def test_the_file_has_every_cell(made: Workplace, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (_SITES, _DIRECTIONS) == (SITES, DIRECTIONS)
    out = tmp_path / "patch.npz"
    command = ["patch", "--checkpoint", made.checkpoint, "--clean", CLEAN, "--corrupted", CORRUPTED, "--out", out]
    command += ["--answers", *ANSWERS]
    monkeypatch.setattr(module, "MIN_DIFFERENCE", 1e9)
    assert "too little to say" in one_line_error(call(*command))
    monkeypatch.setattr(module, "MIN_DIFFERENCE", 0.0)
    said = call(*command, "--direction", "noise")
    assert said.status == 0, said.err
    translator = Translator.load(made.checkpoint)
    expected = patching(translator, CLEAN, CORRUPTED, answers=ANSWERS, direction="noise")
    found = np.load(out)
    names = {"recovered", "metrics", "metric_clean", "metric_corrupted", "answers", "prefix", "source", "provenance"}
    assert set(found.files) == names
    config = translator.config
    assert found["metrics"].shape == (3, config.num_layers, config.num_heads)
    assert found["metrics"] == pytest.approx(expected.metrics.numpy(), abs=1e-4)
    assert found["answers"].tolist() == list(expected.answers)
    assert json.loads(str(found["provenance"]))["direction"] == "noise"
    assert f"{expected.metric_clean:.2f} clean" in said.out
    kind, layer, head = np.unravel_index(found["recovered"].argmax(), found["recovered"].shape)
    first = said.out.splitlines()[4].split()
    assert first[:2] == [["encoder", "decoder", "encoder-decoder"][kind], f"{layer + 1}.{head + 1}"]
    assert "add --force" in one_line_error(call(*command))
    for option in ("--site", "--direction"):
        assert f"{option} is 'x'" in one_line_error(call(*command, "--force", option, "x"))
    assert "--answers is empty" in one_line_error(call(*command, "--force", "--answers", " ", "Ja."))
    assert "--clean has" in one_line_error(call(*command, "--force", "--clean", "house " * 400))
