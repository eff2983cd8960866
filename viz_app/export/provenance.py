"""Provenance of a figure's numbers, as it is written into its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.parsing.vocabulary import generates_trees
from transformer_core.storage.bundled_models import shipped_name
from viz_app.serving.models.registry import ROOT

if TYPE_CHECKING:
    from transformer_core.translator import TeacherForcedOutput, Translation, Translator


def checkpoint_name(translator: Translator) -> str:
    """Return the checkpoint as a command names it; empty for a model that has none."""
    return folder_name(Path(translator.checkpoint.folder)) if translator.checkpoint is not None else ""


def folder_name(folder: Path) -> str:
    """Return a folder as a command names it: a shipped one or one in the repository by its path, others by name.

    That path means the same to everybody; another one would only tell of one computer.
    """
    if (name := shipped_name(folder)) is not None:
        return name
    folder = folder.resolve()
    return folder.relative_to(ROOT).as_posix() if folder.is_relative_to(ROOT) else folder.name


def checkpoint_record(translator: Translator) -> dict[str, str]:
    """Return the checkpoint and its hash."""
    return {"checkpoint": checkpoint_name(translator), "checkpoint_sha256": translator.checkpoint_hash}


def make_provenance(
    translator: Translator,
    translation: Translation | TeacherForcedOutput,
    *,
    source: str = "",
    beam: int | None = None,
    alpha: float | None = None,
    prefix: str = "",
) -> dict[str, Any]:
    """Return checkpoint, sentence and search, which a command needs to reproduce the figure.

    Args:
        translator: The model.
        translation: What it wrote, or what it was given to read.
        source: The sentence; only needed when the translation was given.
        beam: Width of the search, when it was not the checkpoint's own.
        alpha: Length penalty of the search, when it was not the checkpoint's own.
        prefix: Tokens that the translation was forced to begin with, a space between.
    """
    is_forced = not hasattr(translation, "source")
    provenance: dict[str, Any] = {
        **checkpoint_record(translator),
        "source": source if is_forced else translation.source,  # type: ignore[union-attr]
        "translation": translation.text,
    }
    if is_forced:
        provenance["target_given"] = True
    if generates_trees(translator.tokenizer):  # its source is words; what is split again need not stay as it is
        provenance["split"] = False
    return provenance | {
        name: value
        for name, value in (("beam", beam), ("alpha", alpha), ("prefix", prefix or None))
        if value is not None
    }
