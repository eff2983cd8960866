"""Write figures like Figures 3 to 5 of "Attention Is All You Need", for an English model.

They show a long-distance dependency of a verb, an anaphor, and heads that follow the structure of a sentence.

The sentences are our own. Heads are chosen by measure among all heads of the encoder, and each caption
says how, with the share they reach and that of uniform attention. The shares of all heads are in the
record of each file.

Where the model has a head atlas, grids of all heads and the pruning curves are written, too.

Example:
  python -m viz_app paper-figures --checkpoint checkpoints/en-de --out paper
"""

from __future__ import annotations

import logging
import shlex
from dataclasses import replace
from pathlib import Path

from transformer_core.cli.arguments import Options, Parser, UsageError
from transformer_core.storage.files import atomic_write_bytes
from viz_app.export.figure_arguments import add_language, validate_choice
from viz_app.export.figure_request import ModelRunner, Sentence
from viz_app.export.provenance import checkpoint_name
from viz_app.figures import Figure, Style, export, file_name
from viz_app.figures.model.style import PRESETS

log = logging.getLogger(__name__)

FORMATS = ("pdf", "svg", "png", "json")
DEFAULT_FORMATS = "pdf,json"
DEFAULT_PRESET = "acl-page"


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_checkpoint()
    parser.add_argument("--out", required=True, metavar="FOLDER", help="Folder; created if missing.")
    parser.add_argument("--format", default=DEFAULT_FORMATS, metavar="LIST", help=f"{', '.join(FORMATS)}.")
    parser.add_choice("--preset", PRESETS, "Preset for a venue.", default=DEFAULT_PRESET, form="NAME")
    add_language(parser)
    parser.add_argument("--force", action="store_true", help="Replace existing files.")


def run(options: Options) -> int:
    """Write the figures."""
    formats = tuple(dict.fromkeys(options.format.split(",")))
    for format in formats:
        validate_choice("--format", format, FORMATS)
    out = Path(options.out)
    if out.is_file() or not out.resolve().parent.is_dir():
        raise UsageError(f"--out is {options.out!r}, but must be a folder whose parent exists")
    there = sorted(file.name for file in out.glob("headlight_paper_*")) if out.is_dir() else []
    if there and not options.force:
        raise UsageError(f"--out: {out / there[0]} already exists; add --force to replace it, or name another folder")

    from viz_app.export.paper import SENTENCES, atlas_figures, paper_figures

    runner = ModelRunner()
    results = {text: runner.run(Sentence(checkpoint=options.checkpoint, text=text)) for text in SENTENCES}
    name = checkpoint_name(runner.translator(options.checkpoint))
    words = ["python", "-m", "viz_app", "paper-figures", f"--checkpoint={name}", "--out=paper", *_choices(options)]
    style = Style(preset=options.preset)
    figures: list[Figure] = [*paper_figures(results, language=options.language)]
    figures += atlas_figures(options.checkpoint, runner, language=options.language)
    out.mkdir(exist_ok=True)
    for figure in figures:
        recorded = replace(figure, provenance={**figure.provenance, "command": shlex.join(words)})
        for format in formats:
            path = out / file_name(recorded, format)
            atomic_write_bytes(path, export(recorded, format, style))
            log.info("%s", path)
        log.info("%s", figure.caption)
    return 0


def _choices(options: object) -> list[str]:
    """Return the options that differ from the default."""
    defaults = {"format": DEFAULT_FORMATS, "preset": DEFAULT_PRESET, "language": "en"}
    return [f"--{name}={value}" for name, default in defaults.items() if (value := getattr(options, name)) != default]
