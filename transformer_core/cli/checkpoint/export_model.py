"""export-model: a checkpoint in, a model of another program out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from transformer_core.cli.arguments import Parser, check_replaced_folder, write_summary
from transformer_core.storage.files import EXPORT_FILE

log = logging.getLogger(__name__)

PROGRAMS = ("transformers", "ctranslate2", "onnx")


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "export-model",
        usage="--checkpoint DIR --to PROGRAM --out DIR [--force]",
        description=(
            "Write a checkpoint as a model of another program, with its vocabulary and its search.\n\n"
            "transformers: a folder that MarianMTModel and MarianTokenizer load.\n"
            "ctranslate2: a folder that CTranslate2 loads; needs the package of that name.\n"
            "onnx: encoder and decoder step, with all attention weights; needs onnx and onnxscript.\n"
            "What a program has no counterpart of is an error, or a line that says what differs: docs/models.md."
        ),
        example="  python -m transformer_core export-model --checkpoint checkpoints/en-de --to transformers --out hf",
    )
    result.add_checkpoint()
    result.add_argument("--to", choices=PROGRAMS, required=True, help="The program that is to read the model.")
    result.add_argument("--out", type=str, required=True, metavar="DIR", help="The new folder.")
    result.add_argument("--force", action="store_true", help="Replace a folder that this command wrote.")
    return result


def run(arguments: Sequence[str]) -> int:
    """Export a model."""
    options = parser().options(arguments)
    out = Path(options.out)
    check_replaced_folder(out, options.force, "model that was exported", is_kind=(out / EXPORT_FILE).is_file())

    from transformer_core.model_export import export_model

    result = export_model(Path(options.checkpoint), out, options.to)
    log.info("%s: for %s, %s bytes", out, result.program, f"{sum(result.files.values()):,}")
    for note in result.notes:
        log.warning("%s", note)
    write_summary(
        {
            "folder": str(out),
            "program": result.program,
            "checkpoint_hash": result.checkpoint_hash,
            "licence": result.licence,
            "files": result.files,
            "notes": list(result.notes),
        }
    )
    return 0
