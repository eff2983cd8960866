"""Write a checkpoint as a model of another program, with its vocabulary and its search.

transformers: a folder that MarianMTModel and MarianTokenizer load.
onnx: encoder and decoder step, with all attention weights; needs onnx and onnxscript.

An option without a counterpart in the program is an error, or a line that names the difference: docs/models.md.

Example:
  python -m transformer_core export-model --checkpoint checkpoints/en-de --to transformers --out hf
"""

from __future__ import annotations

import logging
from dataclasses import asdict
from pathlib import Path

from transformer_core.cli.arguments import Options, Parser, write_summary
from transformer_core.storage.files import contents

log = logging.getLogger(__name__)

PROGRAMS = ("transformers", "onnx")


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_checkpoint()
    parser.add_choice("--to", PROGRAMS, "The program that is to read the model.", required=True)
    parser.add_output_folder("The new folder.", "model that was exported", contents)


def run(options: Options) -> int:
    """Export a model."""
    out = options.out

    from transformer_core.model_export import export_model

    result = export_model(Path(options.checkpoint), out, options.to)
    log.info("%s: for %s, %s bytes", out, result.program, f"{sum(result.files.values()):,}")
    for note in result.notes:
        log.warning("%s", note)
    write_summary({"folder": str(out), **asdict(result)})
    return 0
