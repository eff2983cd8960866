"""Write a set of figures of one or many sentences into a folder or a zip: export --texts or --set."""

from __future__ import annotations

import argparse
import logging
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from transformer_core.cli.arguments import Parser, UsageError, check_new_file, counted, existing, output_path
from transformer_core.progress import tracked
from transformer_core.storage.files import CheckpointError, atomic_write_bytes, read_regular
from viz_app.cli.sentence_lines import EMPTY, SentenceLine, read_lines
from viz_app.export import BUNDLE_FORMATS, BundleItem
from viz_app.export.bundle import pack
from viz_app.export.command import DATA_FORMATS, command_for_set
from viz_app.export.figure_arguments import (
    add_view,
    check_dpi,
    parse_heads,
    sentence_from_options,
    style_from_options,
    validate_choice,
    view_from_options,
)
from viz_app.export.figure_request import ForwardResult, ModelRunner, render
from viz_app.export.packing import Folder, Zip
from viz_app.figures import FORMATS, VIEWS, FigureOptions
from viz_app.figures.option import declared, flag
from viz_app.figures.views import PLACE
from viz_app.text import texts

log = logging.getLogger(__name__)

HEADS, SENTENCE, PAPER = SETS = ("heads", "sentence", "paper")
MAX_LIST = 1_000_000  # bytes of a file with a figure a line
# Views of one head at a time.
ONE_HEAD = tuple(
    name for name, view in VIEWS.items() if {*PLACE} <= set(view.parameters) and "other" not in view.parameters
)
_TEXT = {"text", "texts", "target", "beam", "alpha", "prefix", "split"}
_B = {"name", "other_name", "other_text", "other_target", "other_checkpoint"}
_CONTENT = {*_TEXT, *_B, *declared(FigureOptions), "view", "table"}
# What each set takes of that; a file has the rest in its lines.
_TAKES = {HEADS: _CONTENT - _B - {"kind", "layer", "head", "table"}, SENTENCE: {*_TEXT, *PLACE}, PAPER: set[str]()}

Item = Callable[..., BundleItem]
Figures = Callable[[ForwardResult], Iterable[BundleItem]]


def run(options: argparse.Namespace) -> int:
    """Fill the folder or the zip; return 1 when a line could not be drawn."""
    name, out = options.set or HEADS, output_path(options.out[0])
    formats = _checked(options, name, out)
    style = style_from_options(options)
    if name == PAPER and options.preset is None:
        style = replace(style, preset="acl-page")
    item = partial(BundleItem, style=style, dpi=options.dpi, formats=formats if options.format else None)
    runner, about, title = ModelRunner(), list[str](), texts(options.language)("export.set_title")
    items: Iterable[BundleItem]
    if name == PAPER:
        items = _paper(options, runner, item)
    else:
        make = {HEADS: _heads, SENTENCE: _sentence}.get(name, _listed)
        drawn = not set(formats) <= set(DATA_FORMATS)
        items = _of_lines(options, make(options, runner, item), runner, about, drawn)
        if name == SENTENCE and options.texts is None:
            from viz_app.explorer_view.sentence_bundle import sentence_index

            items = list(items)
            title, about = sentence_index(items[0])
    place = Zip() if out.suffix == ".zip" else Folder(out, force=options.force)
    many = options.texts is not None
    words: dict[str, Any] = {"title": title, "language": options.language, "about": about}
    count = pack(tracked(items, "figure"), place, formats, **words, thumbnails=many)
    if isinstance(place, Zip):
        atomic_write_bytes(out, place.data())
    log.info("%s: %s", out, counted(count, "figure"))
    return 1 if many and about else 0


def _checked(options: argparse.Namespace, name: str, out: Path) -> Sequence[str]:
    """Return the formats. Raises UsageError for options that the set cannot use."""
    if name not in SETS:
        existing("--set", name)
    if wrong := sorted((_CONTENT - _TAKES.get(name, _TEXT)) & options.explicit.keys()):
        raise UsageError(f"{flag(wrong[0])}: the set {name} does not take it; it is for a single figure")
    if name != PAPER and (options.text is None) == (options.texts is None):
        raise UsageError("give either --text (a sentence), or --texts (a file with one sentence per line)")
    if name == HEADS and options.heads is None:
        raise UsageError("missing: --heads, for example cross.4.6,encoder.2.1 (kind.layer.head), cross.4, or all")
    if name == HEADS:
        validate_choice("--view", options.view, ONE_HEAD)
    if options.texts is not None:
        existing("--texts", options.texts)
    if len(options.out) > 1:
        raise UsageError("--out is the folder or the zip of the whole set; give it once")
    if out.suffix == ".zip":
        check_new_file("--out", out, options.force)
    elif out.is_file() or not out.resolve().parent.is_dir():
        raise UsageError(f"--out is {str(out)!r}, but must be a .zip, or a folder in one that exists")
    default = {SENTENCE: BUNDLE_FORMATS, PAPER: ("pdf", "json")}.get(name, ("pdf",))
    formats = tuple(dict.fromkeys(options.format.split(","))) if options.format else default
    for format in formats:
        validate_choice("--format", format, FORMATS)
    check_dpi(options, formats)
    return formats


