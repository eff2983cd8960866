"""Turn a translator of another program into a checkpoint, with its vocabulary and its search.

SOURCE is a folder as transformers saves it. No code in it is run, and nothing outside it is read.
The weights are rounded to float16. Its languages are what its files state, or what you name:
ko, kor or kor_Hang. docs/models.md shows every step.

Example:
  python -m transformer_core convert opus-mt-ko-en --out checkpoints/ko-en
"""

from __future__ import annotations

import logging
from dataclasses import asdict
from pathlib import Path

from transformer_core.cli.arguments import Options, Parser, write_summary
from transformer_core.storage.manifest import Manifest

log = logging.getLogger(__name__)


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_path("source", "Folder of the model.", form="DIR")
    parser.add_new_checkpoint()
    parser.add_languages()


def run(options: Options) -> int:
    """Convert a model."""
    out = options.out

    from transformer_core.conversion import convert
    from transformer_core.progress import progress_bar

    with progress_bar(unit="weight") as bar:
        result = convert(
            Path(options.source),
            out,
            source_language=options.source_language,
            target_language=options.target_language,
            on_progress=bar.update,
        )
    model = result.model
    log.info(
        "%s: %s, %d + %d layers, %d heads, width %d, %s parameters",
        *(out, result.family, model.num_layers, model.num_layers, model.num_heads, model.d_model),
        f"{result.parameters:,}",
    )
    for note in result.notes:
        log.warning("%s", note)
    facts = {name: value for name, value in asdict(result).items() if name != "model"}
    write_summary({"checkpoint": str(out), "checkpoint_hash": Manifest.read(out).weights_hash, **facts})
    return 0
