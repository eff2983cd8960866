"""Recipes: the command and the Python code that compute the numbers of a bench without the app."""

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
        python: For a notebook.
        command: For a shell; "" where no command computes them.
    """

    python: str
    command: str = ""


def recipe(context: LessonContext, imports: str, *lines: str, command: Sequence[str] = (), out: str = "") -> Recipe:
    """Write a recipe for the checkpoint, and for the visitor's sentence where it is needed.

    Args:
        context: Names checkpoint and sentence.
        imports: Imports of the Python code beside the model, a line each.
        lines: The Python code; the last one is the result.
        command: Name and options of an analysis of the core; it reads the sentence unless it is given others.
        out: File that the command writes.
    """
    checkpoint = str(checkpoint_record(context.service.translator)["checkpoint"])
    start = [f"translator = Translator.load({checkpoint!r})"]
    if any("source" in line for line in lines):
        start.append(f"source = {context.source!r}")
    python = "\n".join(["from transformer_core.translator import Translator", imports, "", *start, *lines])
    if not command:
        return Recipe(python)
    name, *options = command
    source = [] if {"--clean", "--task"} & set(options) else ["--source", context.source]
    program = ["python", "-m", "transformer_core", "analyse", name, "--checkpoint", checkpoint]
    return Recipe(python, shlex.join([*program, *source, *options, "--out", out]))
