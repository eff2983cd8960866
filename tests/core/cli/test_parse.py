"""Parsing from end to end: prepare, train, average, parse, evaluate; refusals, and lines that no treebank has."""

from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.core.cli.workplace import TRAIN, Call, Workplace, one_line_error
from tests.core.parsing.grammar import made_up_trees
from tests.hostile import LINES
from transformer_core import Translator, load_checkpoint
from transformer_core.cli import main
from transformer_core.cli.checkpoint.measurements import score_sets
from transformer_core.cli.checkpoint.model_card import with_heads, with_scores
from transformer_core.parsing.treebank import MAX_WORDS, parse_trees
from transformer_core.parsing.trees import escaped, unescaped


@dataclass(frozen=True)
class Parsing:
    train: Path
    test: Path
    data: Path
    run: Path
    checkpoint: Path


@pytest.fixture(scope="module")
def parsing(tmp_path_factory: pytest.TempPathFactory) -> Parsing:
    folder = tmp_path_factory.mktemp("parsing")
    place = Parsing(*(folder / name for name in ("train.trees", "test.mrg", "data", "run", "checkpoint")))
    place.train.write_text("".join(f"{tree}\n" for tree in made_up_trees(80)), encoding="utf-8")
    place.test.write_text("\n".join(str(tree).replace(" (", "\n  (") for tree in made_up_trees(12, seed=2)))
    for command in (
        ["prepare", "--task", "parsing", "--train", place.train, "--vocab-size", "60", "--out", place.data],
        ["train", *TRAIN, "--model.tie", "target", "--data", place.data, "--valid", place.test, "--out", place.run],
        ["average", place.run, "--last", "2", "--out", place.checkpoint],
    ):
        assert main([str(argument) for argument in command]) == 0
    return place


def test_prepared_trees_are_sentences_and_their_symbols(parsing: Parsing) -> None:
    meta = json.loads((parsing.data / "meta.json").read_text())
    assert (meta["pairs"], meta["source_vocab_size"], meta["vocab_size"]) == (80, 60, 4 + 1 + 2 * 4)


def test_typed_lines_are_split_into_words_where_asked_for(parsing: Parsing, call: Call) -> None:
    lines = "It doesn't bark.\n\n(She) paints\n"
    trees = call("parse", "--checkpoint", parsing.checkpoint, "--split", stdin=lines.encode()).out.split("\n")
    words = [[word for tree in parse_trees([line]) for word in tree.words] for line in trees]
    assert words == [["It", "does", "n't", "bark", "."], [], ["(", "She", ")", "paints"], []]


