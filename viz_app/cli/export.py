r"""Write attention figures: .pdf, .svg, .png, .tex (TikZ), .gif, .csv, .npz, .json.

  head      one head: --head cross.4.6
  layer     the heads of a layer: --layer cross.4
  heads     all heads of a kind; --layer selects a layer, --head one head of it
  all       all heads of the model
  lines     lines between tokens: --head cross.4.6, or --layer cross.4 --heads 1,3 [--query]
  steps     one head at several steps of the decoding side by side [--steps 1,4,8]
  decoding  the same as an animation (.gif)
  beam      the beam search as a tree
  tree      the tree that a parser generates; with --step, --layer, --head its attention to the words
  compare   one head against another head, sentence or checkpoint: --other-...
  grid      all heads by a measure of the model's head atlas [--measure], or by the means in a table of
            `analyse effects` or `patch` over a data set [--table FILE.means.csv]; no --text
  pruning   scores against the heads that are left [--group --score --left]; no --text

Queries and steps count from 1. Each file holds its checkpoint, sentence and the command
that reproduces it, byte for byte with the same versions; for a CSV they are in a .csv.json beside it. The command
`reproduce` runs that command and compares the files. No file holds a path of this machine: it names a model outside
the repository by the name of its folder and by its hash, by which `reproduce` finds it.

With --texts or --set, --out is a folder or a .zip: each figure in each format, and an index. In a folder, the
same command continues where an interrupted one stopped.

  --set heads     a view of one head at each of --heads: cross.4.6, cross.4, cross or all
  --set sentence  one head, all heads of the three kinds, the flow, the beam search, a parser's tree, with numbers
                  (no flow, and not of all heads, of a very long sentence). The page Translate offers the same file
  --set paper     figures like Figures 3 to 5 of "Attention Is All You Need", of our own sentences. Heads are chosen
                  by a measure among all heads of the encoder, and each caption says how; with a head atlas also
                  grids of all heads and pruning curves
  --set FILE      the figures of a file: in each line options, such as --view layer --layer cross.4

Example:
  python -m viz_app export --checkpoint checkpoints/en-de \
      --text "A man rides a bicycle." --view head --head cross.4.6 \
      --preset acl-column --out bicycle.pdf --out bicycle.csv

  python -m viz_app export --checkpoint checkpoints/en-de \
      --text "The dog is sleeping on the sofa." --view flow --word dem --unfold true --out dem.pdf --out dem.gif

  python -m viz_app export --checkpoint checkpoints/en-de --texts sentences.txt \
      --heads cross.4.6,encoder.2.1 --format pdf,png --out figures

  python -m viz_app export --checkpoint checkpoints/en-de --set sentence \
      --text "A man rides a bicycle." --head cross.4.6 --out bicycle.zip

  python -m viz_app export --checkpoint checkpoints/en-de --set paper --out paper
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from transformer_core.cli.arguments import Options, Parser, UsageError
from transformer_core.storage.files import atomic_write_bytes
from viz_app.export.command import DATA_FORMATS
from viz_app.export.figure_arguments import (
    add_sentence,
    add_style,
    add_targets,
    add_view,
    check_dpi,
    figure_from_options,
    parse_targets,
    style_from_options,
)
from viz_app.export.figure_request import ModelRunner, run_figure, table_figure
from viz_app.export.recorded import target_files
from viz_app.figures import VIEWS, Figure, Style, formats_of

log = logging.getLogger(__name__)


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.set_usage("--checkpoint DIR (--text TEXT | --texts FILE) [--set NAME] [--view NAME ...] --out FILE ...")
    add_sentence(parser)
    parser.add_argument("--texts", metavar="FILE", help="Many sentences, one per line, instead of --text.")
    parser.add_argument("--set", metavar="NAME", help="heads, sentence, paper, or a file that lists figures.")
    parser.add_argument("--format", metavar="LIST", help="Formats of the figures of a set, such as pdf,csv.")
    parser.add_path("--table", "grid: means of heads over a data set, instead of the head atlas.")
    add_view(parser)
    add_style(parser)
    add_targets(parser)


def run(options: Options) -> int:
    """Write the figures."""
    if options.texts is not None or options.set is not None:
        from viz_app.cli import figure_set

        return figure_set.run(options)
    if options.format is not None:
        raise UsageError("--format is only for --set; a single figure takes its format from the extension of --out")
    formats = parse_targets(options)

    figure, style = draw(options, formats, ModelRunner())
    return write([(figure, formats)], style, options)


def draw(options: Options, formats: Mapping[Path, str], runner: ModelRunner) -> tuple[Figure, Style]:
    """Return the figure that the options ask for, and its style. Raises UsageError for options it cannot have."""
    request, style = figure_from_options(options), style_from_options(options)
    check_dpi(options, tuple(formats.values()))
    _check_formats(request.options.view, formats)

    from transformer_core.translator import SourceTooLong

    if options.table is not None:
        if request.options.view != "grid" or request.options.measure:
            raise UsageError("--table needs --view grid, and no --measure")
        return table_figure(request.options, Path(options.table), options.checkpoint, runner), style
    try:
        return run_figure(request.options, request.sentence, runner, other=request.other), style
    except SourceTooLong as error:
        raise UsageError(f"--text or --target: {error}") from error


def write(figures: Sequence[tuple[Figure, dict[Path, str]]], style: Style, options: Options) -> int:
    """Write figures with their files. Returns 1 and writes nothing when --strict finds a problem."""
    warnings = [_warn(figure, style, formats.values()) for figure, formats in figures]
    if any(warnings) and options.strict:
        log.error("nothing was written, because of --strict")
        return 1
    for figure, formats in figures:
        for path, data in target_files(figure, formats, style, dpi=options.dpi).items():
            atomic_write_bytes(path, data)
            log.info("%s: %s", path, figure.caption)
    return 0


def _warn(figure: Figure, style: Style, formats: Iterable[str]) -> bool:
    """Log problems of print in drawn formats. Returns whether there are any."""
    from viz_app.figures import check

    if set(formats) <= set(DATA_FORMATS):
        return False
    issues = check.find_print_issues(figure, style)
    for warning in issues:
        log.warning("%s", check.message(warning))
    return bool(issues)


def _check_formats(view: str, formats: Mapping[Path, str]) -> None:
    """Raise UsageError for a format that a view does not have, before anything is computed."""
    allowed = formats_of(VIEWS[view])
    for out, format in formats.items():
        if format not in allowed:
            endings = ", ".join(f".{each}" for each in allowed)
            raise UsageError(f"--out is {str(out)!r}, but the view {view} can only be {endings}")
