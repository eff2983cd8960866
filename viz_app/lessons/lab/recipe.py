"""Recipes: the command and the Python code that compute the numbers of a bench without the app."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from viz_app.export.provenance import checkpoint_record
from viz_app.lessons.context import LessonContext


@dataclass(frozen=True)
class Recipe:
    """Two ways to the same numbers.

    Args:
        python: For a notebook.
        command: For a shell; "" where only the command of the figure computes them.
    """

    python: str
    command: str = ""


def checkpoint_of(context: LessonContext) -> str:
    """Return the path of the checkpoint, as a command takes it."""
    return str(checkpoint_record(context.service.translator)["checkpoint"])


def command(context: LessonContext, name: str, *options: str, out: str) -> str:
    """Write a command of the core, for the visitor's sentence unless it names its own."""
    words = ["python", "-m", "transformer_core", name, "--checkpoint", checkpoint_of(context)]
    source = [] if "--clean" in options else ["--source", context.source]
    return shlex.join([*words, *source, *options, "--out", out])


def python(context: LessonContext, imports: str, *lines: str) -> str:
    """Write lines of Python that begin with the model, and with the visitor's sentence where they need it.

    Args:
        context: Names checkpoint and sentence.
        imports: Further imports, a line each.
        lines: The code.
    """
    start = [f"translator = Translator.load({checkpoint_of(context)!r})"]
    if any("source" in line for line in lines):
        start.append(f"source = {context.source!r}")
    return "\n".join(["from transformer_core.translator import Translator", imports, "", *start, *lines])
