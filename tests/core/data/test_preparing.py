"""The prepared folder: what is written from parallel text, how it is read, and how it is refused."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.core.tiny import sentence_pairs
from transformer_core.data import Corpus, DataError, prepare, preparing
from transformer_core.text.tokenizer import Tokenizer


def texts(corpus: Corpus) -> list[tuple[str, str]]:
    pairs = [corpus.pair(i) for i in range(len(corpus))]
    return [(corpus.tokenizer.decode(s.tolist()), corpus.tokenizer.decode(t.tolist())) for s, t in pairs]


def test_a_prepared_corpus_holds_every_pair_in_order(corpus: Corpus, tokenizer: Tokenizer) -> None:
    pairs = sentence_pairs()
    assert len(corpus) == len(pairs)
    assert texts(corpus) == pairs
    assert corpus.lengths.tolist() == [[len(tokenizer.encode(s)), len(tokenizer.encode(t))] for s, t in pairs]
    assert corpus.meta["pairs"] == len(pairs)
    assert (corpus.meta["source_tokens"], corpus.meta["target_tokens"]) == tuple(corpus.lengths.sum(axis=0))
    assert corpus.meta["tokenizer_sha256"] == corpus.tokenizer.sha256 == tokenizer.sha256


def test_shards(tokenizer: Tokenizer, pairs_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "PAIRS_PER_SHARD", 100)
    monkeypatch.setattr(preparing, "_CHUNK", 37)
    second = tmp_path / "more.tsv.gz"
    second.write_bytes(gzip.compress(b"The dog.\tder Hund.\n"))
    meta = prepare([pairs_file, second], tmp_path / "out", tokenizer)
    assert (meta["pairs"], meta["shards"]) == (361, 4)
    assert meta["files"] == ["pairs.tsv", "more.tsv.gz"]
    assert texts(Corpus(tmp_path / "out")) == [*sentence_pairs(), ("The dog.", "der Hund.")]


def test_empty_sides_are_left_out_and_counted(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("The dog.\tder Hund.\n\tder Hund.\nThe dog.\t   \n\t\n", encoding="utf-8")
    meta = prepare([path], tmp_path / "out", tokenizer)
    assert (meta["pairs"], meta["empty_pairs_left_out"]) == (1, 3)


def test_careless_copies_are_added_beside_the_originals(tokenizer: Tokenizer, pairs_file: Path, tmp_path: Path) -> None:
    meta = prepare([pairs_file], tmp_path / "a", tokenizer, typo_rate=0.3, seed=5)
    again = prepare([pairs_file], tmp_path / "b", tokenizer, typo_rate=0.3, seed=5)
    other = prepare([pairs_file], tmp_path / "c", tokenizer, typo_rate=0.3, seed=6)
    copies = meta["pairs"] - 360
    assert 70 < copies < 150  # 360 draws of 0.3: 108 expected, 9 standard deviation
    a, b, c = (texts(Corpus(tmp_path / name)) for name in "abc")
    assert meta == again
    assert a == b
    assert a != c
    assert (meta["seed"], other["seed"], meta["typo_rate"]) == (5, 6, 0.3)
    originals, added = set(sentence_pairs()), Counter(a) - Counter(sentence_pairs())
    assert sum(added.values()) == copies
    targets = {target: source for source, target in originals}
    for source, target in added:
        simple = str.maketrans("", "", ".,!?")
        assert source.lower().translate(simple) == targets[target].lower().translate(simple)
        assert source != targets[target]


@pytest.fixture
def prepared(tokenizer: Tokenizer, pairs_file: Path, tmp_path: Path) -> Path:
    """A prepared folder, to be damaged."""
    prepare([pairs_file], tmp_path, tokenizer)
    return tmp_path


def test_a_prepared_folder_is_not_overwritten(tokenizer: Tokenizer, pairs_file: Path, prepared: Path) -> None:
    before = {path.name: path.read_bytes() for path in prepared.iterdir()}
    with pytest.raises(DataError, match="already has a prepared corpus"):
        prepare([pairs_file], prepared, tokenizer)
    assert {path.name: path.read_bytes() for path in prepared.iterdir()} == before


def test_nothing_to_prepare(tokenizer: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "empty.tsv").write_text("\t\n")
    with pytest.raises(DataError, match=r"no sentence pairs in .*empty.tsv"):
        prepare([tmp_path / "empty.tsv"], tmp_path / "out", tokenizer)
    with pytest.raises(DataError, match="no prepared corpus"):
        Corpus(tmp_path / "out")


@pytest.mark.parametrize("file", ["train-00000.source.npy", "train-00000.target.npy", "train-00000.target_ends.npy"])
@pytest.mark.parametrize("damage", ["cut", "missing"])
def test_damaged_shard_is_named(prepared: Path, file: str, damage: str) -> None:
    path = prepared / file
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    else:
        path.unlink()
    with pytest.raises(DataError, match=rf"cannot read shard .*{file}"):
        Corpus(prepared)


def test_shards_that_do_not_belong_together(tokenizer: Tokenizer, prepared: Path) -> None:
    (prepared / "one.tsv").write_text("The dog.\tder Hund.\n", encoding="utf-8")
    prepare([prepared / "one.tsv"], prepared / "one", tokenizer)
    ids, ends = (f"train-00000.target{part}.npy" for part in ("", "_ends"))
    shutil.copy(prepared / "one" / ids, prepared / ids)
    with pytest.raises(DataError, match=rf"{ids}: its \d+ ids do not match .*{ends}"):
        Corpus(prepared)
    shutil.copy(prepared / "one" / ends, prepared / ends)
    with pytest.raises(DataError, match=rf"{ends}: 1 targets for 360 sources"):
        Corpus(prepared)


def test_a_folder_that_lost_pairs(prepared: Path) -> None:
    meta = json.loads((prepared / "meta.json").read_text())
    (prepared / "meta.json").write_text(json.dumps({**meta, "pairs": 361}))
    with pytest.raises(DataError, match=r"has 360 pairs, but its meta.json says 361"):
        Corpus(prepared)


@pytest.mark.skipif(not hasattr(os, "pread"), reason="reads through the mapping on Windows")
def test_a_shard_that_is_cut_off_while_it_is_read(prepared: Path) -> None:
    corpus, file = Corpus(prepared), prepared / "train-00000.source.npy"
    os.truncate(file, file.stat().st_size // 2)
    with pytest.raises(DataError, match=rf"cannot read shard .*{file.name}: it was truncated"):
        corpus.batch(np.array([359]))


@pytest.mark.parametrize(("meta", "said"), [("{", "no prepared corpus"), ('{"format_version": 99}', "has format 99")])
def test_a_folder_of_another_format(tmp_path: Path, meta: str, said: str) -> None:
    (tmp_path / "meta.json").write_text(meta)
    with pytest.raises(DataError, match=said):
        Corpus(tmp_path)
