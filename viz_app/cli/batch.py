"""Write the figures of many sentences and heads: export --texts."""

from __future__ import annotations

import argparse
import base64
import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from transformer_core import __version__
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.cli.arguments import UsageError, counted, existing
from transformer_core.cli.line_files import TOO_LONG, raw_lines
from transformer_core.config import ModelConfig
from transformer_core.progress import progress_bar
from transformer_core.storage.files import atomic_write_text, write_json
from viz_app.export.figure_arguments import (
    check_dpi,
    sentence_from_options,
    style_from_options,
    validate_choice,
    view_from_options,
)
from viz_app.export.figure_request import ModelRunner
from viz_app.export.index_page import Card, Part, index_page
from viz_app.export.provenance import checkpoint_record
from viz_app.figures import VIEWS, formats_of
from viz_app.figures.views import PLACE
from viz_app.text import texts

if TYPE_CHECKING:
    from viz_app.export.batch import Batch, HeadAddress, SentenceLine
    from viz_app.export.folder import BatchFolder

log = logging.getLogger(__name__)

# Views of one head at a time.
ONE_HEAD = tuple(
    name for name, view in VIEWS.items() if {*PLACE} <= set(view.parameters) and "other" not in view.parameters
)
_HEAD = re.compile(rf"({'|'.join(KINDS)})\.([1-9]\d{{0,3}})\.([1-9]\d{{0,3}})", re.ASCII)
INDEX, PAGE = "index.json", "index.html"
EMPTY = "empty"


def run(options: argparse.Namespace) -> int:
    """Fill the folder; return 1 when a line could not be drawn."""
    formats = _checked(options)
    style = style_from_options(options)
    check_dpi(options, formats)
    sentence, wanted = sentence_from_options(options, ""), options.heads
    options.layer, options.head, options.heads = 1, 1, None  # of each figure its own
    figure = view_from_options(options)

    from viz_app.export.batch import Batch, fill_folder
    from viz_app.export.folder import BatchFolder

    lines = list(read_lines(Path(options.texts)))
    if not lines:
        raise UsageError(f"--texts: {options.texts} is empty; it needs one sentence per line")
    runner = ModelRunner()
    places = parse_heads(wanted, runner.translator(options.checkpoint).config)
    batch = Batch(
        lines=lines,
        places=places,
        sentence=sentence,
        options=figure,
        formats=formats,
        style=style,
        dpi=options.dpi,
        sheet="png" if formats == ("png",) else "pdf",
        strict=options.strict,
    )
    folder = BatchFolder(Path(options.out[0]), force=options.force)
    total = len(places) * sum(not line.problem for line in lines)
    with progress_bar(unit="figure", total=total) as bar:
        problems = fill_folder(batch, folder, runner, lambda: bar.update())
    count = write_index(batch, folder, problems, runner)
    for line in problems:
        log.warning("line %d: %s", line.number, line.problem)
    log.info("%s: %s of %s", folder.path, counted(count, "figure"), counted(len(lines), "line"))
    return 1 if any(line.problem != EMPTY for line in problems) else 0


