"""Tables, corpora and other text of strangers: one line says what is wrong with them, before memory is taken."""

from __future__ import annotations

import gzip
import json
import lzma
import os
from pathlib import Path
from typing import Any

import pytest

from tests.abuse.samples import SMALL, tokenizer
from tests.abuse.target import within
from tests.core.cli.conftest import call as call
from tests.core.cli.workplace import Call, one_line_error
from transformer_core.analysis.alignment import read_gold
from transformer_core.data import Corpus, DataError, prepare, read_lines
from transformer_core.storage.files import CheckpointError
from transformer_core.storage.manifest import read_object
from transformer_core.text.vocabulary import Vocabulary, VocabularyError

CHECKPOINT = SMALL / "base"


@pytest.mark.parametrize("suffix", [".xz", ".gz"])
def test_a_small_file_of_endless_lines(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"test.tsv{suffix}"
    lines = b"A\tB\n" * 2_000_000
    file.write_bytes(lzma.compress(lines, preset=0) if suffix == ".xz" else gzip.compress(lines))
    with within(), pytest.raises(DataError, match="grows more than 100-fold when decompressed"):
        list(read_lines(file))


def test_text_that_shrinks_well_is_read(tmp_path: Path) -> None:
    file = tmp_path / "test.tsv.xz"
    file.write_bytes(lzma.compress(b"".join(b"A man has %d dogs.\tB\n" % number for number in range(100_000))))
    assert len(list(read_lines(file))) == 100_000


@pytest.mark.parametrize(
    "row",
    [
        "a b\tc d\t²-0",
        "a b\tc d\t٠-٠",
        f"a b\tc d\t{'9' * 5_000}-0",
        "a b\tc d\t0-2",
        "a b\tc d\t0--0",
        " \tc\t",
        "a\t \t",
    ],
)
def test_links_that_are_none(tmp_path: Path, row: str) -> None:
    file = tmp_path / "gold.tsv"
    file.write_text(row + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"gold.tsv, line 1: (needs words|.{0,50} is not a link)"):
        list(read_gold(file))


def test_a_test_set_without_words(call: Call, tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text(" \t \n", encoding="utf-8")
    error = one_line_error(call("evaluate", "--checkpoint", CHECKPOINT, "--test", tmp_path / "test.tsv"), 1)
    assert error == "error: there are no sentences to score the heads on\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"special_ids": None},
        {"special_ids": [1]},
        {"special_ids": {"pad": -1, "bos": 1, "eos": 2, "unk": 3}},
        {"shards": "1"},
        {"shards": 10**12},
        {"pairs": "2"},
    ],
)
def test_a_corpus_that_does_not_fit_its_list(tmp_path: Path, changes: dict[str, Any]) -> None:
    (tmp_path / "text.tsv").write_text("A man.\tEin Mann.\nA dog.\tEin Hund.\n", encoding="utf-8")
    folder = tmp_path / "data"
    meta = prepare([tmp_path / "text.tsv"], folder, tokenizer())
    (folder / "meta.json").write_text(json.dumps(meta | changes), encoding="utf-8")
    with pytest.raises(DataError, match="data"):
        Corpus(folder)


@pytest.mark.parametrize(
    "text", ["[]", "[" * 200_000, '{"a": ' * 200_000, '{"format_version": "\\u001b[2J"}', "{}", "7"]
)
def test_a_corpus_whose_list_is_another_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "meta.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        Corpus(tmp_path)
    assert str(caught.value).isprintable()


def test_json_of_many_values(tmp_path: Path) -> None:
    """60 MB of them took 1.6 GB."""
    data = b'{"tokens": [' + b"[]," * 5_000_000 + b"0]}"
    (tmp_path / "vocab.json").write_bytes(data)
    with within(), pytest.raises(CheckpointError, match="10,000,002 values, but at most 3,000,000"):
        read_object(tmp_path / "vocab.json", 10**8)
    with within(), pytest.raises(VocabularyError, match="10,000,002 values"):
        Vocabulary.from_bytes(data)


def test_an_error_steers_no_terminal(call: Call, tmp_path: Path) -> None:
    """A folder of a stranger may hold a file of any name."""
    path = tmp_path / "\x1b[2J\u202e.tsv"
    path.write_text("one column\n", encoding="utf-8")
    error = one_line_error(call("evaluate", "--checkpoint", CHECKPOINT, "--test", path), 1)
    assert error.rstrip("\n").isprintable() and r"\x1b[2J\u202e.tsv, line 1: 1 columns" in error


@pytest.mark.skipif(os.name != "posix", reason="files with holes")
@pytest.mark.parametrize(
    "arguments",
    [("count", "--recipe"), ("train", "--recipe"), ("average", ".", "--card"), ("average", ".", "--metrics")],
    ids=" ".join,
)
def test_a_gigabyte_that_is_no_recipe(call: Call, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Its 1,000 MB took two gigabytes."""
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 10**9)
    out = () if arguments[0] == "count" else ("--out", tmp_path / "out")
    with within():
        error = one_line_error(call(*arguments, tmp_path / "huge", *out), 2)
    assert f"{arguments[-1]}: {tmp_path}/huge: has 1,000,000,000 bytes, but at most" in error


@pytest.mark.parametrize(("option", "suffix"), [("--recipe", "toml"), ("--metrics", "json")])
def test_deep_brackets(call: Call, tmp_path: Path, option: str, suffix: str) -> None:
    file = tmp_path / f"deep.{suffix}"
    file.write_text("a = " * (suffix == "toml") + "[" * 100_000, encoding="utf-8")
    words = ("count",) if suffix == "toml" else ("average", ".", "--out", tmp_path / "out")
    assert f"{option}: {file} is not valid" in one_line_error(call(*words, option, file), 2)


def test_an_atlas_of_no_trees(call: Call, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "test.tsv").write_text("A man.\tEin Mann.\n", encoding="utf-8")
    options = ["--checkpoint", CHECKPOINT, "--sentences", tmp_path / "test.tsv", "--out", tmp_path / "atlas"]
    for part, files in (
        ("links", ["--trees", *[tmp_path / "empty"] * 2]),
        ("align", ["--alignments", tmp_path / "empty"]),
    ):
        error = one_line_error(call("atlas", *options, "--parts", part, *files), 1)
        assert error.endswith(f"error: {tmp_path}/empty has no sentences\n")
