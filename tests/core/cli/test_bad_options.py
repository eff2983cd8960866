"""Bad options of every command: one line that names the option and what is allowed, status 2, and no file."""

from __future__ import annotations

import io
import re
import shlex
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.core.cli.workplace import Said, Workplace, one_line_error
from transformer_core.cli import main
from transformer_core.cli.arguments import Parser
from transformer_core.translator import Translator
from viz_app.cli import HEADLIGHT

MODEL = "--checkpoint {checkpoint} "
SENTENCE = f"{MODEL}--source 'The man sees a house.' --out x.npz "
ATTRIBUTE = f"{SENTENCE}--method gradient "
EXPORT = f"{MODEL}--text 'The bus.' "
HEAD = f"{EXPORT}--layer 1 --head 1"
BATCH = f"{MODEL}--texts {{valid}} --out x "
LONG = "word " * 2_000

# A command and the options that it needs -> bad options -> part of the error.
BAD = {
    "translate": {"": "missing: --checkpoint"},
    f"translate {MODEL}": {
        "--beam 0": "beam is 0, but must be between 1 and 1,000",
        "--beam": "--beam: expected one argument",
        "--alpha nan": "--alpha is 'nan', but must be a number",
        "--constrained true": "is no parser",
        "--device toaster": "but must be one of auto, cpu",
        "--beam 2 --nbest 3": "--nbest is 3, but must be at most the beam, 2",
        "--bean 2": "unknown option --bean; did you mean --beam?",
        "house": "unknown option house",
        "--output no/x.txt": "folder not found: no",
    },
    f"evaluate {MODEL}--test {{valid}}": {
        "--references 0": "--references is '0'",
        "--greedy --beam 4": "--beam is 4",
        "--constrained true": "--constrained needs --task parsing",
    },
    f"parse {MODEL}": {"": "this model is no parser"},
    f"align {MODEL}": {"": "missing: --gold"},
    "prepare --out x": {"": "missing: --train"},
    "prepare --train {pairs}": {"--out {run}": "is not empty"},
    "prepare --train {pairs} --out x": {
        "--typo-rate 2": "must be from 0 to 1",
        "--vocab-size 9 --tokenizer {data}/tokenizer.model": "--vocab-size out",
        "--task parsing": "--task parsing needs .trees or .mrg",
    },
    "train --data {data}": {"": "missing: --out", "--out {run}": "is not empty; add --resume"},
    "train --out x": {"": "give either --data DIR", "--data {data} --train {pairs}": "give either --data DIR"},
    "train --out x --data {data}": {
        "--preset huge": "must be one of base, big, en-de, small, tiny",
        "--training.step 3": "did you mean --training.steps?",
        "--model.num_heads 7": "a divisor of d_model (512)",
        "--model.vocab_size 99": "has 160",
        "--device cuda:99": "--device is 'cuda:99', but must be one of auto, cpu",
    },
    "train --resume --out {run}": {
        "--training.seed 2": "training.seed is 2, was 1",
        "--training.batch_tokens 256": "training.batch_tokens is 256, was ",
        "--training.precision bfloat16": "training.precision is 'bfloat16', was 'float32'",
        "--model.dropout 0.2": "model.dropout is 0.2, was ",
        "--preset base": "preset is 'base', was 'tiny'",
    },
    "train --preset tiny --data {data} --out x --init-from {checkpoint}": {
        "--model.num_layers 3": "model.num_layers is 3, the checkpoint has 2",
    },
    "train --resume": {
        "--out {run} --init-from {checkpoint}": "give only one",
        "--out {data}": "is not the folder of a",
        "--out {checkpoint}": "is not the folder of a training run: config.json has no 'training'",
    },
    "average": {"": "missing: DIR, --out", "{data} --out x": "is not the folder of a training"},
    "average {run}": {
        "--out x --last 9": "has 2 saved steps",
        "--last 1 --out {checkpoint}": "add --force",
        "--last 1 --out {data} --force": "is not a checkpoint; choose another folder",
    },
    "ship {run} --out x": {"--gold {valid}": "--gold needs --history"},
    f"derived {MODEL}": {
        "--only scores": "--only: scores needs --valid or --test",
        "--only card": "--only: card: the checkpoint has no scores",
    },
    "journal {run}": {"--out x.txt": "must end with .json"},
    "variations --data {data} --valid {valid} --out x --reduce 16": {
        "--rows table3-f": "row is 'table3-f', but must be one of base, table3-a-h1",
        "--reduce 3": "reduce is 3, but must divide d_model",
        "--reduce-layers 4": "reduce_layers is 4, but must divide num_layers, which is 6",
        "--training.seed 3": "unknown option --training.seed",
        "--training.batch_tokens 0": "batch_tokens is 0",
        "--out {run}": "is not empty, but has no variations.json",
    },
    "history {run} --sentences {valid} --out x": {"": "--training.snapshots"},
    "history {run} --sentences {valid}": {"--out {data}": "is not a history"},
    "count": {"--preset huge": "must be one of base", "--model.d_model 7": "even"},
    f"analyse attention {SENTENCE}": {
        "--source ' '": "--source is empty",
        "--out x.png": "must end with .npz or .csv",
        f"--source '{LONG}'": "at most 1024",
        "--target Haus --beam 2": "cannot be combined with --target",
    },
    f"analyse effects {MODEL}--data {{valid}} --out x.csv --source x": {"": "cannot be combined"},
    f"analyse lens {MODEL}--data {{valid}} --out x.csv --most 10001": {"": "10,000 or less"},
    f"analyse attribute {MODEL}--data {{valid}} --out x.csv --method gradient": {
        "--at 1 --tokens a b": "--at and --data",
        "--head cross.1": "takes no layer",
    },
    f"analyse patch {MODEL}--data {{valid}} --out x.csv --site ffn": {"": "can only be combined with heads"},
    f"analyse effects {SENTENCE}": {
        f"--target '{LONG}'": "--target has ",
        "--change mean": "need --sentences",
        "--sentences {valid}": "need --sentences, and no other",
    },
    f"analyse direct {SENTENCE}": {
        "--at 99": "--at is 99, but must be from 1 to",
        "--tokens The man sees": "one token or two",
    },
    f"atlas {MODEL}--sentences {{valid}} --out x": {
        "--parts links": "links needs --trees",
        "--parts align": "align needs --alignments",
        "--trees {valid}": "must have two",
    },
    f"analyse patch {MODEL}--clean 'A dog.' --corrupted 'A cat.' --out x.npz": {
        "--answers ' ' Ja.": "--answers is empty",
        "--answers Ja.": "--answers: expected 2 arguments",
        f"--clean '{LONG}'": "--clean has",
        "--data {valid}": "--clean and --data cannot be combined",
    },
    f"analyse circuit {MODEL}--clean 'A dog.' --corrupted 'A cat.' --out x.npz": {
        "--task number.en-de": "give one of --task, --pairs, and --clean",
        "--method guess": "--method",
        "--steps 0": "--steps",
        "--out x.svg": "must end with .npz or .csv or .dot",
    },
    f"analyse circuit {MODEL}--out x.npz": {
        "": "give one of --task, --pairs, and --clean",
        "--task nothing": "--task: there are case.en-de, name.en-de",
        "--clean Dogs.": "--clean and --corrupted belong together",
    },
    f"analyse flow {SENTENCE}": {
        "--at 99": "--at is 99, but must be from 1 to",
        "--against der": "--against and a graph need --at",
        "--at 1 --against qqq": "--against: 'qqq' is no token",
        "--out x.dot": "--against and a graph need --at",
        "--at 1 --share 2": "--share is 2, but must be above 0",
    },
    f"analyse lens {SENTENCE}": {"--source ''": "--source is empty"},
    f"analyse lens {MODEL}": {
        "--data {valid} --out x.npz": "must end with .csv",
        "--out x.npz": "missing: --source, or --data",
    },
    f"analyse attribute {SENTENCE}": {
        "": "missing: --method",
        "--method lime": "must be one of attention, rollout",
        "--method alti --head cross.1": "alti takes no layer",
        "--method norm --head cross.3": "--head: cross.3 is no layer of encoder-decoder attention; they go",
        "--method attention --head cross.1.0": "--head: 'cross.1.0' is neither a head, such as cross.6.8, nor a layer",
        "--method attention --head encoder.1.1": "--head: encoder.1.1 is no head of encoder-decoder attention",
        "--method alti --at 1 --tokens a e": "alti takes no contrast",
    },
    f"analyse attribute {ATTRIBUTE}": {
        "--at 1": "--at and --tokens belong together",
        "--at 1 --tokens a @@@@": "no token of this model",
        "--at 999 --tokens a e": "--at is 999",
    },
    "app": {"--model-server 10.0.0.5:8000": "must be an address such as http://127.0.0.1:8000"},
    "class": {"--model-server 10.0.0.5:8000": "must be an address such as http://127.0.0.1:8000"},
    "serve": {"--gpus-per-replica -1": "--gpus-per-replica is -1.0, but must be 0 or more"},
    f"export {MODEL}": {
        "--layer 1 --head 1 --out x.pdf": "--text",
        "--text ' ' --layer 1 --head 1 --out x.pdf": "--text is empty",
        f"--text '{LONG}' --layer 1 --head 1 --out x.pdf": "at most",
    },
    f"export {HEAD}": {
        "--out x.bmp": ".pdf, .svg",
        "--out no/x.pdf": "folder not found: no",
        "--out x.png --dpi 1": "--dpi is 1, but must be between 36 and 1200",
        "--out x.gif": "the view head can only be .pdf",
    },
    f"export {EXPORT}--out x.pdf": {
        "--layer 1": "missing: --head",
        "--layer 3 --head 1": "--layer is 3, but must be between 1 and 2",
        "--layer 0 --head 1": "--layer is 0, but must be 1 or more",
        "--layer 1 --head 5": "--head is 5, but must be between 1 and 4",
        "--view lines --layer 1 --heads 1,9": "--head is 9",
        "--view lines --layer 1 --heads 2,1": "increasing numbers",
        "--view heads --query 1": "the view heads does not take it; it takes --kind",
        "--view all --kind cross": "the view all does not take it",
        "--view bush": "but must be one of head, layer",
        "--view tree": "this model is no parser",
        "--view tree --kind cross": "the view tree does not take it; it takes --layer",
        "--view beam --target Bus": "--target",
    },
    f"export {EXPORT}--view beam": {"--out x.tex": "the view beam can only be .pdf, .svg, .png, .csv"},
    f"export {HEAD} --out x.pdf": {
        "--view lines --query 99": "--query is 99, but must be between 1 and",
        "--view decoding": "the view decoding can only be .gif, .csv, .npz, .json",
        "--step 99": "step is 99, but must be between 1 and",
        "--kind all": "--kind is 'all', but must be one of encoder, decoder, cross",
        "--unit letters": "--unit",
        "--width-mm 1": "--width-mm is 1.0, but must be between 20 and 2000",
        "--rotation 30": "--rotation is 30",
        "--value-range 1,0": "--value-range",
        "--value-range much": "--value-range is 'much'",
        "--preset acl": "acl-column",
        "--theme blue": "--theme",
        "--dpi 100": "--dpi: only png and gif",
        "--target Bus --beam 2": "omit them with --target",
        "--target Bus --prefix a": "omit them with --target",
        "--prefix 쥐": "--prefix: '쥐' is no token of this model",
        "--beam 0": "beam is 0",
        "--out x.pdf": "named twice",
        "--format pdf": "--format is only for --set",
        "--colour red": "unknown option --colour",
    },
    f"export {BATCH}": {
        "": "missing: --heads",
        "--heads ''": "--heads: ''",
        "--heads cross.3.1": "--heads: 'cross.3.1' must be kind.layer.head",
        "--heads cross.1.0": "a layer from 1 to 2, a head from 1 to 4",
        "--heads all.1": "must be kind.layer.head",
        "--heads all --text a": "give either --text",
        "--heads all --layer 1": "--layer: the set heads does not take it",
        "--heads all --view beam": "--view is 'beam'",
        "--heads all --format bmp": "--format is 'bmp'",
        "--set bush": "--set: file not found: bush",
        "--set {valid}": "--set: line 1 of ",
        "--set sentence --view beam": "--view: the set sentence does not take it",
    },
    f"export {EXPORT}--set sentence": {
        "--out x.pdf --out y.pdf": "give it once",
        "--out no/x.zip": "folder not found: no",
        "--layer 9 --head 1 --out x.zip": "--layer is 9, but must be between 1 and 2",
    },
    f"export {MODEL}--set sentence --out x.zip": {"": "--text"},
    f"export {MODEL}--out x.pdf": {
        "--view grid --measure dreams": "--measure is 'dreams', but must be one of gain",
        "--view grid --text a": "--text: the view grid shows the model's head atlas",
        "--view grid --layer 1": "--layer: the view grid does not take it",
        "--view pruning --left -1": "--left is -1",
        "--view pruning --group 'all heads'": "--group is 'all heads'",
        "--view head --measure gain": "--measure: the view head does not take it",
    },
    f"page {MODEL}--out x.html": {
        "": "missing: --text",
        "--text ' '": "--text is empty",
        "--text 안녕하세요.": "no sentence that this model reads",
        f"--text '{LONG}'": "--text: ",
        f"--text '{'word ' * 300}'": "but the limit is",
        "--text a --branches 0": "--branches is 0",
        "--texts missing.txt": "--texts",
        "--lesson lab": "--lesson is 'lab'",
        "--lesson masks --branches 2": "--branches is for a page of sentences",
        "--lesson masks --heads-off": "--heads-off is for a page of sentences",
        "--lesson masks --text 'A dog.' --text 'A cat.'": "a lesson has one sentence",
        "--lesson masks --text 안녕": "must be a sentence that the model can read",
        "--lesson masks --sheet teacher": "--sheet is only for --lesson session",
        "--live --text 'A dog.'": "--text is for a page of sentences; omit it with --live",
        "--live --lesson masks": "--lesson is a page of its own; omit it with --live",
    },
    "site --out x --checkpoint": {"missing": "missing", "{checkpoint} {checkpoint}": "needs a name of its own"},
    f"export {MODEL}--set paper --out x": {
        "--format bmp": "--format is 'bmp'",
        "--text a": "--text: the set paper does not take it",
    },
    "completion": {"": "missing: SHELL"},
}
CASES = [(f"{common} {bad}", told) for common, cases in BAD.items() for bad, told in cases.items()]
KINDS = {  # name of the function that reads an option -> part of the error
    "bool": "is 'nonsense', but must be true or false",
    "int": "is 'nonsense', but must be a whole number",
    "bounded": "is 'nonsense', but must be a whole number",
    "float": "is 'nonsense', but must be a number",
    "existing_path": "not found: nonsense(; .*)?",
}
Run = Callable[[str], Said]