def _of_lines(
    options: argparse.Namespace, figures: Figures, runner: ModelRunner, problems: list[str], drawn: bool
) -> Iterator[BundleItem]:
    """Yield the figures of each sentence; the problem of a line among several is noted, and its figures left out."""
    from transformer_core.translator import SourceTooLong

    sentence, many = sentence_from_options(options, ""), options.texts is not None
    lines = list(read_lines(Path(options.texts))) if many else [SentenceLine(1, options.text)]
    if not lines:
        raise UsageError(f"--texts: {options.texts} is empty; it needs one sentence per line")
    digits, logged = max(3, len(str(len(lines)))), set[str]()
    for line in lines:
        problem = line.problem
        try:
            for each in figures(runner.run(replace(sentence, text=line.text))) if not problem else ():
                stem = each.figure.name.removeprefix("headlight_")
                each = replace(each, name=f"{line.number:0{digits}}_{stem}" if many else "")
                each = _with_notes(each, logged) if drawn else each
                if not (options.strict and each.notes):
                    yield each
                else:
                    problem = " ".join(each.notes)
        except SourceTooLong as error:
            problem = str(error) if many else f"--text: {error}"
        except UsageError as error:  # such as a step that this translation does not have
            problem = str(error)
        if problem and not many:
            raise UsageError(problem)
        if problem and problem != EMPTY:
            problems.append(f"{line.number}. {line.text}: {problem}")
            log.warning("line %d: %s", line.number, problem)


def _with_notes(item: BundleItem, logged: set[str]) -> BundleItem:
    """Return an item with what would not print well; each kind of problem is logged once."""
    from viz_app.figures import check

    issues = check.find_print_issues(item.figure, item.style)
    for issue in issues:
        if issue.code not in logged:
            log.warning("%s: %s", item.name or item.figure.name, check.message(issue))
            logged.add(issue.code)
    notes = [check.message(issue, item.figure.language) for issue in issues]
    return replace(item, notes=[*item.notes, *notes])


def _heads(options: argparse.Namespace, runner: ModelRunner, item: Item) -> Figures:
    """Return the set of a view at each of several heads."""
    config = runner.translator(options.checkpoint).config
    places = parse_heads(options.heads, config.num_layers, config.num_heads)
    one = argparse.Namespace(**{**vars(options), "layer": 1, "head": 1, "heads": None})
    view = view_from_options(one)
    every = [replace(view, kind=kind, layer=layer, head=head) for kind, layer, head in places]
    return lambda seen: (item(figure=render(each, seen)) for each in every)


def _listed(options: argparse.Namespace, runner: ModelRunner, item: Item) -> Figures:
    """Return the set that a file lists: in each line the options of a figure. Raises UsageError for a bad line."""
    parser, every = Parser("export", package="viz_app"), list[FigureOptions]()
    add_view(parser)
    try:
        text = read_regular(Path(options.set), MAX_LIST).decode("utf-8", "replace")
    except (CheckpointError, OSError) as error:
        raise UsageError(f"--set: {error}") from error
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            words = parser.options(shlex.split(line))
            figure = view_from_options(words)
        except ValueError as error:
            raise UsageError(f"--set: line {number} of {options.set}: {error}") from error
        if VIEWS[figure.view].of_atlas or _B & words.explicit.keys():
            raise UsageError(f"--set: line {number} of {options.set} must be a figure of the sentence alone")
        every.append(figure)
    return lambda seen: (item(figure=render(each, seen)) for each in every)


def _sentence(options: argparse.Namespace, runner: ModelRunner, item: Item) -> Figures:
    """Return the set of everything of a sentence; its first head is one that looks at words unless given."""
    from viz_app.explorer_view.sentence_bundle import sentence_items

    view = view_from_options(options) if {"kind", "layer", "head"} & options.explicit.keys() else None
    return lambda seen: sentence_items(seen, view or _best_head(options, seen), item)


def _best_head(options: argparse.Namespace, seen: ForwardResult) -> FigureOptions:
    from transformer_core.analysis.attention_sinks import most_informative_head

    _, layer, head = most_informative_head(seen.maps, "cross")
    return FigureOptions(layer=layer, head=head, unit=options.unit or "tokens", language=options.language)


def _paper(options: argparse.Namespace, runner: ModelRunner, item: Item) -> Iterator[BundleItem]:
    """Yield figures like those in the paper's appendix, with the command of the whole set."""
    from viz_app.export.paper import paper_figures

    for figure in paper_figures(options.checkpoint, runner, language=options.language):
        made = item(figure=figure)
        model = {**runner.record(options.checkpoint), "view": {"language": options.language}}
        command = command_for_set(PAPER, model, made.style, PAPER, formats=made.formats)
        yield replace(made, figure=replace(figure, provenance={**figure.provenance, "command": command}))
