"""Make the figure of a file again, and compare both byte for byte.

FILE is a figure of `export`: .pdf, .svg, .png, .tex, .gif, .npz, .json, or .csv with its .csv.json beside it.
The command in it is read as data: one `export` with options of a figure. No shell runs it, and no path in it counts.
The model is found by the hash in the file, in the folders of --checkpoint and among the shipped models. A figure of
`export --table` needs --table: a table with the hash in the file. Nothing is written. Exit status 0 when the files are
equal, 1 when they differ.

Example:
  python -m viz_app reproduce bicycle.pdf --checkpoint my-model other-model
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transformer_core.cli.arguments import Options, Parser, UsageError, write_summary, write_table
from transformer_core.storage.bundled_models import SHIPPED, find_checkpoint
from transformer_core.storage.files import CheckpointError, printable, read_regular, sha256
from transformer_core.storage.manifest import Manifest
from viz_app.cli.export import draw
from viz_app.export import export_files
from viz_app.export.command import command_words
from viz_app.export.embedded_record import MAX_FILE_BYTES, read_record
from viz_app.export.figure_arguments import add_sentence, add_style, add_view, format_from_suffix
from viz_app.export.figure_request import ModelRunner
from viz_app.export.head_means import MAX_BYTES

_OPTION = re.compile(r"--([a-z-]+)=(.*)", re.DOTALL)
_MAX_BEAM = 16
_MAX_SHOWN = 20  # differences of two records
_MAX_WIDTH = 66  # characters of one value: a hash


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.set_usage("FILE [--checkpoint DIR ...] [--table FILE.means.csv]")
    parser.add_path("file", "Figure of `export`.")
    about = "Folders of models in which to look; the shipped ones are always among them."
    parser.add_path("--checkpoint", about, form="DIR", many=True, read=find_checkpoint)
    parser.add_path("--table", "Table of a figure of `export --table`.")


def run(options: Options) -> int:
    """Compare a file with what its command makes; return 1 when they differ."""
    path = Path(options.file)
    format = format_from_suffix("FILE", path.name)
    original = [_read(path), *([_read(path.with_name(f"{path.name}.json"))] if format == "csv" else [])]
    record = read_record(original[-1], format)
    arguments, names = _figure_options(record, options.checkpoint, options.table)

    figure, style = draw(arguments, {path: format}, ModelRunner(names))
    made = list(export_files(figure, format, style, dpi=arguments.dpi).values())
    return _report(path.name, record, read_record(made[-1], format), b"".join(original), b"".join(made))


def _read(path: Path) -> bytes:
    try:
        return read_regular(path.resolve(), MAX_FILE_BYTES)
    except (CheckpointError, OSError) as error:
        raise UsageError(f"FILE: {error}") from error


def _figure_options(
    record: Mapping[str, Any], folders: Sequence[str], table: str | None
) -> tuple[Options, dict[str, str]]:
    """Return the options of the command in a record, and what the record calls each folder of a model, and the table.

    Raises:
        UsageError: It is no single `export` of a figure, no folder holds its model, or the table is not the one given.
    """
    try:
        words = command_words(str(record.get("command", "")))
    except ValueError as error:
        raise UsageError(f"FILE holds no command that can be run as data: {error}") from error
    if words[:4] != ["python", "-m", "viz_app", "export"]:
        raise UsageError(f"FILE: only figures of `export` are made again, not {_shown(' '.join(words[:4]))!r}")
    matches = [_OPTION.fullmatch(word) for word in words[4:]]
    values = {each[1]: each[2] for each in matches if each}
    if len(values) < len(matches):
        raise UsageError("FILE: each option of its command must be --name=value, and stand there once")
    if re.search(r"[/\\]", values.pop("out", "")):
        raise UsageError("FILE: its command writes into another folder, which is not done")
    other = record.get("other")
    names = {}
    if table is not None or "table" in values:
        names[_check_table(record.get("table"), table)] = values.pop("table", "")
    for name, of_model in (("checkpoint", record), ("other-checkpoint", other if isinstance(other, dict) else {})):
        if name in values:
            folder = _find_model(of_model.get("checkpoint_sha256"), values[name], folders)
            names[folder], values[name] = values[name], folder
    reader = Parser("export", package="viz_app")
    for add in (add_sentence, add_view, add_style):  # none of them names a file but the models
        add(reader)
    options = reader.options([f"--{name}={value}" for name, value in values.items()])
    if (options.beam or 0) > _MAX_BEAM:
        raise UsageError(f"FILE: its command has beam {options.beam}; with more than {_MAX_BEAM}, run it yourself")
    options.table = table
    return options, names


def _check_table(known: object, table: str | None) -> str:
    """Return the table that the user gives. Raises UsageError unless it has the hash in a record."""
    digest = known.get("sha256") if isinstance(known, dict) else None
    if digest is None:
        raise UsageError("--table: this figure has no table")
    if table is None:
        raise UsageError(f"missing: --table FILE.means.csv, the table of this figure, with the hash {_shown(digest)}")
    if sha256(Path(table).resolve(), MAX_BYTES) != digest:
        raise UsageError(f"--table: {table} is not the table of this figure, with the hash {_shown(digest)}")
    return table


def _find_model(digest: object, name: str, folders: Sequence[str]) -> str:
    """Return the folder that holds a model. Raises UsageError when none does."""
    from transformer_core.checkpoint import load_checkpoint

    for folder in [*map(Path, folders), *sorted(each.parent for each in SHIPPED.glob("*/manifest.json"))]:
        manifest = Manifest.read(folder)
        if digest == (manifest.weights_hash or load_checkpoint(folder).weights_hash):
            return str(folder)
    raise UsageError(f"--checkpoint: no folder holds the model {_shown(name)!r} with the hash {_shown(digest)}")


def _report(name: str, old: Mapping[str, Any], new: Mapping[str, Any], original: bytes, made: bytes) -> int:
    """Print what differs: parts of the records, sizes, and the place of the first byte."""
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key)][:_MAX_SHOWN]
    rows = [[name, "in the file", "made here"], ["bytes", f"{len(original):,}", f"{len(made):,}"]]
    rows += [[_shown(key), _shown(old.get(key, "-")), _shown(new.get(key, "-"))] for key in keys]
    pairs = enumerate(zip(original, made, strict=False))
    shorter, equal = min(len(original), len(made)), original == made
    first = None if equal else next((at for at, (one, other) in pairs if one != other), shorter)
    write_table([*rows, ["equal" if first is None else f"not equal from byte {first:,} on"]])
    write_summary({"file": name, "equal": equal, "differences": [row[0] for row in rows[2:]], "byte": first})
    return int(not equal)


def _shown(value: object) -> str:
    text = printable(str(value))
    return text if len(text) <= _MAX_WIDTH else f"{text[: _MAX_WIDTH - 1]}…"
