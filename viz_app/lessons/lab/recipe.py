"""How to make the numbers of a bench again: a command, and the same in Python."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from viz_app.export.provenance import checkpoint_record
from viz_app.lessons.context import LessonContext


@dataclass(frozen=True)
class Recipe:
    """Two ways to the same numbers.

    Args:
        command: For a shell; "" where only the command of the figure has what the bench shows.
        python: For a notebook.
    """

    command: str
    python: str


def checkpoint_of(context: LessonContext) -> str:
    """Path of the checkpoint, as a command takes it."""
    return str(checkpoint_record(context.service.translator)["checkpoint"])


def command(name: str, context: LessonContext, *options: str, out: str) -> str:
    """A command of the core for the visitor's sentence."""
    return command_of(name, context, "--source", context.source, *options, out=out)


def command_of(name: str, context: LessonContext, *options: str, out: str) -> str:
    """A command of the core with these options for its sentences."""
    words = ["python", "-m", "transformer_core", name, "--checkpoint", checkpoint_of(context)]
    return shlex.join([*words, *options, "--out", out])


def python(context: LessonContext, imports: Sequence[str], *lines: str) -> str:
    """Lines of Python that begin with the model, and with the visitor's sentence where they need it."""
    start = [f"translator = Translator.load({checkpoint_of(context)!r})"]
    if any("source" in line for line in lines):
        start.append(f"source = {context.source!r}")
    return "\n".join(["from transformer_core.translator import Translator", *imports, "", *start, *lines])