def test_constrained_parse_needs_no_repair(parsing: Parsing, call: Call, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    call("parse", "--checkpoint", parsing.checkpoint, stdin=b"the cat sees a lamp .\n")
    assert "repaired 1 tree: " in caplog.text
    caplog.clear()
    call("parse", "--checkpoint", parsing.checkpoint, "--constrained", "true", stdin=b"the cat sees a lamp .\n")
    assert "repaired" not in caplog.text


@pytest.mark.parametrize("options", [[], ["--constrained", "true", "--greedy"]])
def test_scores_of_a_treebank(parsing: Parsing, call: Call, options: list[str]) -> None:
    said = call("evaluate", "--task", "parsing", "--checkpoint", parsing.checkpoint, "--test", parsing.test, *options)
    assert said.status == 0, said.err
    summary = json.loads(said.out.splitlines()[-1])
    assert summary["sentences"] == 12
    assert summary["length_errors"] == summary["not_parsed"] == 0
    low, high = summary["f1_95"]
    assert 0 <= low <= summary["f1"] <= high <= 100
    assert 0 < summary["right_branching_f1"] < 100
    assert summary["constrained"] is bool(options)
    assert (summary["well_formed"] == 100) is bool(options)
    assert bool(summary["repairs"]) is not bool(options)
    assert summary["beam"] == (1 if options else 4)
    assert f"f1                                {summary['f1']:.2f}" in said.out


def test_a_shipped_parser_tells_its_scores(parsing: Parsing, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "model"
    said = call("ship", parsing.run, "--last", "2", "--valid", parsing.test, "--out", out)
    assert said.status == 0, said.err
    result = load_checkpoint(out).metrics["scores"]["test"]["bracketing"]
    said = call("evaluate", "--task", "parsing", "--checkpoint", out, "--test", parsing.test, "--heads", "2")
    summary = json.loads(said.out.splitlines()[-1])
    assert summary["heads"]["sentences"] == 2
    assert result.items() <= summary.items()
    card = (out / "README.md").read_text(encoding="utf-8")
    interval = f"{result['f1_95'][0]:.1f} to {result['f1_95'][1]:.1f}"
    assert f"| test | validation | {result['sentences']} | any sequence | {result['f1']:.1f} | {interval} |" in card
    commands = [line.split()[3:] for line in card.splitlines() if line.startswith("    python -m transformer_core ")]
    assert [command[0] for command in commands] == ["evaluate", "evaluate", "prepare", "train", "ship"]
    assert all("--task" in command for command in commands[:3])
    assert with_heads(card, load_checkpoint(out).metrics["heads"], penalised=False) == card


def test_scores_of_both_searches_where_one_is_constrained(parsing: Parsing, call: Call) -> None:
    translator = Translator.load(parsing.checkpoint)
    translator.decoding = translator.decoding.replace(constrained=True)
    scores = score_sets(translator, {"test": [str(parsing.test)]}, 8)["test"]
    assert scores["constrained"] is True
    arguments = ["evaluate", "--task", "parsing", "--checkpoint", parsing.checkpoint, "--test", parsing.test]
    for key, value in (("bracketing", "true"), ("free", "false")):
        summary = json.loads(call(*arguments, "--constrained", value).out.splitlines()[-1])
        assert scores[key].items() <= summary.items()
    assert scores["free"]["well_formed"] < scores["bracketing"]["well_formed"] == 100
    card = with_scores("# T\n\nThis model has not been evaluated.\n\n## Training\n", {"test": scores})
    rows = [line.split(" | ") for line in card.splitlines() if line.startswith("| test")]
    assert [(row[3], row[4]) for row in rows] == [
        ("only trees", f"{scores['bracketing']['f1']:.1f}"),
        ("any sequence", f"{scores['free']['f1']:.1f}"),
    ]


EVALUATE = "evaluate --task parsing --checkpoint {checkpoint} --test {test}"
BAD = {
    "prepare --train {train} --out {new}": "trees need --task parsing\n",
    "evaluate --checkpoint {checkpoint} --test {test}": "trees need --task parsing\n",
    "train --preset tiny --train {train} {pairs} --out {new}": "trees go neither with parallel text",
    "prepare --task parsing --train {train} --typo-rate 0.5 --out {new}": "nor with --typo-rate",
    "prepare --task parsing --train {train} --source-vocab-size 9 --out {new}": "leave --source-vocab-size out",
    **{
        f"{EVALUATE} {option}": f"error: {option.split()[0]} needs --task translation\n"
        for option in ("--per-sentence", "--target-column 3", "--references all", "--causal false")
    },
}


@pytest.mark.parametrize("line", BAD)
def test_what_belongs_to_the_other_task(parsing: Parsing, made: Workplace, call: Call, line: str) -> None:
    new = parsing.data.parent / "new"
    words = line.format(**vars(parsing), pairs=made.pairs, new=new).split()
    assert BAD[line] in one_line_error(call(*words))
    assert not new.exists()


def test_a_damaged_tree_is_named(parsing: Parsing, call: Call, tmp_path: Path) -> None:
    path = tmp_path / "damaged.trees"
    path.write_text("(S (NN tea))\n(S (NN tea)\n")
    said = call("prepare", "--task", "parsing", "--train", path, "--vocab-size", "20", "--out", tmp_path / "new")
    assert one_line_error(said, 1).endswith("damaged.trees, line 2: a bracket is never closed\n")


def test_training_begins_with_trees_themselves(parsing: Parsing, call: Call, tmp_path: Path) -> None:
    narrow = ["--model.d_model", "16", "--model.d_ff", "16", "--model.num_layers", "1", "--model.num_heads", "2"]
    short = ["--training.steps", "2", "--training.warmup_steps", "1", "--training.cooldown_steps", "0"]
    train = ["train", "--preset", "parsing-small", *narrow, *short, "--model.source_vocab_size", "55"]
    said = call(*train, "--train", parsing.train, "--out", tmp_path / "run")
    assert said.status == 0, said.err
    meta = json.loads((tmp_path / "run" / "data" / "meta.json").read_text())
    assert (meta["source_vocab_size"], meta["vocab_size"]) == (55, 13)


def test_vocabulary_must_know_all_labels(parsing: Parsing, made: Workplace, call: Call, tmp_path: Path) -> None:
    other = tmp_path / "other.trees"
    other.write_text("(S (NP (DT the) (NN cat)))\n(S (FRAG (NN tea)))\n")
    prepare = ["prepare", "--task", "parsing", "--train", other, "--out", tmp_path / "new", "--tokenizer"]
    said = call(*prepare, parsing.checkpoint / "tokenizer.model")
    assert "tokenizer.model lacks the label FRAG of" in one_line_error(said)
    assert "this model is no parser" in one_line_error(call(*prepare, made.checkpoint / "tokenizer.model"))
    other.write_text("(S (NP (DT the) (NN cat)))\n")
    assert call(*prepare, parsing.checkpoint / "tokenizer.model").status == 0


PARSED = (
    *LINES,
    *(b"( ) ( (", b")))) ((((", b"-LRB- -RRB- -LSB-", b"(S (NP XX )NP )S", b"(TOP (S (XX cat)))", b"XX XX XX"),
    *(b"\\ / \\/ \\* * \\\\", b"`` '' ` '' ``", b"= + - -- ---", b"buffalo " * (MAX_WORDS + 1), b"y" * 1_000_001),
)


def words_of(line: bytes) -> list[str]:
    """Words of a tree over the line when it is read; brackets within a word stay as they are written, -LRB-."""
    words = line.decode("utf-8", errors="replace").split()
    return [unescaped(escaped(word)) for word in words]


@pytest.mark.parametrize("options", [[], ["--constrained", "true"]], ids=["free", "constrained"])
def test_one_line_for_each_line(
    parsing: Parsing,
    options: list[str],
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n".join(PARSED) + b"\n")))
    assert main(["parse", "--checkpoint", str(parsing.checkpoint), "--beam", "2", *options]) == 0
    *result, end = capsys.readouterr().out.split("\n")
    assert end == "" and len(result) == len(PARSED)
    told = {int(match[1]): message for message in caplog.messages if (match := re.match(r"line (\d+): ", message))}
    for number, (line, out) in enumerate(zip(PARSED, result, strict=True), start=1):
        words = words_of(line)
        if not out:
            assert not words or "not parsed" in told[number], line[:60]
            continue
        if len(words) > MAX_WORDS:  # more than a treebank may have: a flat tree
            assert out == f"(TOP {' '.join(f'(XX {word})' for word in words)})" and "not parsed" in told[number]
            continue
        (tree,) = parse_trees([out])
        assert list(tree.words) == words, line[:60]
    assert "not parsed" in told[PARSED.index(b"y" * 1_000_001) + 1]
    assert "not parsed" in told[PARSED.index(b"buffalo " * (MAX_WORDS + 1)) + 1]
