"""prepare: text in, vocabulary and shards out, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

from tests.core.cli.workplace import Call, Workplace, one_line_error
from tests.core.tiny import sentence_pairs
from transformer_core.data import Corpus


def test_prepare_learns_a_vocabulary_and_keeps_every_pair(made: Workplace) -> None:
    corpus = Corpus(made.data)
    assert len(corpus.tokenizer) == 160
    assert corpus.meta["typo_rate"] == 0.1
    assert len(sentence_pairs()) < len(corpus) < 1.3 * len(sentence_pairs())
    source, target = corpus.pair(0)
    assert (corpus.tokenizer.decode(source.tolist()), corpus.tokenizer.decode(target.tolist())) == sentence_pairs()[0]


def test_prepare_with_a_given_vocabulary(made: Workplace, call: Call, tmp_path: Path) -> None:
    vocabulary = made.checkpoint / "tokenizer.model"
    said = call("prepare", "--train", made.valid, "--tokenizer", vocabulary, "--out", tmp_path / "new")
    assert json.loads(said.out)["tokenizer_sha256"] == Corpus(made.data).tokenizer.sha256


def test_a_failed_prepare_leaves_nothing(made: Workplace, call: Call, tmp_path: Path) -> None:
    bad = tmp_path / "bad.tsv"
    bad.write_bytes(b"a\tb\n\xff\xfe\tc\n")
    said = call("prepare", "--train", bad, "--tokenizer", made.data / "tokenizer.model", "--out", tmp_path / "new")
    assert "bad.tsv is not UTF-8" in one_line_error(said, 1)
    assert list(tmp_path.iterdir()) == [bad]
