"""staircase: what is left of a translation while heads are switched off, in a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.core.cli.workplace import Call, Workplace, one_line_error
from transformer_core.analysis.effects.cumulative_ablation import ORDERS, cumulative_ablation
from transformer_core.cli.staircase import _ORDERS
from transformer_core.translator import Translator

SOURCE, TARGET = "The man sees a house.", "Der Mann sieht ein Haus."


def test_the_file_has_every_step(made: Workplace, call: Call, tmp_path: Path) -> None:
    assert _ORDERS == ORDERS
    out = tmp_path / "staircase.npz"
    command = ["staircase", "--checkpoint", made.checkpoint, "--source", SOURCE, "--target", TARGET, "--out", out]
    said = call(*command, "--order", "gradient", "--random-orders", "1")
    assert said.status == 0, said.err
    expected = cumulative_ablation(Translator.load(made.checkpoint), SOURCE, TARGET, order="gradient", random_orders=1)
    found = np.load(out)
    assert set(found.files) == {"heads", "log_p", "counts", "texts", "random", "provenance"}
    assert found["heads"].tolist() == [f"{kind}.{layer}.{head}" for kind, layer, head in expected.heads]
    assert found["log_p"] == pytest.approx(expected.log_p.numpy(), abs=1e-4)
    assert found["random"] == pytest.approx(expected.random.numpy(), abs=1e-4)
    assert list(zip(found["counts"].tolist(), found["texts"].tolist(), strict=True)) == list(expected.texts)
    assert json.loads(str(found["provenance"]))["order"] == "gradient"
    assert f"{found['log_p'][0]:.2f}" in said.out
    assert "add --force" in one_line_error(call(*command))
    assert "--order is 'x'" in one_line_error(call(*command, "--force", "--order", "x"))
    assert "--random-orders is 1000" in one_line_error(call(*command, "--force", "--random-orders", "1000"))
