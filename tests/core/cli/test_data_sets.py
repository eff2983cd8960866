"""prepare; and an analysis of a file: rows of single sentences, means of a plain bootstrap; stop, bad lines."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.core.cli.workplace import Call, Workplace, one_line_error
from tests.core.tiny import sentence_pairs
from transformer_core.analysis import minimal_pairs
from transformer_core.analysis.patching import patching
from transformer_core.atlas import resumable_map
from transformer_core.cli.analyse import data_file, data_set
from transformer_core.cli.arguments import Options, UsageError
from transformer_core.data import Corpus
from transformer_core.translator import Translator

SOURCES = [
    "The man sees a house.",
    "A horse.",
    "The woman has a red cup in the house.",
    "=A man",
    "The child plays.",
    "The dog sees the man and the woman.",
]
TARGETS = ["Der Mann sieht ein Haus.", "", "Die Frau hat eine Tasse.", "", "Das Kind spielt.", ""]
LINES = "".join(
    f"{s}\t{t}\t{'news' if n % 2 else 'talk'}\n" for n, (s, t) in enumerate(zip(SOURCES, TARGETS, strict=True))
)


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_set, "GROUP", 2)
    monkeypatch.setattr(minimal_pairs, "MIN_DIFFERENCE", 0.0)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "data.tsv"
    file.write_text(LINES, encoding="utf-8")
    return file


def rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.read_bytes().decode("utf-8-sig"))))


def arguments(made: Workplace, command: str, data: Path, out: Path) -> list[Any]:
    return ["analyse", *command.split(), "--checkpoint", made.checkpoint, "--data", data, "--out", out]


def numbers(result: list[dict[str, str]], line: int, column: str) -> list[float]:
    return [float(row[column]) for row in result if row["line"] == str(line)]


@pytest.mark.parametrize("analysis", ["effects --change mean --sentences {valid}", "lens", "attribute --method alti"])
def test_rows_equal_single_sentences(analysis: str, made: Workplace, call: Call, data: Path, tmp_path: Path) -> None:
    """Against the command on each sentence alone, which test_analyse.py holds against the library."""
    command, out, single = analysis.format(valid=made.valid), tmp_path / "all.csv", tmp_path / "one.csv"
    assert call(*arguments(made, command, data, out)).status == 0
    lines = [int(row["line"]) for row in rows(out)]
    assert lines == sorted(lines)
    for line, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True), start=1):
        read = ["--source", source, *(["--target", target] if target else [])]
        options = [*command.split(), "--checkpoint", made.checkpoint, *read, "--out", single, "--force"]
        assert call("analyse", *options).status == 0
        expected, got = rows(single), [row for row in rows(out) if row.pop("line") == str(line)]
        assert len(expected) == len(got)
        for one, other in zip(expected, got, strict=True):
            assert one.keys() == other.keys()
            for name, value in one.items():
                if name in ("head", "token", "word"):
                    assert other[name] == value
                else:
                    assert float(other[name]) == pytest.approx(float(value), abs=1e-4), name
    record = json.loads((tmp_path / "all.csv.json").read_text(encoding="utf-8"))
    assert record["checkpoint_hash"] == Translator.load(made.checkpoint).checkpoint_hash and record["sentences"] == 6


def test_patch_names_contrasts(made: Workplace, call: Call, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    data, out = tmp_path / "pairs.tsv", tmp_path / "patch.csv"
    clean, corrupted = "The man sees a house.", "The man sees a horse."
    asked = [
        ("Der Mann sieht ein Haus.", "Der Mann sieht eine Tasse."),
        ("Das Kind spielt.", "Die Frau hat ein Haus."),
        ("Das Haus spielt.", "Die Tasse spielt."),
    ]
    translator = Translator.load(made.checkpoint)
    asked.append(asked[0])
    pairs = [(clean, corrupted)] * 3 + [(clean, "The man sees a big house.")]
    lines = ["\t".join((*pair, *each)) for pair, each in zip(pairs, asked, strict=True)]
    data.write_text("\n".join([*lines, f"{clean}\t{clean}", clean]), encoding="utf-8")
    singles = [patching(translator, *pair, answers=each) for pair, each in zip(pairs, asked, strict=True)]
    contrasts = ["|".join(each.answers) for each in singles]
    assert len(set(contrasts)) > 1
    assert call(*arguments(made, "patch", data, out)).status == 0
    assert "1 pair of unequal length" in caplog.text
    record = json.loads((tmp_path / "patch.csv.json").read_text(encoding="utf-8"))
    assert (record["sentences"], record["not_comparable"], record["unreadable"]) == (4, 1, 1)
    assert "these means mix" in caplog.text and all(contrast in caplog.text for contrast in contrasts)
    for line, single in enumerate(singles, start=1):
        row = next(row for row in rows(out) if row["line"] == str(line))
        assert (row["answer_clean"], row["answer_corrupted"]) == single.answers
        assert row["prefix"] == " ".join(single.prefix) and row["position"] == str(len(single.prefix) + 1)
        np.testing.assert_allclose(numbers(rows(out), line, "recovered"), single.recovered.flatten(), atol=1e-3)
        metrics = [float(row["metric_clean"]), float(row["metric_corrupted"])]
        lengths = [len(translator.encode(text)) + 1 for text in pairs[line - 1]]
        assert [int(row["tokens_clean"]), int(row["tokens_corrupted"])] == lengths
        assert metrics == pytest.approx([single.metric_clean, single.metric_corrupted], abs=1e-3)
    changes = torch.stack([single.metrics - single.metric_corrupted for single in singles]).sum(dim=0)
    difference = sum(single.metric_clean - single.metric_corrupted for single in singles)
    means = rows(tmp_path / "patch.means.csv")
    result = [float(row["mean"]) for row in means if row["measure"] == "recovered_of_means"]
    np.testing.assert_allclose(result, (changes / difference).flatten(), atol=1e-3)
    assert not {row["measure"] for row in means} & {"metric_clean", "tokens_clean", "position"}
    caplog.clear()
    assert call(*arguments(made, "patch", data, tmp_path / "one.csv"), "--contrast", contrasts[0]).status == 0
    assert "these means mix" not in caplog.text
    same = {str(line) for line, contrast in enumerate(contrasts, start=1) if contrast == contrasts[0]}
    assert {row["line"] for row in rows(tmp_path / "one.csv")} == same
    record = json.loads((tmp_path / "one.csv.json").read_text(encoding="utf-8"))
    assert record["contrasts"] == {contrasts[0]: len(same)} and record["sentences"] == len(same)
    refused = one_line_error(call(*arguments(made, "patch", data, tmp_path / "no.csv"), "--contrast", "x|y"))
    assert "no line has x|y" in refused


def test_run_resumes(made: Workplace, call: Call, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, out = tmp_path / "whole.csv", tmp_path / "stopped.csv"
    command = "attribute --method attention"
    assert call(*arguments(made, command, data, whole)).status == 0
    computed: list[Any] = []
    compute = resumable_map._compute

    def stops(*given: Any) -> None:
        if len(computed) == 2:
            raise KeyboardInterrupt
        computed.append(given)
        compute(*given)

    monkeypatch.setattr(resumable_map, "_compute", stops)
    assert "interrupted" in call(*arguments(made, command, data, out)).err
    assert not out.exists() and len(list((tmp_path / ".stopped.csv.work").iterdir())) == 2
    computed.append(None)  # stops no more
    assert call(*arguments(made, command, data, out)).status == 0
    assert len(computed) == 4  # of three groups, one was left
    assert out.read_bytes() == whole.read_bytes()
    for left in ("means.csv", "csv.json"):
        assert (tmp_path / f"stopped.{left}").read_bytes() == (tmp_path / f"whole.{left}").read_bytes()
    assert not list(tmp_path.glob(".*"))


def test_the_first_lines_are_read_shortest_first(made: Workplace, data: Path) -> None:
    translator = Translator.load(made.checkpoint)
    lengths = [len(translator.encode(source)) for source in SOURCES]
    result, skipped = selected(translator, data)
    assert [line - 1 for line, _ in result] == sorted(range(6), key=lambda number: (lengths[number], number))
    assert skipped == 0
    assert {line for line, _ in selected(translator, data, most=2)[0]} == {1, 2}


def selected(translator: Translator, data: Path, most: int = 1_000) -> Any:
    return data_file.read_sentences(Options(data=str(data), most=most), ["source", "target"], translator)


def test_bad_lines_are_counted(made: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "data.tsv"
    lines = [
        b"\xef\xbb\xbfA house.",
        b"\xff\xfe",
        b"",
        b"  \tHaus",
        b"word " * 300,
        b"\x00",
        b"A horse.\tein\tmore",
        b"a" * 2_000_001,
    ]
    data.write_bytes(b"\r\n".join(lines))
    result, skipped = selected(Translator.load(made.checkpoint), data)
    assert [each for each in result if each[0] != 6] == [(1, ["A house.", None]), (7, ["A horse.", "ein"])]
    assert skipped + len(result) == len(lines)
    monkeypatch.setattr(data_file, "MAX_FILE_BYTES", 5)
    with pytest.raises(UsageError, match="more than 5 bytes"):
        selected(Translator.load(made.checkpoint), data)


def test_means_are_those_of_a_plain_bootstrap() -> None:
    rng = np.random.default_rng(3)
    line = np.repeat([4, 7, 9, 11, 12], [3, 1, 5, 2, 4])
    value = rng.normal(size=len(line))
    value[1] = np.nan
    header, row = data_set.mean_rows({"line": line, "position": line, "token": line.astype(str), "value": value})
    mean, low, high, sentences = row[1:]
    each = [value[(line == number) & np.isfinite(value)] for number in np.unique(line)]
    drawn = np.random.default_rng(0).multinomial(5, np.full(5, 0.2), size=1_000)
    means = [np.concatenate([np.tile(v, times) for v, times in zip(each, d, strict=True)]).mean() for d in drawn]
    assert header == ["measure", "mean", "low", "high", "sentences"] and sentences == 5
    np.testing.assert_allclose([mean, low, high], [np.nanmean(value), *np.percentile(means, [2.5, 97.5])])


def test_each_head_has_its_own_mean() -> None:
    heads = np.array(["encoder.1.1", "cross.2.2"] * 3)
    table = {"line": np.repeat([1, 2, 3], 2), "head": heads, "effect": np.arange(6.0)}
    _, first, second = data_set.mean_rows(table)
    assert first[:3] == ["encoder.1.1", "effect", 2.0] and second[:3] == ["cross.2.2", "effect", 3.0]
    assert first[3] < 2.0 < first[4]


def test_files_are_not_replaced(made: Workplace, call: Call, data: Path, tmp_path: Path) -> None:
    (tmp_path / "x.means.csv").touch()
    assert "add --force" in one_line_error(call(*arguments(made, "lens", data, tmp_path / "x.csv")))


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
