"""A checkpoint in, a folder of another program out, and the record of where it came from."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer_core import __version__
from transformer_core.checkpoint import Checkpoint, load_checkpoint
from transformer_core.model_export import ctranslate2_folder, marian_folder, onnx_folder
from transformer_core.model_export.refusals import ExportError
from transformer_core.model_export.search import search_notes
from transformer_core.storage.files import EXPORT_FILE, atomic_directory, read_regular, write_json

_MAX_CARD_BYTES = 1_000_000

# For each program what writes its folder and returns what is not carried over, and how to use that folder.
WRITERS: dict[str, tuple[Callable[[Checkpoint, Path], Sequence[str]], Callable[[Checkpoint], str]]] = {
    "transformers": (marian_folder.write_marian, marian_folder.usage),
    "ctranslate2": (ctranslate2_folder.write_ctranslate2, ctranslate2_folder.usage),
    "onnx": (onnx_folder.write_onnx, onnx_folder.usage),
}


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What an export did.

    Args:
        program: For which program.
        checkpoint_hash: Of the model, its `weights_hash`.
        licence: As the checkpoint states it; empty where that says nothing.
        files: Name -> bytes.
        notes: What is not carried over, in words.
    """

    program: str
    checkpoint_hash: str
    licence: str
    files: dict[str, int]
    notes: tuple[str, ...]


def export_model(folder: Path, out: Path, program: str) -> Exported:
    """Write a checkpoint as a model of another program; an existing folder is replaced only when all is done.

    Args:
        folder: The checkpoint.
        out: The new folder.
        program: Which program is to read it.

    Raises:
        CheckpointError: The checkpoint is missing or damaged.
        ExportError: The program has no counterpart of one of its options; the message names it.
    """
    if program not in WRITERS:
        raise ExportError(f"unknown program {program!r}; known are {', '.join(WRITERS)}")
    checkpoint = load_checkpoint(folder)
    write, usage = WRITERS[program]
    licence = str(checkpoint.metrics.get("converted", {}).get("licence", ""))
    with atomic_directory(out) as partial:
        notes = (*write(checkpoint, partial), *search_notes(checkpoint.decoding))
        card = _card(checkpoint, program, usage(checkpoint), licence, notes)
        (partial / "README.md").write_text(card, encoding="utf-8")
        origin = {"program": program, "checkpoint_hash": checkpoint.weights_hash, "licence": licence}
        write_json(partial / EXPORT_FILE, {"headlight": __version__, **origin, "notes": list(notes)})
        files = {each.name: each.stat().st_size for each in sorted(partial.iterdir())}
    return Exported(program=program, checkpoint_hash=checkpoint.weights_hash, licence=licence, files=files, notes=notes)


def _card(checkpoint: Checkpoint, program: str, usage: str, licence: str, notes: Sequence[str]) -> str:
    """Origin, use, differences, and below them the model's own card with its data and licences."""
    title = re.sub(r"[^\w.-]", " ", checkpoint.folder.resolve().name)[:100]
    own = read_regular(checkpoint.folder / "README.md", _MAX_CARD_BYTES).decode("utf-8", "replace")
    return "\n".join(
        [
            *(["---", f"license: {licence}", "---", ""] if re.fullmatch(r"[\w.+-]{1,80}", licence) else []),
            f"# {title}, for {program}",
            "",
            f"Exported by Headlight {__version__} from the checkpoint with the hash `{checkpoint.weights_hash}`.",
            f"Licence of the model: {licence or 'its files state none; the card below has those of its data'}.",
            "",
            usage,
            "## What is not the same",
            "",
            *([f"* {note}" for note in notes] or ["Nothing that is known."]),
            "",
            "---",
            "",
            own,
        ]
    )
