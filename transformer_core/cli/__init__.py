"""The command line: python -m transformer_core COMMAND ...

Data go to standard output, progress and logs to standard error. Exit status 0 when done, 2 for unusable arguments
(one line says why and what is allowed), 1 when something failed (one line; --debug shows the whole stack trace).
"""

from __future__ import annotations

import importlib
import io
import keyword
import logging
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import ModuleType

from transformer_core import __version__
from transformer_core.config import ConfigError

# Each is a module of this package with `run(arguments)`; they are loaded when they are called.
COMMANDS = {
    "translate": "Translate lines of text from standard input.",
    "evaluate": "Translate or parse a test set and score it: BLEU, chrF, perplexity, F1; or compare two models.",
    "parse": "Parse sentences from standard input into trees (Section 6.3).",
    "align": "Measure how well each encoder-decoder head, and other methods, align words.",
    "contrast": "Measure how often a model prefers the correct translation to an incorrect one.",
    "prepare": "Learn a vocabulary from parallel text or trees and tokenise them for training.",
    "train": "Train a model; stop and resume at any time.",
    "average": "Average the last saved steps of a training run into a checkpoint.",
    "ship": "Turn a training run into a checkpoint to publish: averaged, scored, with a model card.",
    "convert": "Turn a published translator, such as OPUS-MT, into a checkpoint.",
    "export-model": "Write a checkpoint as a model of another program, such as transformers.",
    "derived": "Measure a checkpoint again: scores, alignment, history, model card.",
    "journal": "Export loss, learning rate and validation scores of a training run as one JSON file.",
    "variations": "Train the rows of Table 3 at reduced size, under equal conditions, and score them.",
    "history": "Record how the attention heads of a model developed during training.",
    "count": "Count parameters, operations and memory of a configuration.",
    "attention": "Save all attention weights of one sentence to a file.",
    "effects": "Measure what each head does to the translation of a sentence.",
    "staircase": "Switch heads off one after the other, and see what is left of a translation.",
    "atlas": "Measure what each head of a model is for: where it looks, what it links, aligns and does.",
    "patch": "Say which heads, or layers and positions, carry the difference between two sentences.",
    "lens": "See what the model would generate at each layer.",
    "attribute": "Say which words carry each token of a translation, by nine methods.",
}

_HELP = """usage: python -m transformer_core COMMAND ...

The Transformer of "Attention Is All You Need": train it, run it, measure it, look inside.

{commands}

Each command has its own help with an example: python -m transformer_core translate --help

Try it:

  echo "A man rides a bicycle." | python -m transformer_core translate --checkpoint checkpoints/en-de

Train your own model from parallel text with English and German in two columns:

  python -m transformer_core prepare --train pairs.tsv --vocab-size 8000 --out data
  python -m transformer_core train --preset en-de --data data --valid valid.tsv --out run
  python -m transformer_core average run --last 5 --out my-model
  python -m transformer_core evaluate --checkpoint my-model --test test.tsv
"""


@dataclass(frozen=True)
class Program:
    """A command line of several commands.

    Args:
        prog: How it is called.
        packages: By the package of their modules, what each command does, by its name. Its module has the same name,
            with _ for - and after a word that Python keeps for itself, and `run(arguments)`.
        help: Shown by --help; `{commands}` is filled in.
    """

    prog: str
    packages: Mapping[str, Mapping[str, str]]
    help: str

    @property
    def commands(self) -> dict[str, str]:
        """What each command does, by its name."""
        return {name: about for commands in self.packages.values() for name, about in commands.items()}

    def module(self, name: str) -> ModuleType:
        """The module of a command."""
        package = next(package for package, commands in self.packages.items() if name in commands)
        module = f"{name}_" if keyword.iskeyword(name) else name.replace("-", "_")
        return importlib.import_module(f"{package}.{module}")


PROGRAM = Program("python -m transformer_core", {__name__: COMMANDS}, _HELP)

called_as: ContextVar[str | None] = ContextVar("called_as", default=None)  # the program that runs, as its help names it


def main(arguments: Sequence[str] | None = None, program: Program = PROGRAM) -> int:
    """Run one command of a program, by default of this one; returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given or os.environ.get("HEADLIGHT_DEBUG", "0") not in ("", "0")
    _use_utf8()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    try:
        return _run(given, program)
    except SystemExit as leave:  # argparse leaves after --help
        return leave.code if isinstance(leave.code, int) else 0
    except BrokenPipeError:  # the reader went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return _fail("interrupted", 1, debug)
    except Exception as error:
        return _fail(_message(error), 2 if isinstance(error, ConfigError) else 1, debug)


def _run(given: list[str], program: Program) -> int:
    name = given[0] if given else "--help"
    if name in ("-h", "--help", "help"):
        width = max(10, *map(len, program.commands))
        commands = "\n".join(f"  {command:<{width}} {about}" for command, about in program.commands.items())
        sys.stdout.write(program.help.format(commands=commands))
        return 0 if given else 2
    if name == "--version":
        sys.stdout.write(f"Headlight {__version__}\n")
        return 0
    if name not in program.commands:
        return _fail(f"unknown command {name}; the commands are {', '.join(program.commands)}", 2, debug=False)
    token = called_as.set(program.prog)
    try:
        status: int = program.module(name).run(given[1:])
    finally:
        called_as.reset(token)
    sys.stdout.flush()
    return status


def _message(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"{error.name} is not installed: python -m pip install -r requirements.txt"
    text = " ".join(str(error).split())
    # Our own messages are complete; those of others need the name of the error.
    ours = type(error).__module__.startswith(("transformer_core", "viz_app"))
    return text if text and ours else f"{type(error).__name__}: {text}"


def _fail(message: str, status: int, debug: bool) -> int:
    if debug and sys.exc_info()[0]:
        traceback.print_exc()
    sys.stderr.write(f"error: {message}\n")
    return status


def _use_utf8() -> None:
    """Use UTF-8 with Unix line ends, whatever the console or the system prefers."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")
