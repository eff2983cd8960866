"""lens: what the model would generate at each layer, in a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.core.cli.workplace import Call, Workplace, one_line_error
from transformer_core.analysis.lens import decoder_lens, logit_lens
from transformer_core.translator import Translator

SOURCE, TARGET = "The man sees a house.", "Der Mann sieht ein Haus."


def test_the_file_has_both_lenses(made: Workplace, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "lens.npz"
    command = ["lens", "--checkpoint", made.checkpoint, "--source", SOURCE, "--target", TARGET, "--out", out]
    said = call(*command)
    assert said.status == 0, said.err
    translator = Translator.load(made.checkpoint)
    expected, texts = logit_lens(translator, SOURCE, TARGET), decoder_lens(translator, SOURCE)
    found = np.load(out)
    assert set(found.files) == {
        "log_p", "rank", "entropy", "top", "top_log_p", "texts", "tokens", "provenance",
    }  # fmt: skip
    np.testing.assert_allclose(found["log_p"], expected.log_p.numpy(), atol=1e-5)
    assert found["rank"].tolist() == expected.rank.tolist()
    assert found["texts"].tolist() == [each.text for each in texts]
    assert found["top"].shape == found["top_log_p"].shape == (3, len(found["tokens"]), 5)
    assert tuple(found["top"][-1, 0]) == translator.tokenizer.tokens(expected.top[-1, 0].tolist())
    assert json.loads(str(found["provenance"]))["target"] == TARGET
    for layer, text in enumerate(texts):
        assert f"{layer}  {text.text}\n" in said.out
    assert "add --force" in one_line_error(call(*command))
