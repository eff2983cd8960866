"""Parallel text, treebanks and lines: file formats and their errors; a careless typist."""

from __future__ import annotations

import gzip
import lzma
import random
from pathlib import Path
from typing import Any

import pytest

from transformer_core.data import DataError, add_typos, is_treebank, read_lines, read_pairs, read_treebank

PAIRS = [("A dog.", "Ein Hund."), ("Two  words", "zwei Wörter\u2028und mehr"), ("x", "ü")]
TSV = "".join(f"{source}\t{target}\n" for source, target in PAIRS).encode()


def packed(data: bytes, name: str) -> bytes:
    """Data as the ending of a file's name has it."""
    if name.endswith(".xz"):
        return lzma.compress(data)
    return gzip.compress(data) if name.endswith(".gz") else data


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.tsv.xz", "pairs.tsv.gz", "a,b.tsv"])
def test_tables_of_any_name_plain_and_compressed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(packed(TSV, name))
    assert list(read_pairs(path)) == list(read_pairs(str(path))) == PAIRS
    path.write_bytes(packed(b"", name))
    assert list(read_pairs(path)) == []
    path.write_bytes(packed("a\tü\n".encode("latin-1"), name))
    with pytest.raises(DataError, match=rf"{name} is not UTF-8"):
        list(read_pairs(path))
    if path.suffix != ".tsv":
        whole = packed(TSV, name)
        flipped = whole[:12] + bytes(255 - byte for byte in whole[12:30]) + whole[30:]
        for damaged in (whole[:-20], flipped, TSV):
            path.write_bytes(damaged)
            with pytest.raises(DataError, match=rf"cannot read .*{name}"):
                list(read_pairs(path))


def test_two_plain_files(tmp_path: Path) -> None:
    (tmp_path / "t.en").write_text("".join(f"{source}\n" for source, _ in PAIRS), encoding="utf-8")
    (tmp_path / "t.de").write_text("".join(f"{target}\n" for _, target in PAIRS), encoding="utf-8")
    assert list(read_pairs(f"{tmp_path}/t.en,{tmp_path}/t.de")) == PAIRS


def test_line_ends_of_other_systems_and_further_columns(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"a\tb\tc\r\nd\te\tf")
    assert list(read_pairs(path)) == [("a", "b"), ("d", "e")]
    assert list(read_pairs(path, target_column=2)) == [("a", "c"), ("d", "f")]


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


@pytest.mark.parametrize("spec", ["missing.tsv", "missing.en,missing.de"])
def test_a_missing_file_is_named(tmp_path: Path, spec: str) -> None:
    with pytest.raises(DataError, match=r"cannot read .*missing"):
        list(read_pairs(",".join(f"{tmp_path}/{part}" for part in spec.split(","))))


def test_careless_typing_drops_capitals_or_punctuation_or_both() -> None:
    sentence = "Well, isn't Tom's well-known dog here?"
    seen = {add_typos(sentence, random.Random(seed)) for seed in range(50)}
    assert seen == {
        "well, isn't tom's well-known dog here?",
        "Well isn't Tom's well-known dog here",
        "well isn't tom's well-known dog here",
    }


@pytest.mark.parametrize("ending", [".trees", ".trees.xz", ".mrg.gz"])
def test_a_treebank_is_parallel_text(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"some{ending}"
    assert is_treebank(path)
    assert not any(map(is_treebank, ["a.tsv", "trees", "a.trees.tsv", "a.xz", "a.en,a.trees.de", "trees.xz"]))
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
