"""Bad options of every command: one line that names the option and what is allowed, status 2, and no file."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path

import pytest

from tests.core.cli.workplace import Said, Workplace, one_line_error
from transformer_core.cli import main
from viz_app.cli import HEADLIGHT

MODEL = "--checkpoint {checkpoint} "
SENTENCE = f"{MODEL}--source 'The man sees a house.' --out x.npz "
ATTRIBUTE = f"{SENTENCE}--method gradient "
EXPORT = f"{MODEL}--text 'The bus.' "
HEAD = f"{EXPORT}--layer 1 --head 1 "
LESSON = f"{MODEL}--lesson positions "
BATCH = f"{MODEL}--texts {{valid}} --out x "
LONG = "word " * 2_000

# Command -> the options that it needs -> bad options -> part of the error.
BAD: dict[str, dict[str, dict[str, str]]] = {
    "translate": {
        "": {"": "missing: --checkpoint", "--checkpoint nowhere": "folder not found: nowhere"},
        MODEL: {
            "--beam 0": "beam is 0, but must be between 1 and 1,000",
            "--beam x": "--beam is 'x', but must be a whole number",
            "--beam": "--beam: expected one argument",
            "--alpha nan": "--alpha is 'nan', but must be a number",
            "--constrained maybe": "--constrained is 'maybe', but must be true or false",
            "--constrained true": "is no parser",
            "--length-penalty wu": "--length_penalty is 'wu', but must be one of gnmt, power",
            "--batch 0": "--batch is 0, but must be 1 or more",
            "--device toaster": "but must be one of auto, cpu",
            "--threads -1": "--threads is -1, but must be 0 or more",
            "--beam 2 --nbest 3": "--nbest is 3, but must be at most the beam, 2",
            "--bean 2": "unknown option --bean; did you mean --beam?",
            "house": "unknown option house",
            "--input no.txt": "file not found: no.txt",
            "--output no/x.txt": "folder not found: no",
        },
    },
    "evaluate": {
        f"{MODEL}--test {{valid}} ": {
            "--references 0": "--references is '0'",
            "--greedy --beam 4": "--beam is 4",
            "--task cooking": "--task is 'cooking', but must be one of translation, parsing",
            "--target-column 1": "--target-column is 1, but must be 2 or more",
            "--constrained true": "--constrained needs --task parsing",
            "--compare nowhere": "folder not found: nowhere",
            "--unseen no.tsv": "file not found: no.tsv",
        },
        MODEL: {"--test no.tsv": "file not found: no.tsv"},
    },
    "parse": {MODEL: {"": "this model is no parser", "--batch 0": "--batch is 0"}},
    "align": {MODEL: {"": "missing: --gold", "--gold no.tsv": "file not found: no.tsv"}},
    "contrast": {
        MODEL: {"--test no.tsv": "file not found: no.tsv"},
        f"{MODEL}--test {{valid}} ": {"--form cats": "--form is 'cats', but must be one of lingeval, contracat"},
    },
    "prepare": {
        "--out x ": {"": "missing: --train"},
        "--train {pairs} ": {"--out {run}": "is not empty"},
        "--train {pairs} --out x ": {
            "--careless-share 2": "must be from 0 to 1",
            "--vocab-size 9 --tokenizer t": "--vocab-size out",
            "--task parsing": "--task parsing needs .trees or .mrg",
        },
    },
    "train": {
        "--data {data} ": {"": "missing: --out", "--out {run}": "is not empty; add --resume"},
        "--out x ": {"": "give either --data DIR", "--data {data} --train {pairs}": "give either --data DIR"},
        "--out x --data {data} ": {
            "--preset huge": "must be one of base, big, en-de, small, tiny",
            "--training.step 3": "did you mean --training.steps?",
            "--training.steps 1.5": "--training.steps is '1.5', but must be a whole number",
            "--training.compile maybe": "--training.compile is 'maybe', but must be true or false",
            "--training.precision fp8": "one of float32, bfloat16",
            "--model.num_heads 7": "a divisor of d_model (512)",
            "--model.vocab_size 99": "has 160",
            "--device mps": "training adds in float64, which mps lacks; use cpu or cuda",
        },
        "--resume ": {
            "--out {run} --init-from {checkpoint}": "give only one",
            "--out {data}": "is not the folder of a",
        },
    },
    "average": {
        "": {"": "missing: DIR, --out", "{data} --out x": "is not the folder of a training"},
        "{run} ": {
            "--out x --last 0": "--last is 0",
            "--out x --last 9": "has 2 saved steps",
            "--last 1 --out {checkpoint}": "add --force",
            "--last 1 --out {data} --force": "is not a checkpoint; choose another folder",
        },
    },
    "ship": {
        "{run} --out x ": {"--gold {valid}": "--gold needs --history", "--valid no.tsv": "file not found: no.tsv"}
    },
    "convert": {"nowhere --out x ": {"": "folder not found: nowhere"}},
    "export-model": {
        f"{MODEL}--out x ": {"--to excel": "--to is 'excel', but must be one of transformers, ctranslate2"}
    },
    "derived": {
        MODEL: {
            "--only scores": "--only: scores needs --valid or --test",
            "--only maps": "but must be some of scores, heads, forced,",
            "--only card": "--only: card: the checkpoint has no scores",
            "--gold nothing.tsv": "file not found: nothing.tsv",
        }
    },
    "journal": {"{run} ": {"--out x.txt": "must end with .json"}},
    "variations": {
        "--data {data} --valid {valid} --out x --reduce 16 ": {
            "--rows table3-f": "row is 'table3-f', but must be one of base, table3-a-h1",
            "--reduce 3": "reduce is 3, but must divide d_model",
            "--reduce-layers 4": "reduce_layers is 4, but must divide num_layers, which is 6",
            "--steps 0": "--steps is 0, but must be 1 or more",
            "--seeds a": "--seeds is 'a', but must be a whole number",
            "--data nowhere": "folder not found: nowhere",
            "--valid no.tsv": "file not found: no.tsv",
            "--training.seed 3": "unknown option --training.seed",
            "--training.batch_tokens 0": "batch_tokens is 0",
            "--out {run}": "is not empty, but has no variations.json",
        }
    },
    "history": {
        "{run} --sentences {valid} --out x ": {"": "--training.snapshots"},
        "{run} --sentences {valid} ": {"--out {data}": "is not a history"},
    },
    "count": {"": {"--length 0": "--length is 0", "--preset huge": "must be one of base", "--model.d_model 7": "even"}},
    "attention": {
        SENTENCE: {
            "--source ' '": "--source is empty",
            "--out x.png": "must end with .npz",
            f"--source '{LONG}'": "at most 1024",
            "--target Haus --beam 2": "cannot be combined with --target",
        }
    },
    "effects": {
        SENTENCE: {
            f"--target '{LONG}'": "--target has ",
            "--change away": "must be one of zero, mean, resample, random",
            "--change mean": "need --sentences",
            "--change mean --sentences nothing.tsv": "nothing.tsv",
            "--sentences {valid}": "need --sentences, and no other",
            "--out x.csv": "must end with .npz",
        }
    },
    "cumulative-ablation": {
        SENTENCE: {
            "--order x": "--order is 'x', but must be one of effect, gradient, greedy, random",
            "--random-orders 1000": "--random-orders is 1000, but must be 100 or less",
        }
    },
    "atlas": {
        f"{MODEL}--sentences {{valid}} --out x ": {
            "--parts dreams": "--parts is 'dreams', but must be some of looks",
            "--parts links": "links needs --trees",
            "--parts align": "align needs --alignments",
            "--workers 0": "--workers is 0",
            "--workers 1000": "--workers is 1000, but must be 256 or less",
            "--most 100000": "--most is 100000",
            "--trees {valid}": "must have two",
        }
    },
    "patch": {
        f"{MODEL}--clean 'A dog.' --corrupted 'A cat.' --out x.npz ": {
            "--site x": "--site is 'x', but must be one of heads, residual, ffn",
            "--direction x": "--direction is 'x'",
            "--answers ' ' Ja.": "--answers is empty",
            "--answers Ja.": "--answers: expected 2 arguments",
            f"--clean '{LONG}'": "--clean has",
        }
    },
    "lens": {SENTENCE: {"--source ''": "--source is empty"}},
    "attribute": {
        SENTENCE: {
            "": "missing: --method",
            "--method lime": "must be one of attention, rollout",
            "--method alti --layer 1": "alti takes no layer",
            "--method norm --layer 3": "--layer is 3, but must be from 1 to 2",
            "--method attention --head 0": "--head is 0, but must be from 1 to 4",
            "--method alti --at 1 --tokens a e": "alti takes no contrast",
        },
        ATTRIBUTE: {
            "--steps 1001": "must be 1,000 or less",
            "--at 1": "--at and --tokens belong together",
            "--at 1 --tokens a @@@@": "no token of this model",
            "--at 999 --tokens a e": "--at is 999",
        },
    },
    **{
        command: {
            "": {
                "--port 0": "--port is 0, but must be from 1 to 65535",
                "--port 65536": "--port is 65536",
                "--checkpoint nowhere": "--checkpoint: folder not found: nowhere",
                "--prot 1": "unknown option --prot; did you mean --port?",
                "--model-server 10.0.0.5:8000": "must be an address such as http://127.0.0.1:8000",
            }
        }
        for command in ("app", "class")
    },
    "serve": {
        "": {
            "--replicas 0": "--replicas is 0, but must be 1 or more",
            "--port 0": "--port is 0, but must be from 1 to 65535",
            "--gpus-per-replica -1": "--gpus-per-replica is -1.0, but must be 0 or more",
            "--checkpoint nowhere": "--checkpoint",
        }
    },
    "export": {
        MODEL: {
            "--layer 1 --head 1 --out x.pdf": "--text",
            "--text ' ' --layer 1 --head 1 --out x.pdf": "--text is empty",
            f"--text '{LONG}' --layer 1 --head 1 --out x.pdf": "at most",
        },
        HEAD: {
            "--out x.bmp": ".pdf, .svg",
            "--out no/x.pdf": "there is no folder",
            "--out x.png --dpi 1": "--dpi is 1, but must be between 36 and 1200",
            "--out x.gif": "the view head can only be .pdf",
        },
        f"{EXPORT}--out x.pdf ": {
            "--layer 1": "missing: --head",
            "--layer 3 --head 1": "--layer is 3, but must be between 1 and 2",
            "--layer 0 --head 1": "--layer is 0, but must be 1 or more",
            "--layer 1 --head 5": "--head is 5, but must be between 1 and 4",
            "--layer 1 --head x": "--head is 'x', but must be a whole number",
            "--view lines --layer 1 --heads 1,9": "--head is 9",
            "--view lines --layer 1 --heads 2,1": "increasing numbers",
            "--view heads --query 1": "the view heads does not take it; it takes --kind",
            "--view all --kind cross": "the view all does not take it",
            "--view bush": "but must be one of head, layer",
            "--view tree": "this model is no parser",
            "--view tree --kind cross": "the view tree does not take it; it takes --layer",
            "--view beam --target Bus": "--target",
        },
        f"{EXPORT}--view beam ": {"--out x.tex": "the view beam can only be .pdf, .svg, .png, .html, .csv"},
        f"{HEAD}--out x.pdf ": {
            "--view lines --query 99": "--query is 99, but must be between 1 and",
            "--view decoding": "the view decoding can only be .gif, .csv, .npz, .json",
            "--step 99": "step is 99, but must be between 1 and",
            "--kind all": "--kind is 'all', but must be one of encoder, decoder, cross",
            "--unit letters": "--unit",
            "--language de": "--language is 'de', but must be one of en, ko",
            "--width-mm 1": "--width-mm is 1.0, but must be between 20 and 2000",
            "--rotation 30": "--rotation is 30",
            "--value-range 1,0": "--value-range",
            "--value-range much": "--value-range is 'much'",
            "--preset acl": "acl-column",
            "--theme blue": "--theme",
            "--title maybe": "--title is 'maybe', but must be true or false",
            "--dpi 100": "--dpi: only png and gif",
            "--target Bus --beam 2": "omit them with --target",
            "--beam 0": "beam is 0",
            "--out x.pdf": "named twice",
            "--format pdf": "--format is only for --texts",
            "--colour red": "unknown option --colour",
            "--checkpoint nowhere": "--checkpoint: folder not found: nowhere",
        },
        BATCH: {
            "": "missing: --heads",
            "--heads ''": "--heads: ''",
            "--heads cross.3.1": "--heads: the layer of 'cross.3.1' must be between 1 and 2",
            "--heads cross.1.0": "--heads: the head of 'cross.1.0' must be between 1 and 4",
            "--heads cross.1.1.1": "must be kind.layer.head",
            "--heads all.1": "must be kind.layer.head",
            "--heads own.1.1": "must be kind.layer.head",
            "--heads cross.-1.1": "must be kind.layer.head",
            "--heads all --text a": "--text is for a single figure",
            "--heads all --view beam": "--view is 'beam'",
            "--heads all --format bmp": "--format is 'bmp'",
        },
    },
    "sentence": {
        f"{MODEL}--text 'The bus.' ": {
            "--out x.pdf": "--out is 'x.pdf', but must end with .zip",
            "--out no/x.zip": "folder not found: no",
            "--head cross.9.1 --out x.zip": "--head is 'cross.9.1', but must be encoder, decoder or cross",
            "--head '<b>' --out x.zip": "--head is '<b>', but must be",
            "--unit letters --out x.zip": "--unit is 'letters', but must be one of",
        },
        f"{MODEL}--out x.zip ": {"": "--text"},
    },
    "paper-figures": {
        f"{MODEL}--out x ": {
            "--format bmp": "--format is 'bmp'",
            "--preset acl": "--preset is 'acl'",
            "--language de": "--language is 'de', but must be one of en, ko",
        }
    },
    "lesson": {
        f"{LESSON}--out x.pdf ": {
            "--scene waves --with '<script>'": "--with is '<script>', but '<script>' is not a setting",
            "--scene waves --with at:3,x:../..": "'x:../..' is not a setting",
            "--scene ../waves": "--scene is '../waves', but must be one of waves",
            "--scene waves --width-mm 1": "--width-mm is 1.0, but must be between 20 and 2000",
            "--scene waves --out x.pdf": "named twice",
            "--scene waves --language de": "--language is 'de'",
            "--teacher": "--teacher is only for --lesson session",
            "--lesson session --scene waves": "--scene needs one lesson",
            "--lesson cooking": "--lesson is 'cooking'",
        },
        LESSON: {
            "--scene clocks --out x.gif": "--out is 'gif', but must be one of",
            "--scene waves --out no/x.pdf": "there is no folder",
            "--preset a4 --out x.html": "a handout has its own style",
            "--out x.html --out y.html": "a handout is an .html file",
        },
    },
    "growth": {
        "--history {histories}/base --out x.pdf ": {
            "--head cross.9.1": "--head is 'cross.9.1', but must be encoder, decoder or cross with a layer from 1 to 2",
            "--head '<b>'": "--head is '<b>', but must be",
            "--at 7": "--at is 7, but must be one of 0, ",
            "--sentence 0": "--sentence is 0, but must be between 1 and 8",
            "--sentence 9": "--sentence is 9, but must be between 1 and 8",
            "--language de": "--language is 'de', but must be one of en, ko",
            "--width-mm 1": "--width-mm is 1.0, but must be between 20 and 2000",
            "--history nowhere": "--history: folder not found: nowhere",
        }
    },
    "completion": {"": {"": "missing: SHELL", "ash": "SHELL is 'ash', but must be one of bash"}},
}
CASES = [
    (command, common + bad, told)
    for command, groups in BAD.items()
    for common, cases in groups.items()
    for bad, told in cases.items()
]


def test_every_command_has_bad_options() -> None:
    assert BAD.keys() == HEADLIGHT.commands.keys()


@pytest.mark.parametrize(
    ("command", "options", "told"), CASES, ids=[f"{command} {bad}"[-60:] for command, bad, _ in CASES]
)
def test_bad_options_give_one_line_and_write_nothing(
    command: str,
    options: str,
    told: str,
    made: Workplace,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from viz_app.lessons.small_models import HISTORIES

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n")))
    for module in ("app", "class_"):
        monkeypatch.setattr(f"viz_app.cli.{module}.run_server", lambda *_: pytest.fail("a server was started"))
    capsys.readouterr()
    status = main([command, *shlex.split(options.format(**vars(made), histories=HISTORIES))], HEADLIGHT)
    assert told in one_line_error(Said(status, *capsys.readouterr()))
    assert list(tmp_path.iterdir()) == []