@pytest.fixture
def run(made: Workplace, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in an empty folder; a model is loaded once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Translator, "load", cache(Translator.load))
    for module in ("app", "class_"):
        monkeypatch.setattr(f"viz_app.cli.{module}.run_server", lambda *_: pytest.fail("a server was started"))

    def command(line: str) -> Said:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n")))
        capsys.readouterr()
        status = main(shlex.split(line.format(**vars(made))), HEADLIGHT)
        return Said(status, *capsys.readouterr())

    return command


def test_bad_options_give_one_line_and_write_nothing(run: Run, tmp_path: Path, subtests: pytest.Subtests) -> None:
    for line, told in CASES:
        with subtests.test(line):
            assert told in one_line_error(run(line))
            assert list(tmp_path.iterdir()) == []


def test_every_option_refuses_a_value_of_another_kind(run: Run, subtests: pytest.Subtests) -> None:
    """The options say what they allow: words, numbers within bounds, files and folders that exist."""
    for command in HEADLIGHT.commands:
        parser: Parser = HEADLIGHT.parser(command)
        for action in parser._actions:
            flag, name = "".join(action.option_strings[:1]), getattr(action.type, "__name__", "")
            told = KINDS.get(name, "")
            if action.choices:
                told = f"is 'nonsense', but must be (one|some) of {', '.join(action.choices)}"
            if not told:
                continue
            with subtests.test(f"{command} {flag}"):
                error = one_line_error(run(f"{command} {flag} nonsense"))
                way_on = rf"\(more: headlight {command} --help\)"
                assert re.match(rf"error: {flag or action.metavar}:? .*{told} {way_on}", error)
                if name == "bounded":
                    assert " or more (more: " in one_line_error(run(f"{command} {flag} -1000000"))


def test_a_number_may_be_too_large(run: Run) -> None:
    assert "--random-orders is 1000, but must be 100 or less" in one_line_error(
        run("analyse cumulative-ablation --random-orders 1000")
    )