def _checked(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the formats. Raises UsageError for what a batch cannot use."""
    for name in ("text", "target", "kind", "layer", "head", "query"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} is for a single figure; --texts has many sentences, --heads many heads")
    if options.heads is None:
        raise UsageError(
            "missing: --heads, for example cross.4.6,encoder.2.1 (kind.layer.head), cross.4, cross, or all"
        )
    if len(options.out) > 1:
        raise UsageError("--out is the folder of the whole batch; give it once")
    existing("--texts", options.texts)
    view = validate_choice("--view", options.view, ONE_HEAD)
    allowed = formats_of(VIEWS[view])
    default = "gif" if VIEWS[view].moves else "pdf"
    formats = tuple(dict.fromkeys((options.format or default).split(",")))
    for format in formats:
        validate_choice("--format", format, allowed)
    if Path(options.out[0]).is_file():
        raise UsageError(f"--out is {options.out[0]!r}, which is a file; it must be a folder for the batch")
    if not Path(options.out[0]).resolve().parent.is_dir():
        raise UsageError(f"--out: there is no folder {Path(options.out[0]).parent}")
    return formats


def read_lines(path: Path) -> Iterator[SentenceLine]:
    """Read the lines of a file, each with its number and, where it is no sentence, the reason."""
    from viz_app.export.batch import SentenceLine

    for number, raw in enumerate(raw_lines(str(path)), start=1):
        if raw is None:
            yield SentenceLine(number, "", TOO_LONG)
            continue
        raw = raw.removesuffix(b"\n").removesuffix(b"\r")
        try:
            text = (raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw).decode("utf-8")
        except UnicodeDecodeError:
            yield SentenceLine(number, raw.decode("utf-8", "replace"), "not UTF-8")
            continue
        if "\0" in text:
            yield SentenceLine(number, text, "holds a NUL character")
        else:
            yield SentenceLine(number, text, "" if text.strip() else EMPTY)


def parse_head(name: str, layers: int, heads: int) -> tuple[Kind, int, int]:
    """Return kind, layer and head, from 0, of `cross.4.6`. Raises UsageError for a head that the model lacks."""
    if (parts := _HEAD.fullmatch(name)) and int(parts[2]) <= layers and int(parts[3]) <= heads:
        return cast(Kind, parts[1]), int(parts[2]) - 1, int(parts[3]) - 1
    raise UsageError(
        f"--head is {name!r}, but must be encoder, decoder or cross with a layer from 1 to {layers} and a head "
        f"from 1 to {heads}, such as cross.1.{heads}"
    )


def parse_heads(text: str, config: ModelConfig) -> list[HeadAddress]:
    """Return the heads of a list such as `cross.4.6,encoder.2`; layers and heads count from 1.

    Raises:
        UsageError: A part of it is no head of this model.
    """
    from viz_app.export.batch import HeadAddress

    found: dict[HeadAddress, None] = {}
    for part in text.split(","):
        names, *numbers = part.strip().split(".")
        kinds = KINDS if names == "all" and not numbers else (names,)
        for kind in kinds:
            if kind not in KINDS or len(numbers) > 2 or not all(n.isascii() and n.isdigit() for n in numbers):
                kinds_told = ", ".join(KINDS)
                raise UsageError(
                    f"--heads: {part!r} must be kind.layer.head, kind.layer, kind, or all; a kind is {kinds_told}"
                )
            limits = (config.num_layers, config.num_heads)
            for n, limit, what in zip(numbers, limits, ("layer", "head"), strict=False):
                if not 1 <= int(n) <= limit:
                    raise UsageError(f"--heads: the {what} of {part!r} must be between 1 and {limit}")
            chosen = [[int(n) - 1] for n in numbers] + [list(range(limit)) for limit in limits[len(numbers) :]]
            found |= {HeadAddress(kind, layer, head): None for layer in chosen[0] for head in chosen[1]}
    return list(found)


def write_index(batch: Batch, folder: BatchFolder, problems: Sequence[SentenceLine], runner: ModelRunner) -> int:
    """Write index.json and index.html: every line with its files, or the reason that it has none.

    Returns the number of figures.
    """
    translator = runner.translator(batch.sentence.checkpoint)
    numbers = {line.number for line in batch.lines}
    entries = [entry for entry in folder.entries.values() if (folder.path / entry["file"]).is_file()]
    files = [e for e in entries if not e.get("sheet") and e["line"] in numbers]
    index = {
        "format": 1,
        "program": "Headlight",
        "version": __version__,
        **checkpoint_record(translator),
        "view": batch.options.view,
        "style": batch.style.as_dict(),
        "heads": [str(place) for place in batch.places],
        "contact_sheets": sorted(e["file"] for e in entries if e.get("sheet")),
        "lines": [_line(line, [e for e in files if e["line"] == line.number], problems) for line in batch.lines],
    }
    write_json(folder.path / INDEX, index)
    title, about, parts = _page(batch, index, files)
    page = index_page(title, parts, language=batch.options.language, about=about, enlarged=True)
    atomic_write_text(folder.path / PAGE, page)
    return len({(entry["line"], entry["head"]) for entry in files})


def _line(line: SentenceLine, entries: Sequence[dict[str, Any]], problems: Sequence[SentenceLine]) -> dict[str, Any]:
    kept = ("file", "head", "caption", "warnings", "sha256")
    entry: dict[str, Any] = {"line": line.number, "text": line.text}
    if entries:
        entry["translation"] = entries[0]["translation"]
    if wrong := [problem.problem for problem in problems if problem.number == line.number]:
        entry["problems"] = wrong
    return entry | {"files": sorted(({k: e[k] for k in kept} for e in entries), key=lambda e: str(e["file"]))}


def _page(batch: Batch, index: dict[str, Any], files: Sequence[dict[str, Any]]) -> tuple[str, list[str], list[Any]]:
    t = texts(batch.options.language)
    parts = []
    for line in index["lines"]:
        cards = []
        of_line = [entry for entry in files if entry["line"] == line["line"]]
        for head in dict.fromkeys(entry["head"] for entry in of_line):
            same = [entry for entry in of_line if entry["head"] == head]
            cards.append(
                Card(
                    files=sorted(entry["file"] for entry in same),
                    png=base64.b64decode(same[0]["picture"]),
                    alt=same[0]["alt"],
                    title=head,
                    caption=same[0]["caption"],
                    notes=same[0]["warnings"],
                )
            )
        text = " ".join([line.get("translation", ""), *line.get("problems", ())]).strip()
        parts.append(Part(title=f"{line['line']}. {line['text']}", text=text, cards=cards))
    about = [f"{index['checkpoint']} · {index['checkpoint_sha256']}", *index["contact_sheets"], t("export.about_batch")]
    return t("export.batch_title"), about, parts
