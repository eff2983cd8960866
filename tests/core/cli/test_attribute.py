"""attribute: which words carry each token, in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.core.cli.workplace import Call, Workplace, one_line_error
from transformer_core.analysis.attribution import METHODS, STEPS, Contrast, attribute
from transformer_core.cli.attribute import parser
from transformer_core.translator import Translator

SOURCE, TARGET = "The man sees a house.", "Der Mann sieht ein Haus."
REPORTS = {
    "integrated-gradients": {"gap"},
    "leave-one-out": {"redistributed_source", "redistributed_target"},
}


@pytest.mark.parametrize("method", METHODS)
def test_the_file_has_the_values_and_where_they_come_from(
    made: Workplace, call: Call, tmp_path: Path, method: Any
) -> None:
    out = tmp_path / "attribution.npz"
    said = call(
        "attribute", "--checkpoint", made.checkpoint, "--source", SOURCE, "--method", method, "--steps", "4",
        "--out", out,
    )  # fmt: skip
    assert said.status == 0, said.err
    found = np.load(out)
    expected = {"source", "target", "tokens", "source_tokens", "log_p", "provenance"}
    assert set(found.files) == expected | REPORTS.get(method, set())
    provenance = json.loads(str(found["provenance"]))
    translator = Translator.load(made.checkpoint)
    assert provenance["checkpoint_hash"] == translator.checkpoint_hash and provenance["method"] == method
    direct = attribute(translator, SOURCE, method=method, steps=4)
    assert provenance["target"] == direct.run.text and not provenance["target_given"]
    assert found["source"] == pytest.approx(direct.source.numpy(), abs=1e-5)
    assert found["target"] == pytest.approx(direct.target.numpy(), abs=1e-5)
    assert found["source"].shape == (len(found["tokens"]), len(found["source_tokens"]))
    for name, values in direct.report.items():
        assert found[name] == pytest.approx(values.numpy(), abs=1e-5)
    lines = said.out.splitlines()
    assert lines[0] == direct.run.text and len(lines) == 4 + len(found["tokens"])
    words = np.array(direct.source_axis.words)
    for row, line in zip(found["source"], lines[4:], strict=True):
        sizes = [abs(float(row[words == word].sum())) for word in range(words[-1])]  # </s> is the last
        first = int(np.argmax(sizes))
        assert f" {direct.source_axis.word_texts[first]} " in line
        assert f" {100 * sizes[first] / sum(sizes):.0f} %" in line


def test_layer_and_head_count_from_1(made: Workplace, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "attribution.npz"
    common = ["attribute", "--checkpoint", made.checkpoint, "--source", SOURCE, "--target", TARGET, "--out", out]
    assert call(*common, "--method", "attention", "--layer", "2", "--head", "4").status == 0
    found = np.load(out)
    maps = Translator.load(made.checkpoint).teacher_force(SOURCE, TARGET).attention
    assert found["source"] == pytest.approx(maps.cross[1, 3], abs=1e-6)
    provenance = json.loads(str(found["provenance"]))
    assert (provenance["layer"], provenance["head"], provenance["target_given"]) == (1, 3, True)
    assert "add --force" in one_line_error(call(*common, "--method", "attention"))


def test_a_contrast_names_two_tokens(made: Workplace, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "attribution.npz"
    translator = Translator.load(made.checkpoint)
    token, other = (translator.tokenizer.encode(text).ids[0] for text in ("Mann", "Frau"))
    a, b = translator.tokenizer.tokens([token, other])
    said = call(
        "attribute", "--checkpoint", made.checkpoint, "--source", SOURCE, "--target", TARGET,
        "--method", "grad-x-input", "--at", "2", "--tokens", a, b.replace("▁", ""), "--out", out,
    )  # fmt: skip
    assert said.status == 0, said.err
    found = np.load(out)
    direct = attribute(translator, SOURCE, TARGET, method="grad-x-input", contrast=Contrast(1, token, other))
    assert found["source"] == pytest.approx(direct.source.numpy(), abs=1e-5)
    assert f"{a}, not {b}" in said.out
    provenance = json.loads(str(found["provenance"]))
    assert provenance["contrast"] == {"position": 1, "tokens": [a, b]}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--source", "  ", "--method", "alti"], "--source is empty"),
        (["--source", "word " * 2_000, "--method", "alti"], "--source has "),
        (["--source", SOURCE], "missing: --method"),
        (["--source", SOURCE, "--method", "lime"], "must be one of attention, rollout"),
        (["--source", SOURCE, "--method", "alti", "--layer", "1"], "alti takes no layer"),
        (["--source", SOURCE, "--method", "norm", "--layer", "3"], "--layer is 3, but must be from 1 to 2"),
        (["--source", SOURCE, "--method", "attention", "--head", "0"], "--head is 0, but must be from 1 to 4"),
        (["--source", SOURCE, "--method", "gradient", "--steps", "1001"], "must be 1000 or less"),
        (["--source", SOURCE, "--method", "gradient", "--at", "1"], "--at and --tokens belong together"),
        (["--source", SOURCE, "--method", "gradient", "--at", "1", "--tokens", "a", "@@@@"], "no token of this model"),
        (["--source", SOURCE, "--method", "gradient", "--at", "999", "--tokens", "a", "e"], "--at is 999"),
        (["--source", SOURCE, "--method", "alti", "--at", "1", "--tokens", "a", "e"], "alti takes no contrast"),
    ],
)
def test_what_makes_no_sense_is_refused(
    made: Workplace, call: Call, tmp_path: Path, options: list[str], reason: str
) -> None:
    out = tmp_path / "attribution.npz"
    assert reason in one_line_error(call("attribute", "--checkpoint", made.checkpoint, *options, "--out", out))
    assert not out.exists()


def test_help_names_every_method_and_the_default(call: Call) -> None:
    said = call("attribute", "--help")
    assert said.status == 0 and all(method in said.out for method in METHODS)
    assert parser().get_defaults().steps == STEPS
