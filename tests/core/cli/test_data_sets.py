"""A command on a file: rows of single sentences, means of a plain bootstrap; stop, slices, bad lines."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.core.cli.workplace import Call, Workplace, one_line_error
from transformer_core.analysis import minimal_pairs
from transformer_core.analysis.attribution import Method, attribute
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.analysis.lens import logit_lens
from transformer_core.analysis.patching import patching
from transformer_core.atlas import resumable_map
from transformer_core.attention_maps import KINDS
from transformer_core.cli.arguments import Options, UsageError
from transformer_core.cli.sentence import data_file, data_set
from transformer_core.data import read_pairs
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
    return [*command.split(), "--checkpoint", made.checkpoint, "--data", data, "--out", out]


def numbers(found: list[dict[str, str]], line: int, column: str) -> list[float]:
    return [float(row[column]) for row in found if row["line"] == str(line)]


def test_rows_are_those_of_single_sentences(made: Workplace, call: Call, data: Path, tmp_path: Path) -> None:
    translator = Translator.load(made.checkpoint)
    effects, lens = tmp_path / "effects.csv", tmp_path / "lens.csv"
    others = list(read_pairs(made.valid))
    said = call(*arguments(made, f"effects --change mean --sentences {made.valid}", data, effects))
    assert said.status == 0, said.err
    assert call(*arguments(made, "lens", data, lens)).status == 0
    by_effect, by_lens = rows(effects), rows(lens)
    for line, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True), start=1):
        single = head_effects(translator, source, target or None, change="mean", others=others)
        expected = np.concatenate([single.effects[kind].sum(dim=2).flatten() for kind in KINDS])
        np.testing.assert_allclose(numbers(by_effect, line, "effect"), expected, atol=1e-4)
        seen = logit_lens(translator, source, target or None)
        assert numbers(by_lens, line, "position") == list(range(1, 1 + len(seen.run.tokens)))
        for layer in range(translator.config.num_layers + 1):
            np.testing.assert_allclose(numbers(by_lens, line, f"log_p_{layer}"), seen.log_p[layer], atol=1e-4)
            assert numbers(by_lens, line, f"rank_{layer}") == seen.rank[layer].tolist()
    heads = [(row["kind"], int(row["layer"]), int(row["head"])) for row in by_effect if row["line"] == "1"]
    config = translator.config
    layers, each = range(1, 1 + config.num_layers), range(1, 1 + config.num_heads)
    assert heads == [(kind, layer, head) for kind in KINDS for layer in layers for head in each]
    record = json.loads((tmp_path / "effects.csv.json").read_text(encoding="utf-8"))
    assert record["checkpoint_hash"] == translator.checkpoint_hash and record["sentences"] == 6


@pytest.mark.parametrize("method", ["alti", "integrated-gradients", "norm"])
def test_rows_of_attribute(method: Method, made: Workplace, call: Call, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.csv"
    assert call(*arguments(made, f"attribute --method {method} --steps 4", data, out)).status == 0
    translator, found = Translator.load(made.checkpoint), rows(out)
    single = attribute(translator, SOURCES[3], method=method, steps=4)
    sizes = single.sizes.numpy()
    np.testing.assert_allclose(numbers(found, 4, "share"), sizes.max(axis=1) / sizes.sum(axis=1), atol=1e-4)
    np.testing.assert_allclose(numbers(found, 4, "log_p"), single.run.log_p, atol=1e-4)
    words = [single.source_axis.word_texts[number] for number in sizes.argmax(axis=1)]
    told = [row["word"] for row in found if row["line"] == "4"]
    assert told == [f"'{word}" if word.startswith("=") else word for word in words]
    if method == "alti":
        np.testing.assert_allclose(numbers(found, 4, "of_source"), single.source.sum(dim=1), atol=1e-4)
    assert ("gap" in found[0]) == (method == "integrated-gradients")


def test_rows_of_patch(made: Workplace, call: Call, tmp_path: Path) -> None:
    data, out = tmp_path / "pairs.tsv", tmp_path / "patch.csv"
    clean, corrupted = "The man sees a house.", "The man sees a horse."
    answers = "Der Mann sieht ein Haus.", "Der Mann sieht eine Tasse."
    data.write_text("\n".join(["\t".join((clean, corrupted, *answers)), f"{clean}\t{clean}", clean]), encoding="utf-8")
    said = call(*arguments(made, "patch", data, out))
    assert said.status == 0, said.err
    single = patching(Translator.load(made.checkpoint), clean, corrupted, answers=answers)
    np.testing.assert_allclose(numbers(rows(out), 1, "recovered"), single.recovered.flatten(), atol=1e-3)
    record = json.loads((tmp_path / "patch.csv.json").read_text(encoding="utf-8"))
    assert (record["sentences"], record["not_comparable"], record["unreadable"]) == (1, 1, 1)


def test_a_stopped_run_goes_on(
    made: Workplace, call: Call, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


SLICES = {
    "tokens<1000": {1, 2, 3, 4, 5, 6},
    "source~^The.*house": {1, 3},
    "target~Frau": {3},
    "3=news": {2, 4, 6},
    "3=news source~dog": {6},
}


@pytest.mark.parametrize("where", SLICES)
def test_slices(where: str, made: Workplace, data: Path) -> None:
    translator = Translator.load(made.checkpoint)
    found, skipped = selected(translator, data, where.split())
    assert {line for line, _ in found} == SLICES[where] and skipped == 0


def selected(translator: Translator, data: Path, where: list[str], most: int = 1_000) -> Any:
    options = Options(data=str(data), where=where, most=most)
    return data_file.read_sentences(options, ["source", "target"], translator)


def test_slices_by_length_count_tokens_of_the_source(made: Workplace, data: Path) -> None:
    translator = Translator.load(made.checkpoint)
    lengths = [len(translator.tokenizer.encode(source).ids) for source in SOURCES]
    limit = sorted(lengths)[3]
    expected = [number for number, length in enumerate(lengths, start=1) if length < limit]
    found, _ = selected(translator, data, [f"tokens<{limit}"])
    assert sorted(line for line, _ in found) == expected
    assert [len(translator.encode(texts[0])) for _, texts in found] == sorted(
        length for length in lengths if length < limit
    )
    assert len(selected(translator, data, [], most=2)[0]) == 2


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
    found, skipped = selected(Translator.load(made.checkpoint), data, [])
    assert [each for each in found if each[0] != 6] == [(1, ["A house.", None]), (7, ["A horse.", "ein"])]
    assert skipped + len(found) == len(lines)
    monkeypatch.setattr(data_file, "MAX_FILE_BYTES", 5)
    with pytest.raises(UsageError, match="more than 5 bytes"):
        selected(Translator.load(made.checkpoint), data, [])


def test_a_regular_expression_that_hangs_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_file, "MAX_SECONDS", 0.05)
    with pytest.raises(UsageError, match="takes too long"):
        data_file.condition(r"source~^(a|aa)+$", ["source"])({"source": "a" * 60 + "!"})


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
    kinds, heads = np.array(["encoder", "cross"] * 3), np.array([1, 2] * 3)
    table = {"line": np.repeat([1, 2, 3], 2), "kind": kinds, "layer": heads, "head": heads, "effect": np.arange(6.0)}
    _, first, second = data_set.mean_rows(table)
    assert first[:5] == ["encoder", 1, 1, "effect", 2.0] and second[:5] == ["cross", 2, 2, "effect", 3.0]
    assert first[5] < 2.0 < first[6]


BAD = {
    "effects --source x": "cannot be combined",
    "lens --where tokens": "--where is 'tokens', but must be a name",
    "lens --where colour=red": "names",
    "lens --where tokens<many": "could not convert",
    "lens --where source~(": "missing )",
    "lens --where source~zebra": "no line that can be read and fits",
    "lens --most 10001": "10,000 or less",
    "attribute --method gradient --at 1 --tokens a b": "--at and --data",
    "attribute --method gradient --layer 1": "takes no layer",
    "patch --site ffn": "can only be combined with heads",
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_options(bad: str, made: Workplace, call: Call, data: Path, tmp_path: Path) -> None:
    said = one_line_error(call(*arguments(made, bad, data, tmp_path / "x.csv")))
    assert BAD[bad].replace("names", "source, target") in said
    assert not (tmp_path / "x.csv").exists()


def test_files_are_not_replaced(made: Workplace, call: Call, data: Path, tmp_path: Path) -> None:
    (tmp_path / "x.means.csv").touch()
    assert "add --force" in one_line_error(call(*arguments(made, "lens", data, tmp_path / "x.csv")))
    assert "must end with .csv" in one_line_error(call(*arguments(made, "lens", data, tmp_path / "x.npz")))
    assert "missing: --source, or --data" in one_line_error(
        call("lens", "--checkpoint", made.checkpoint, "--out", tmp_path / "x.npz")
    )
