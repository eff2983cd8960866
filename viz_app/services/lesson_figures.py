"""The picture of a scene for print, with where it comes from and the command that makes it again."""

from __future__ import annotations

import dataclasses
import shlex
from typing import TYPE_CHECKING, Any

from viz_app.components.lesson import to_address
from viz_app.export.origin import checkpoint_name
from viz_app.figures.spec import Figure
from viz_app.lessons import lesson
from viz_app.services.examples import EXAMPLES, FIRST_EXAMPLE
from viz_app.services.lessons import Context, module_of
from viz_app.services.sentence import MAX_PIECES, examine

if TYPE_CHECKING:
    from transformer_core.translator import Translator


def told_figure(name: str, context: Context) -> Figure | None:
    """The picture of the scene in `context.state`; None for a scene that has none for print.

    Raises:
        KeyError: There is no such lesson.
        Superseded: A newer request took over the model.
    """
    scene = context.state.scene or lesson(name, context.t.language).scenes[0].name
    drawn = module_of(name).figure(scene, context)
    if drawn is None:
        return None
    translator = context.service.translator
    told: dict[str, Any] = {
        "lesson": name,
        "scene": scene,
        "settings": dict(context.state.settings),
        "checkpoint": checkpoint_name(translator),
        "checkpoint_sha256": translator.checkpoint_hash,
        "source": context.text,
    }
    return dataclasses.replace(drawn, name=f"headlight_{name}_{scene}", provenance=told | dict(drawn.provenance))


def lesson_command(figure: Figure, language: str, out: str) -> str:
    """The command that makes the picture of a scene again, for a POSIX shell in the repository's root."""
    told = figure.provenance
    settings = to_address(told["settings"])
    options = [
        f"--checkpoint={told['checkpoint']}",
        f"--lesson={told['lesson']}",
        f"--scene={told['scene']}",
        *([f"--with={settings}"] if settings else []),
        f"--text={told['source']}",
        *([f"--language={language}"] if language != "en" else []),
        f"--out={out}",
    ]
    return shlex.join(["python", "-m", "viz_app", "lesson", *options])


def fitting(typed: str, translator: Translator) -> str:
    """The sentence if the model can read it, else the first example."""
    sentence = examine(typed, translator.tokenizer.source, min(MAX_PIECES, translator.max_pieces))
    return sentence.text if sentence.verdict == "good" else EXAMPLES[FIRST_EXAMPLE]
