"""Parallel text in, batches out: file formats, their errors, the prepared folder, and the plan of an epoch."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import random
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.core.slow_plan import slow_plan
from tests.core.tiny import SPECIAL, sentence_pairs
from transformer_core.data import (
    Corpus,
    DataError,
    is_treebank,
    make_batch,
    plan_epoch,
    prepare,
    preparing,
    read_lines,
    read_pairs,
    read_treebank,
    typed_carelessly,
)
from transformer_core.data.batches import batch_of_rows
from transformer_core.data.plan import bucket_widths
from transformer_core.tokenizer import Tokenizer

PAIRS = [("A dog.", "Ein Hund."), ("Two  words", "zwei Wörter\u2028und mehr"), ("x", "ü")]
TSV = "".join(f"{source}\t{target}\n" for source, target in PAIRS).encode()

# --- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["tsv", "tsv.xz", "tsv.gz"])
def test_tables_plain_and_compressed(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"pairs.{ending}"
    path.write_bytes({"tsv": TSV, "tsv.xz": lzma.compress(TSV), "tsv.gz": gzip.compress(TSV)}[ending])
    assert list(read_pairs(path)) == PAIRS
    assert list(read_pairs(str(path))) == PAIRS


def test_two_plain_files(tmp_path: Path) -> None:
    (tmp_path / "t.en").write_text("".join(f"{source}\n" for source, _ in PAIRS), encoding="utf-8")
    (tmp_path / "t.de").write_text("".join(f"{target}\n" for _, target in PAIRS), encoding="utf-8")
    assert list(read_pairs(f"{tmp_path}/t.en,{tmp_path}/t.de")) == PAIRS


def test_a_file_name_with_a_comma_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a,b.tsv"
    path.write_bytes(TSV)
    assert list(read_pairs(path)) == PAIRS


def test_line_ends_of_other_systems_and_further_columns(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"a\tb\tc\r\nd\te\tf")
    assert list(read_pairs(path)) == [("a", "b"), ("d", "e")]
    assert list(read_pairs(path, target_column=2)) == [("a", "c"), ("d", "f")]


def test_an_empty_file_has_no_pairs(tmp_path: Path) -> None:
    (tmp_path / "empty.tsv").touch()
    assert list(read_pairs(tmp_path / "empty.tsv")) == []


def test_a_line_with_too_few_columns_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"a\tb\nonly one\nc\td\n")
    pairs = read_pairs(path)
    assert next(pairs) == ("a", "b")
    with pytest.raises(DataError, match=r"pairs.tsv, line 2: 1 columns, but at least 2 are needed"):
        next(pairs)
    with pytest.raises(DataError, match=r"line 1: 2 columns, but at least 5 are needed"):
        list(read_pairs(path, target_column=4))


@pytest.mark.parametrize(("longer", "said"), [("en", "t.de ends at line 1, but .*t.en continues"), ("de", "t.en ends")])
def test_two_files_of_unequal_length(tmp_path: Path, longer: str, said: str) -> None:
    for side in ("en", "de"):
        (tmp_path / f"t.{side}").write_text("1\n2\n" if side == longer else "1\n")
    with pytest.raises(DataError, match=said):
        list(read_pairs(f"{tmp_path}/t.en,{tmp_path}/t.de"))


@pytest.mark.parametrize("ending", ["tsv", "tsv.xz", "tsv.gz"])
def test_text_that_is_not_utf8(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"latin.{ending}"
    raw = "a\tü\n".encode("latin-1")
    path.write_bytes({"tsv": raw, "tsv.xz": lzma.compress(raw), "tsv.gz": gzip.compress(raw)}[ending])
    with pytest.raises(DataError, match=rf"latin.{ending} is not UTF-8"):
        list(read_pairs(path))


@pytest.mark.parametrize("ending", ["xz", "gz"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "not compressed"])
def test_damaged_archives(tmp_path: Path, ending: str, damage: str) -> None:
    path = tmp_path / f"pairs.tsv.{ending}"
    packed = lzma.compress(TSV) if ending == "xz" else gzip.compress(TSV)
    flipped = packed[:12] + bytes(255 - byte for byte in packed[12:30]) + packed[30:]
    path.write_bytes({"cut": packed[:-20], "flipped": flipped, "not compressed": TSV}[damage])
    with pytest.raises(DataError, match=rf"cannot read .*pairs.tsv.{ending}"):
        list(read_pairs(path))


@pytest.mark.parametrize("spec", ["missing.tsv", "missing.en,missing.de"])
def test_a_missing_file_is_named(tmp_path: Path, spec: str) -> None:
    with pytest.raises(DataError, match=r"cannot read .*missing"):
        list(read_pairs(",".join(f"{tmp_path}/{part}" for part in spec.split(","))))


# --- as people type ---------------------------------------------------------------------------------------------------


def test_careless_typing_drops_capitals_or_punctuation_or_both() -> None:
    sentence = "Well, isn't Tom's well-known dog here?"
    seen = {typed_carelessly(sentence, random.Random(seed)) for seed in range(50)}
    assert seen == {
        "well, isn't tom's well-known dog here?",
        "Well isn't Tom's well-known dog here",
        "well isn't tom's well-known dog here",
    }


# --- preparing --------------------------------------------------------------------------------------------------------


def texts(corpus: Corpus) -> list[tuple[str, str]]:
    pairs = [corpus.pair(i) for i in range(len(corpus))]
    return [(corpus.tokenizer.decode(s.tolist()), corpus.tokenizer.decode(t.tolist())) for s, t in pairs]


def test_a_prepared_corpus_holds_every_pair_in_order(corpus: Corpus, tokenizer: Tokenizer) -> None:
    pairs = sentence_pairs()
    assert len(corpus) == len(pairs)
    assert texts(corpus) == pairs
    assert corpus.lengths.tolist() == [[len(tokenizer.encode(s)), len(tokenizer.encode(t))] for s, t in pairs]
    assert corpus.meta["pairs"] == len(pairs)
    assert (corpus.meta["source_pieces"], corpus.meta["target_pieces"]) == tuple(corpus.lengths.sum(axis=0))
    assert corpus.meta["tokenizer_sha256"] == corpus.tokenizer.sha256 == tokenizer.sha256


def test_several_files_in_several_shards(
    tokenizer: Tokenizer, pairs_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    meta = prepare([pairs_file], tmp_path / "a", tokenizer, careless_share=0.3, seed=5)
    again = prepare([pairs_file], tmp_path / "b", tokenizer, careless_share=0.3, seed=5)
    other = prepare([pairs_file], tmp_path / "c", tokenizer, careless_share=0.3, seed=6)
    copies = meta["pairs"] - 360
    assert 70 < copies < 150  # 360 draws of 0.3: 108 expected, 9 standard deviation
    a, b, c = (texts(Corpus(tmp_path / name)) for name in "abc")
    assert meta == again
    assert a == b
    assert a != c
    assert (meta["seed"], other["seed"], meta["careless_share"]) == (5, 6, 0.3)
    originals, added = set(sentence_pairs()), Counter(a) - Counter(sentence_pairs())
    assert sum(added.values()) == copies
    targets = {target: source for source, target in originals}
    for source, target in added:
        simple = str.maketrans("", "", ".,!?")
        assert source.lower().translate(simple) == targets[target].lower().translate(simple)
        assert source != targets[target]


def test_a_prepared_folder_is_not_overwritten(tokenizer: Tokenizer, pairs_file: Path, tmp_path: Path) -> None:
    prepare([pairs_file], tmp_path, tokenizer)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(DataError, match="already has a prepared corpus"):
        prepare([pairs_file], tmp_path, tokenizer)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_nothing_to_prepare(tokenizer: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "empty.tsv").write_text("\t\n")
    with pytest.raises(DataError, match=r"no sentence pairs in .*empty.tsv"):
        prepare([tmp_path / "empty.tsv"], tmp_path / "out", tokenizer)
    with pytest.raises(DataError, match="no prepared corpus"):
        Corpus(tmp_path / "out")


@pytest.mark.parametrize("file", ["train-00000.source.npy", "train-00000.target.npy", "train-00000.target_ends.npy"])
@pytest.mark.parametrize("damage", ["cut", "missing"])
def test_a_damaged_shard_is_named(
    tokenizer: Tokenizer, pairs_file: Path, tmp_path: Path, file: str, damage: str
) -> None:
    prepare([pairs_file], tmp_path, tokenizer)
    path = tmp_path / file
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    else:
        path.unlink()
    with pytest.raises(DataError, match=rf"cannot read shard .*{file}"):
        Corpus(tmp_path)


def test_shards_that_do_not_belong_together(tokenizer: Tokenizer, pairs_file: Path, tmp_path: Path) -> None:
    prepare([pairs_file], tmp_path / "all", tokenizer)
    (tmp_path / "one.tsv").write_text("The dog.\tder Hund.\n", encoding="utf-8")
    prepare([tmp_path / "one.tsv"], tmp_path / "one", tokenizer)
    ids, ends = (f"train-00000.target{part}.npy" for part in ("", "_ends"))
    shutil.copy(tmp_path / "one" / ids, tmp_path / "all" / ids)
    with pytest.raises(DataError, match=rf"{ids}: its \d+ ids do not match .*{ends}"):
        Corpus(tmp_path / "all")
    shutil.copy(tmp_path / "one" / ends, tmp_path / "all" / ends)
    with pytest.raises(DataError, match=rf"{ends}: 1 targets for 360 sources"):
        Corpus(tmp_path / "all")


def test_a_folder_that_lost_pairs(tokenizer: Tokenizer, pairs_file: Path, tmp_path: Path) -> None:
    meta = prepare([pairs_file], tmp_path, tokenizer)
    (tmp_path / "meta.json").write_text(json.dumps({**meta, "pairs": 361}))
    with pytest.raises(DataError, match=r"has 360 pairs, but its meta.json says 361"):
        Corpus(tmp_path)


@pytest.mark.skipif(not hasattr(os, "pread"), reason="reads through the mapping on Windows")
def test_a_shard_that_is_cut_off_while_it_is_read(tokenizer: Tokenizer, pairs_file: Path, tmp_path: Path) -> None:
    prepare([pairs_file], tmp_path, tokenizer)
    corpus, file = Corpus(tmp_path), tmp_path / "train-00000.source.npy"
    os.truncate(file, file.stat().st_size // 2)
    with pytest.raises(DataError, match=rf"cannot read shard .*{file.name}: it was truncated"):
        corpus.batch(np.array([359]))


@pytest.mark.parametrize(("meta", "said"), [("{", "no prepared corpus"), ('{"format_version": 99}', "has format 99")])
def test_a_folder_of_another_format(tmp_path: Path, meta: str, said: str) -> None:
    (tmp_path / "meta.json").write_text(meta)
    with pytest.raises(DataError, match=said):
        Corpus(tmp_path)


def test_meta_is_readable_json(corpus: Corpus) -> None:
    assert json.loads((corpus.folder / "meta.json").read_text(encoding="utf-8")) == corpus.meta


# --- batches ----------------------------------------------------------------------------------------------------------


def test_a_batch_worked_by_hand() -> None:
    batch = make_batch([[7, 8], [9]], [[5], [4, 6, 5]], SPECIAL)
    assert batch.source.tolist() == [[7, 8, 2], [9, 2, 0]]
    assert batch.inputs.tolist() == [[1, 5, 0, 0], [1, 4, 6, 5]]
    assert batch.outputs.tolist() == [[5, 2, 0, 0], [4, 6, 5, 2]]


def test_a_batch_of_a_fixed_shape_worked_by_hand() -> None:
    batch = batch_of_rows(
        *(np.array([7, 8, 9], np.int32), np.array([2, 1])), *(np.array([5, 4, 6], np.int32), np.array([1, 2])),
        SPECIAL, shape=(3, 4),
    )  # fmt: skip
    assert batch.source.tolist() == [[7, 8, 2, 0], [9, 2, 0, 0], [2, 0, 0, 0]]
    assert batch.inputs.tolist() == [[1, 5, 0, 0], [1, 4, 6, 0], [1, 0, 0, 0]]
    assert batch.outputs.tolist() == [[5, 2, 0, 0], [4, 6, 2, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("by_position", [True, False])
@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("indices", [[3, 200], [359, 0, 100, 99, 101, 0]])
def test_batches_of_a_corpus_are_its_pairs(
    tokenizer: Tokenizer,
    pairs_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    indices: list[int],
    shards: int,
    by_position: bool,
) -> None:
    monkeypatch.setattr(preparing, "PAIRS_PER_SHARD", 360 // shards)
    monkeypatch.setattr("transformer_core.data.corpus._BY_POSITION", by_position and hasattr(os, "pread"))
    prepare([pairs_file], tmp_path, tokenizer)
    corpus = Corpus(tmp_path)
    assert corpus.meta["shards"] == shards
    batch = corpus.batch(np.array(indices))
    pairs = [corpus.pair(index) for index in indices]
    expected = make_batch([source for source, _ in pairs], [target for _, target in pairs], SPECIAL)
    for got, wanted in zip(vars(batch).values(), vars(expected).values(), strict=True):
        assert torch.equal(got, wanted)
    for row, index in enumerate(indices):
        source, target = (ids.tolist() for ids in corpus.pair(index))
        assert batch.source[row, : len(source) + 1].tolist() == [*source, 2]
        assert batch.inputs[row, : len(target) + 1].tolist() == [1, *target]
        assert batch.outputs[row, : len(target) + 1].tolist() == [*target, 2]


LENGTHS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=80)


def plan(lengths: list[tuple[int, int]], tokens: int, longest: int, seed: int = 1, epoch: int = 0) -> list[list[int]]:
    return [batch.tolist() for batch in plan_epoch(np.array(lengths, dtype=np.int64), tokens, longest, seed, epoch)]


@given(LENGTHS, st.integers(2, 120), st.integers(1, 45), st.integers(0, 3))
def test_every_usable_pair_once_an_epoch_within_the_limit(
    lengths: list[tuple[int, int]], tokens: int, longest: int, epoch: int
) -> None:
    usable = [i for i, pair in enumerate(lengths) if max(pair) <= longest and max(pair) + 1 <= tokens]
    assume(usable)
    batches = plan(lengths, tokens, longest, epoch=epoch)
    assert sorted(i for batch in batches for i in batch) == usable
    for batch in batches:
        for side in (0, 1):
            assert len(batch) * (1 + max(lengths[i][side] for i in batch)) <= tokens


@given(LENGTHS, st.integers(2, 120), st.integers(1, 45), st.integers(0, 3), st.sampled_from([(), (8, 16, 48, 128)]))
def test_the_plan_is_the_one_made_pair_by_pair(
    lengths: list[tuple[int, int]], tokens: int, longest: int, epoch: int, widths: tuple[int, ...]
) -> None:
    assume(any(max(pair) <= longest and max(pair) + 1 <= tokens for pair in lengths))
    expected = slow_plan(lengths, tokens, longest, 1, epoch, widths)
    for dtype in (np.uint16, np.int32, np.int64):
        compact: Any = np.array(lengths, dtype=dtype)
        got = plan_epoch(compact, tokens, longest, 1, epoch, widths)
        assert [batch.tolist() for batch in got] == expected


@given(st.integers(1, 5000))
def test_few_widths_that_waste_little(longest: int) -> None:
    widths = bucket_widths(longest)
    assert widths == sorted(set(widths))
    assert widths[-1] >= longest
    assert all(width % 8 == 0 for width in widths)
    assert all(after - before <= max(8, before * 0.125 + 8) for before, after in pairwise(widths))
    assert len(bucket_widths(257)) <= 18


@given(LENGTHS, st.integers(0, 5), st.integers(0, 5))
def test_seed_and_epoch_decide_everything(lengths: list[tuple[int, int]], seed: int, epoch: int) -> None:
    assert plan(lengths, 90, 40, seed, epoch) == plan(lengths, 90, 40, seed, epoch)


def test_epochs_and_seeds_differ() -> None:
    lengths = [(i % 7 + 1, i % 5 + 1) for i in range(200)]
    first = plan(lengths, 60, 40, seed=1, epoch=0)
    for other in (plan(lengths, 60, 40, seed=1, epoch=1), plan(lengths, 60, 40, seed=2, epoch=0)):
        assert first != other
        assert {frozenset(b) for b in first} != {frozenset(b) for b in other}  # other company, not only another order


def test_pairs_of_similar_lengths_share_a_batch() -> None:
    rng = np.random.default_rng(0)
    lengths: npt.NDArray[np.int64] = rng.integers(1, 60, size=(2000, 1)) + rng.integers(0, 4, size=(2000, 2))
    batches = plan_epoch(lengths, 1000, 100, seed=1, epoch=0)
    real = int((lengths[:, 1] + 1).sum())
    padded = sum(len(batch) * int(lengths[batch, 1].max() + 1) for batch in batches)
    assert real / padded > 0.95
    order = [int(lengths[batch, 1].mean()) for batch in batches]
    assert order != sorted(order)  # but batches come in a drawn order


@pytest.mark.parametrize(("tokens", "longest"), [(5, 40), (100, 4)])
def test_nothing_left_to_train_on(tokens: int, longest: int) -> None:
    with pytest.raises(
        DataError, match=f"no pair has at most {longest} tokens and fits into a batch of {tokens} tokens"
    ):
        plan([(5, 3), (2, 9)], tokens, longest)


@pytest.mark.parametrize("ending", [".trees", ".trees.xz", ".mrg.gz"])
def test_a_treebank_is_parallel_text(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"some{ending}"
    assert is_treebank(path)
    openers: dict[str, Any] = {".xz": lzma.open, ".gz": gzip.open}
    with openers.get(path.suffix, open)(path, "wt", encoding="utf-8") as file:
        file.write("( (S (NP-SBJ (PRP It)) (VP (VBZ helps)) (. .)))\n(NP (-LRB- -LRB-) (NN tea))\n")
    assert list(read_pairs(path)) == [("It helps .", "(S (NP XX )NP (VP XX )VP XX )S"), ("( tea", "(NP XX XX )NP")]
    assert [str(tree) for tree in read_treebank(path)][1] == "(TOP (NP (-LRB- -LRB-) (NN tea)))"


def test_a_tree_that_is_none_is_named_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "bad.trees"
    path.write_text("(S (NN tea))\n(S)\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.trees, line 2: the bracket 'S' has neither a word"):
        list(read_pairs(path))


def test_lines_have_a_bound_where_one_is_given(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes(b"12345\r\n1234\n\n123456789")
    assert list(read_lines(path)) == ["12345", "1234", "", "123456789"]
    assert list(read_lines(path, 9)) == ["12345", "1234", "", "123456789"]
    with pytest.raises(DataError, match=r"lines\.txt, line 4: has more than 8 characters"):
        list(read_lines(path, 8))


def test_other_files_are_no_treebanks() -> None:
    assert not any(map(is_treebank, ["a.tsv", "trees", "a.trees.tsv", "a.xz", "a.en,a.trees.de", "trees.xz"]))
