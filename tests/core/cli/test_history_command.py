"""history and ship --history: a training with snapshots in, a folder that loads out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.core.cli.workplace import Call, one_line_error
from transformer_core.checkpoint import CheckpointError, load_checkpoint
from transformer_core.data import Corpus
from transformer_core.history.snapshots import History, history_folder


def test_the_commands_write_histories(corpus: Corpus, call: Call, pairs_file: Path, tmp_path: Path) -> None:
    run, sentences = tmp_path / "run", tmp_path / "sentences.txt"
    sentences.write_text("the red dog\n\na cat\teine katze\n", encoding="utf-8")
    train = ["train", "--preset", "tiny", "--data", corpus.folder, "--out", run, "--training.steps", "20"]
    assert call(*train, "--training.snapshots", "2", "--training.snapshots_from", "5").status == 0
    common = ["history", run, "--sentences", sentences, "--out"]
    said = call(*common, tmp_path / "out", "--valid", pairs_file, "--valid-sentences", "3")
    assert json.loads(said.out)["moments"] == [0, 5, 20]
    alone = History.load(tmp_path / "out")
    assert [each.source for each in alone.sentences] == ["the red dog", "a cat"]
    assert alone.sentences[1].target == "eine katze"
    assert alone.validation is not None and alone.validation["sentences"] == 3 and alone.alignment is None
    assert "add --force" in one_line_error(call(*common, tmp_path / "out"))
    assert call(*common, tmp_path / "out", "--force").status == 0
    assert "is not a history" in one_line_error(call(*common, run))

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
    assert "--gold needs --history" in one_line_error(
        call("ship", run, "--last", "1", "--out", tmp_path / "new", "--gold", sentences)
    )
    shutil.rmtree(run / "moments")
    sentences.write_text("a cat\n", encoding="utf-8")
    assert "--training.snapshots" in one_line_error(call(*common, tmp_path / "new"))
