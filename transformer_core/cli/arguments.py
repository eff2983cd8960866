"""Use options, and print results: devices, models, tables, one line of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.argument_parser import SEARCH as SEARCH
from transformer_core.cli.argument_parser import Options as Options
from transformer_core.cli.argument_parser import Parser as Parser
from transformer_core.cli.argument_types import UsageError as UsageError
from transformer_core.cli.argument_types import check_at_least as check_at_least
from transformer_core.cli.argument_types import check_new_file as check_new_file
from transformer_core.cli.argument_types import check_new_folder as check_new_folder
from transformer_core.cli.argument_types import check_place as check_place
from transformer_core.cli.argument_types import existing as existing
from transformer_core.cli.argument_types import existing_text as existing_text
from transformer_core.cli.argument_types import output_path as output_path
from transformer_core.cli.argument_types import sentence_text as sentence_text
from transformer_core.cli.argument_types import small_text as small_text
from transformer_core.config import DecodingConfig

if TYPE_CHECKING:
    from transformer_core.translator import Translator


def check_task(task: str, option: str, specs: Sequence[str]) -> None:
    """Raise UsageError for trees where the task is translation, and for text where it is parsing."""
    from transformer_core.data import is_treebank

    for spec in specs:
        if (task == "parsing") != is_treebank(spec):
            allowed = "--task parsing needs .trees or .mrg, such as dev.trees.xz" if task == "parsing" else ""
            raise UsageError(f"{option}: {spec}: {allowed or 'trees need --task parsing'}")


def checkpoint_names(translator: Translator) -> dict[str, str]:
    """Return folder and hash of the checkpoint of a model, for provenance and summaries."""
    folder = str(translator.checkpoint.folder) if translator.checkpoint else ""
    return {"checkpoint": folder, "checkpoint_hash": translator.checkpoint_hash}


def select_device(name: str, threads: int) -> str:
    """Set the threads and check the device. Raises UsageError when it is missing."""
    import torch

    from transformer_core.devices import available_devices, best_device

    if threads:
        torch.set_num_threads(threads)
    if name == "auto":
        return best_device()
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0].split(". ")[0]
        raise UsageError(
            f"--device is {name!r}, but must be one of {', '.join(available_devices())} ({reason})"
        ) from error
    return name


def load_translator(options: Options) -> Translator:
    """Load the model of --checkpoint on the device of --device, after all options are checked."""
    search = {name: getattr(options, name, None) for name in SEARCH}
    changes = {name: value for name, value in search.items() if value is not None}
    DecodingConfig(**changes)
    device = select_device(options.device, options.threads)

    from transformer_core.parsing.vocabulary import generates_trees
    from transformer_core.translator import Translator

    translator = Translator.load(options.checkpoint, device)
    translator.decoding = translator.decoding.replace(**changes)
    if changes.get("constrained") and not generates_trees(translator.tokenizer):
        raise UsageError(f"--constrained: {options.checkpoint} is no parser")
    return _in_languages(translator, *(getattr(options, f"{side}_language", None) for side in ("source", "target")))


def _in_languages(translator: Translator, source: str | None, target: str | None) -> Translator:
    """Return the model for its languages. Raises UsageError for a language that it lacks."""
    from transformer_core.text.tokenizer import TokenizerError

    try:
        return translator.with_languages(source, target)
    except TokenizerError as error:
        raise UsageError(f"--{'source' if target is None else 'target'}-language: {error}") from error


# --- results ----------------------------------------------------------------------------------------------------------


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: 1 line, 2,000 lines."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def write_table(rows: Iterable[Sequence[str]]) -> None:
    """Print rows of cells: the first column to the left, numbers to the right."""
    lines = [list(row) for row in rows]
    columns = range(max(map(len, lines)))
    widths = [max(len(line[column]) for line in lines if column < len(line)) for column in columns]
    for first, *others in lines:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=False))]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")


def head_rows(values: Sequence[Sequence[float]], form: str) -> list[list[str]]:
    """Return the rows of a table with a number for each head: layers down, heads across, from 1."""
    rows = [[f"layer {number}", *(format(value, form) for value in row)] for number, row in enumerate(values, start=1)]
    return [["head", *map(str, range(1, len(values[0]) + 1))], *rows]


_FINE = ("p", "nats_per_character")  # need more than two digits


def write_scores(summary: Mapping[str, Any], prefix: str = "") -> None:
    """Print a row for each score; in a group, the name follows the group's and a dot."""
    for name, value in summary.items():
        if isinstance(value, dict):
            write_scores(value, f"{prefix}{name}.")
            continue
        text = f"{value:.{4 if name in _FINE else 2}f}" if isinstance(value, float) else str(value)
        sys.stdout.write(f"{prefix + name:<32}  {text}\n")


def write_summary(summary: Mapping[str, Any]) -> None:
    """Print the last line of a command, for programs: one JSON object."""
    sys.stdout.write(json.dumps(summary, ensure_ascii=False) + "\n")
