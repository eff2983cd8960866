r"""Write one head at a snapshot of its model's training, from a checkpoint's history.

Formats are .pdf, .svg, .png, .tex, .csv, .npz and .json; a .gif shows all snapshots in turn. A figure
has the style options of the command export and holds its command; for a CSV it is in a .csv.json beside it.

Example:
  python -m viz_app growth --history checkpoints/en-fr-small/derived/history --head cross.6.5 \
      --sentence 8 --preset slide --out grown.pdf --out grown.gif
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from transformer_core.cli.arguments import Options, Parser, UsageError, existing
from transformer_core.storage.bundled_models import find_checkpoint
from viz_app.cli.export import write
from viz_app.export.figure_arguments import (
    add_language,
    add_style,
    add_targets,
    check_dpi,
    parse_head,
    parse_targets,
    style_from_options,
)
from viz_app.export.provenance import folder_name
from viz_app.figures import RENDERERS, Figure
from viz_app.text import texts

if TYPE_CHECKING:
    from transformer_core.history.snapshots import History
    from viz_app.model_card.head_snapshot import HeadSnapshot


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.set_usage("--history DIR [--head KIND.LAYER.HEAD] [--at STEP] [--sentence N] --out FILE ...")
    add = parser.add_argument
    add("--history", type=find_checkpoint, required=True, metavar="DIR", help="Folder with history.json.")
    add("--head", metavar="HEAD", help="Such as cross.6.5, from 1; the best aligner unless given.")
    add("--at", type=int, metavar="STEP", help="The snapshot after this step; the last unless given.")
    add("--sentence", type=int, default=1, metavar="N", help="Number of the sentence, from 1.")
    add_language(parser)
    add_style(parser)
    add_targets(parser)


def run(options: Options) -> int:
    """Write the files."""
    folder = _located(Path(options.history))
    formats = parse_targets(options)
    style = style_from_options(options)
    check_dpi(options, tuple(formats.values()))
    return write(_wanted(options, folder, formats), style, options)


def _located(folder: Path) -> Path:
    """Return the folder of --history; in a checkpoint, the place before `derived/` also leads to it."""
    moved = Path(find_checkpoint(str(folder.parent / "derived" / folder.name)))
    if not folder.is_dir() and moved.is_dir():
        return moved
    return existing("--history", str(folder), folder=True)


def _wanted(options: Options, folder: Path, formats: dict[Path, str]) -> list[tuple[Figure, dict[Path, str]]]:
    """Return the figures with their files: the animation for GIFs, the head at its snapshot for the others."""
    from transformer_core.history.snapshots import History
    from viz_app.model_card.head_snapshot import model_name

    history = History.load(folder)
    seen = _seen(options, history)
    args = model_name(folder), texts(options.language), folder_name(folder)
    moving = {out: format for out, format in formats.items() if RENDERERS[format].moves}
    still = {out: format for out, format in formats.items() if not RENDERERS[format].moves}
    drawn = [
        (seen.figure(history, *args) if still else None, still),
        (seen.animation(history, *args) if moving else None, moving),
    ]
    wanted: list[tuple[Figure, dict[Path, str]]] = [(figure, outs) for figure, outs in drawn if figure is not None]
    if not wanted:
        raise UsageError(f"--head: {seen.place} was trained without a mask, but decoder figures need a masked decoder")
    return wanted


def _seen(options: Options, history: History) -> HeadSnapshot:
    """Return the head at its snapshot. Raises UsageError for one that the history lacks."""
    from viz_app.model_card.head_snapshot import HeadSnapshot

    steps, sentences = history.steps, len(history.sentences)
    at = steps[-1] if options.at is None else options.at
    if at not in steps:
        raise UsageError(f"--at is {at}, but must be one of {', '.join(map(str, steps))}")
    if not 1 <= options.sentence <= sentences:
        raise UsageError(f"--sentence is {options.sentence}, but must be between 1 and {sentences}")
    place = options.head or HeadSnapshot.start(history).place
    kind, layer, head = parse_head(place, history.model["layers"], history.model["heads"])
    return HeadSnapshot(options.sentence - 1, kind, steps.index(at), layer, head)
