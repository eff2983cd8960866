"""effects: what each head does to a translation, in a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.core.cli.workplace import Call, Workplace, one_line_error
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.attention_maps import KINDS
from transformer_core.translator import Translator

SOURCE, TARGET = "The man sees a house.", "Der Mann sieht ein Haus."


@pytest.mark.parametrize("change", ["zero", "mean", "resample", "random"])
def test_the_file_has_the_effects_and_where_they_come_from(
    made: Workplace, call: Call, tmp_path: Path, change: str
) -> None:
    out = tmp_path / "effects.npz"
    others = ["--sentences", made.valid] if change in ("mean", "resample") else []
    said = call(
        "effects", "--checkpoint", made.checkpoint, "--source", SOURCE, "--change", change, *others, "--out", out
    )
    assert said.status == 0, said.err
    found = np.load(out)
    drawn = change in ("resample", "random")
    assert set(found.files) == {
        *KINDS,
        "tokens",
        "log_p",
        "provenance",
        *((f"{kind}_spread" for kind in KINDS) if drawn else ()),
    }
    provenance = json.loads(str(found["provenance"]))
    translator = Translator.load(made.checkpoint)
    assert provenance["checkpoint_hash"] == translator.checkpoint_hash and provenance["change"] == change
    text = translator.translate(SOURCE).text
    assert provenance["target"] == text and said.out.startswith(f"{text}\nlog-probability ")
    for kind in KINDS:
        assert found[kind].shape == (2, 4, len(found["tokens"]))
    if change == "zero":
        expected = head_effects(translator, SOURCE)
        assert found["log_p"] == pytest.approx(expected.run.log_p.numpy())
        for kind in KINDS:
            assert found[kind] == pytest.approx(expected.effects[kind].numpy(), abs=1e-5)
            for total in found[kind].sum(axis=2).ravel():
                assert f"{total:+.2f}".removesuffix("0") in said.out


def test_a_given_translation_is_read(made: Workplace, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "effects.npz"
    common = ["effects", "--checkpoint", made.checkpoint, "--source", SOURCE, "--target", TARGET, "--out", out]
    assert call(*common, "--frozen-norm").status == 0
    found = np.load(out)
    provenance = json.loads(str(found["provenance"]))
    assert (provenance["target"], provenance["target_given"], provenance["frozen_norm"]) == (TARGET, True, True)
    assert float(found["log_p"].sum()) == pytest.approx(
        Translator.load(made.checkpoint).score([(SOURCE, TARGET)])[0], abs=1e-4
    )
    assert "add --force" in one_line_error(call(*common))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--source", "  "], "--source is empty"),
        (["--source", "word " * 2_000], "--source has "),
        (["--source", SOURCE, "--target", "Wort " * 2_000], "--target has "),
        (["--source", SOURCE, "--change", "away"], "must be one of zero, mean, resample, random"),
        (["--source", SOURCE, "--change", "mean"], "need --sentences"),
        (["--source", SOURCE, "--change", "mean", "--sentences", "nothing.tsv"], "nothing.tsv"),
    ],
)
def test_what_makes_no_sense_is_refused(
    made: Workplace, call: Call, tmp_path: Path, options: list[str], reason: str
) -> None:
    out = tmp_path / "effects.npz"
    assert reason in one_line_error(call("effects", "--checkpoint", made.checkpoint, *options, "--out", out))
    assert not out.exists()
    unused = call(
        "effects", "--checkpoint", made.checkpoint, "--source", SOURCE, "--sentences", made.valid, "--out", out
    )
    assert "need --sentences, and no other" in one_line_error(unused)
    wrong = call("effects", "--checkpoint", made.checkpoint, "--source", SOURCE, "--out", tmp_path / "effects.csv")
    assert "must end with .npz" in one_line_error(wrong)
