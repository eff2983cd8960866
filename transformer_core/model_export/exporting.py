"""Export of a checkpoint to another program, with a record of its origin."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer_core import __version__
from transformer_core.checkpoint import Checkpoint, load_checkpoint
from transformer_core.model_export import marian_folder, onnx_folder
from transformer_core.model_export.refusals import ExportError
from transformer_core.model_export.search import search_notes
from transformer_core.storage.files import atomic_directory, read_regular, write_contents

_MAX_CARD_BYTES = 1_000_000

# Program -> writer of its folder, which returns notes on differences; and an example of its use.
WRITERS: dict[str, tuple[Callable[[Checkpoint, Path], Sequence[str]], Callable[[Checkpoint], str]]] = {
    "transformers": (marian_folder.write_marian, marian_folder.usage),
    "onnx": (onnx_folder.write_onnx, onnx_folder.usage),
}


@dataclass(frozen=True, kw_only=True)
class Exported:
    """Result of an export.

    Args:
        program: The other program.
        checkpoint_hash: `weights_hash` of the model.
        licence: Licence stated by the checkpoint; empty for none.
        files: Name -> bytes.
        notes: Differences from the checkpoint, in words.
    """

    program: str
    checkpoint_hash: str
    licence: str
    files: dict[str, int]
    notes: tuple[str, ...]


def export_model(folder: Path, out: Path, program: str) -> Exported:
    """Export a checkpoint to another program; an existing folder is replaced only on success.

    Args:
        folder: The checkpoint.
        out: The new folder.
        program: The program that will read it.

    Raises:
        CheckpointError: The checkpoint is missing or damaged.
        ExportError: The program lacks one of its options, which the message names.
    """
    if program not in WRITERS:
        raise ExportError(f"unknown program {program!r}; known are {', '.join(WRITERS)}")
    checkpoint = load_checkpoint(folder)
    write, usage = WRITERS[program]
    converted = checkpoint.metrics.get("converted")
    licence = str(converted.get("licence", "")) if isinstance(converted, dict) else ""
    licence = licence if re.fullmatch(r"[\w.+-]{1,80}", licence) else ""  # else no name of one, but a stranger's text
    with atomic_directory(out) as partial:
        notes = (*write(checkpoint, partial), *search_notes(checkpoint.decoding))
        card = _card(checkpoint, program, usage(checkpoint), licence, notes)
        (partial / "README.md").write_text(card, encoding="utf-8")
        origin = {"program": program, "checkpoint_hash": checkpoint.weights_hash, "licence": licence}
        write_contents(partial, headlight=__version__, **origin, notes=list(notes))
        files = {each.name: each.stat().st_size for each in sorted(partial.iterdir())}
    return Exported(program=program, checkpoint_hash=checkpoint.weights_hash, licence=licence, files=files, notes=notes)


def _card(checkpoint: Checkpoint, program: str, usage: str, licence: str, notes: Sequence[str]) -> str:
    """Return the model card: origin, use, differences, and below them the checkpoint's own card."""
    title = re.sub(r"[^\w.-]", " ", checkpoint.folder.resolve().name)[:100]
    card = read_regular(checkpoint.folder / "README.md", _MAX_CARD_BYTES).decode("utf-8", "replace")
    return "\n".join(
        [
            *(["---", f"license: {licence}", "---", ""] if licence else []),
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
            card,
        ]
    )
