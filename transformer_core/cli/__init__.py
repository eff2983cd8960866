"""The Transformer of "Attention Is All You Need": train it, run it, measure it, look inside.

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

from __future__ import annotations

import importlib
import inspect
import io
import logging
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from transformer_core import __version__
from transformer_core.config import ConfigError
from transformer_core.extras import MissingPackage
from transformer_core.storage.files import printable

if TYPE_CHECKING:
    from transformer_core.cli.argument_parser import Parser


class Command(NamedTuple):
    """One command: its module, with `add_options(parser)` and `run(options)`; loaded when it is called."""

    module: str
    about: str


COMMANDS = {
    "translate": Command("translate", "Translate lines of text from standard input."),
    "evaluate": Command(
        "evaluate", "Translate or parse a test set and score it: BLEU, chrF, perplexity, F1; or compare two models."
    ),
    "parse": Command("parse", "Parse sentences from standard input into trees (Section 6.3)."),
    "align": Command("align", "Measure how well each encoder-decoder head, and other methods, align words."),
    "prepare": Command("training.prepare", "Learn a vocabulary from parallel text or trees and tokenise them."),
    "train": Command("training.train", "Train a model; stop and resume at any time."),
    "average": Command("checkpoint.average", "Average the last saved steps of a training run into a checkpoint."),
    "ship": Command(
        "checkpoint.ship", "Turn a training run into a checkpoint to publish: averaged, scored, with a model card."
    ),
    "convert": Command("checkpoint.convert", "Turn a published translator, such as OPUS-MT, into a checkpoint."),
    "export-model": Command(
        "checkpoint.export_model", "Write a checkpoint as a model of another program, such as transformers."
    ),
    "derived": Command("checkpoint.derived", "Measure a checkpoint again: scores, alignment, history, model card."),
    "journal": Command(
        "training.journal", "Export loss, learning rate and validation scores of a training run as one JSON file."
    ),
    "variations": Command(
        "variations", "Train the rows of Table 3 at reduced size, under equal conditions, and score them."
    ),
    "history": Command("training.history", "Record how the attention heads of a model developed during training."),
    "count": Command("count", "Count parameters, operations and memory of a configuration."),
    "atlas": Command("atlas", "Measure the role of every head: targets, relations, alignment, effects."),
    "analyse attention": Command("analyse.attention", "Save all attention weights of one sentence."),
    "analyse effects": Command("analyse.effects", "Measure the effect of every head on a translation."),
    "analyse direct": Command("analyse.direct", "Split a logit into what each part of the decoder adds directly."),
    "analyse cumulative-ablation": Command(
        "analyse.cumulative_ablation", "Switch heads off one after the other, and measure the translation."
    ),
    "analyse patch": Command(
        "analyse.patch", "Find the heads, or layers and positions, that carry the difference between two sentences."
    ),
    "analyse circuit": Command("analyse.circuit", "Find the heads, networks and edges that carry a behaviour."),
    "analyse lens": Command("analyse.lens", "Read from each layer of the decoder what the model would generate there."),
    "analyse decoder-lens": Command("analyse.decoder_lens", "Translate from the encoder's state after each layer."),
    "analyse attribute": Command(
        "analyse.attribute", "Attribute each token of a translation to words, by ten methods."
    ),
    "analyse flow": Command("analyse.flow", "Split the logit of each token over words, biases and every edge."),
    "analyse contrast": Command(
        "analyse.contrast", "Measure how often a model prefers the correct translation to an incorrect one."
    ),
}


@dataclass(frozen=True)
class Program:
    """A command line of several commands.

    Args:
        prog: How it is called.
        packages: The commands of each package, by name.
        help: A docstring, shown by --help; `{commands}` is filled in.
    """

    prog: str
    packages: Mapping[str, Mapping[str, Command]]
    help: str | None

    @property
    def commands(self) -> dict[str, str]:
        """One line on each command, by its name."""
        return {name: each.about for commands in self.packages.values() for name, each in commands.items()}

    def module(self, name: str) -> ModuleType:
        """Import the module of a command."""
        package = next(package for package, commands in self.packages.items() if name in commands)
        return importlib.import_module(f"{package}.{self.packages[package][name].module}")

    def parser(self, name: str) -> Parser:
        """Return the parser of a command: its help from the module's docstring, and its options."""
        from transformer_core.cli.argument_parser import Parser  # which imports this module

        module = self.module(name)
        parser = Parser(name, module.__doc__ or "", module.__name__.partition(".")[0])
        module.add_options(parser)
        return parser


PROGRAM = Program("python -m transformer_core", {__name__: COMMANDS}, __doc__)

_LONGEST_MESSAGE = 2_000  # an error may quote a file

called_as: ContextVar[str | None] = ContextVar("called_as", default=None)  # the program that runs, as its help names it


def main(arguments: Sequence[str] | None = None, program: Program = PROGRAM) -> int:
    """Run one command of a program, by default of this one; returns the exit status.

    Data go to standard output, progress and logs to standard error. The status is 0 when done, 2 for unusable arguments
    (one line says why and what is allowed), 1 when something failed (one line; --debug shows the whole stack trace).
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words or os.environ.get("HEADLIGHT_DEBUG", "0") not in ("", "0")
    _use_utf8()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    try:
        return _run(words, program)
    except SystemExit as leave:  # argparse leaves after --help
        return leave.code if isinstance(leave.code, int) else 0
    except BrokenPipeError:  # the reader went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return _fail("interrupted", 1, debug)
    except Exception as error:
        return _fail(_message(error), 2 if isinstance(error, ConfigError) else 1, debug)


def _run(words: list[str], program: Program) -> int:
    name = words[0] if words else "--help"
    if name in ("-h", "--help", "help"):
        width = max(10, *map(len, program.commands))
        commands = "\n".join(f"  {command:<{width}} {about}" for command, about in program.commands.items())
        about = inspect.cleandoc(program.help or "").format(commands=commands)
        sys.stdout.write(f"usage: {program.prog} COMMAND ...\n\n{about}\n")
        return 0 if words else 2
    if name == "--version":
        sys.stdout.write(f"Headlight {__version__}\n")
        return 0
    name, arguments = name.replace("_", "-"), words[1:]
    if group := [command for command in program.commands if command.startswith(f"{name} ")]:
        if not arguments or arguments[0] in ("-h", "--help"):
            listed = "\n".join(f"  {command:<27} {program.commands[command]}" for command in group)
            sys.stdout.write(f"usage: {program.prog} {name} NAME ...\n\n{listed}\n")
            return 0 if arguments else 2
        name, arguments = f"{name} {arguments[0].replace('_', '-')}", arguments[1:]
    if name not in program.commands:
        known = ", ".join(group or program.commands)
        return _fail(f"unknown command {name}; the commands are {known}", 2, debug=False)
    token = called_as.set(program.prog)
    try:
        status: int = program.module(name).run(program.parser(name).options(arguments))
    finally:
        called_as.reset(token)
    sys.stdout.flush()
    return status


def _message(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and not isinstance(error, MissingPackage):
        return f"{error.name} is not installed: python -m pip install -r requirements.txt"
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{printable(str(error.filename))}: {error.strerror}"
    text = printable(" ".join(str(error)[:_LONGEST_MESSAGE].split()))
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
