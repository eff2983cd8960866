"""What commands do with their options, and how they answer."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.argument_parser import SEARCH as SEARCH
from transformer_core.cli.argument_parser import Parser as Parser
from transformer_core.cli.argument_parser import UsageError as UsageError
from transformer_core.cli.argument_parser import check_at_least as check_at_least
from transformer_core.cli.argument_parser import check_new_file as check_new_file
from transformer_core.cli.argument_parser import existing as existing
from transformer_core.cli.argument_parser import existing_text as existing_text
from transformer_core.config import DecodingConfig

if TYPE_CHECKING:
    from transformer_core.translator import Translator


def preset_in(arguments: Sequence[str], default: str) -> str:
    """The value of --preset, needed before everything else is parsed: the help shows its values as defaults."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--preset", nargs="?")
    return parser.parse_known_args(arguments)[0].preset or default


def check_task(task: str, option: str, specs: Sequence[str]) -> None:
    """Raise UsageError when the files are trees, but the task is translation, or the other way round."""
    from transformer_core.data import is_treebank

    for spec in specs:
        if (task == "parsing") != is_treebank(spec):
            allowed = "--task parsing needs .trees or .mrg, such as dev.trees.xz" if task == "parsing" else ""
            raise UsageError(f"{option}: {spec}: {allowed or 'trees need --task parsing'}")


def check_new_folder(path: Path, hint: str = "choose a new folder") -> None:
    """Raise UsageError when --out is there and not an empty folder."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UsageError(f"--out: {path} is not empty; {hint}")


def check_replaced_folder(path: Path, force: bool, kind: str, *, is_kind: bool) -> None:
    """Raise UsageError unless --out is new, empty, or a folder of this kind that may be replaced."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not is_kind:
        raise UsageError(f"--out: {path} is not a {kind}; choose another folder")
    if not force:
        raise UsageError(f"--out: {path} exists; add --force to replace it, or choose another folder")


def select_device(name: str, threads: int) -> str:
    """Set the threads and check the device. Raises UsageError when it is not available."""
    import torch

    if threads:
        torch.set_num_threads(threads)
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        found = ["auto", "cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
        reason = str(error).splitlines()[0]
        raise UsageError(f"--device is {name!r}, but must be one of {', '.join(found)} ({reason})") from error
    return name


def load_translator(options: argparse.Namespace) -> Translator:
    """The model that --checkpoint names, on the device that --device names, after all options were checked."""
    given = {name: getattr(options, name, None) for name in SEARCH}
    changes = {name: value for name, value in given.items() if value is not None}
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
    """The model for the languages of --source-language and --target-language. Raises UsageError for one it lacks."""
    from transformer_core.text.tokenizer import TokenizerError

    try:
        return translator.with_languages(source, target)
    except TokenizerError as error:
        raise UsageError(f"--{'source' if target is None else 'target'}-language: {error}") from error


# --- what commands answer ---------------------------------------------------------------------------------------------


def write_table(rows: Iterable[Sequence[str]]) -> None:
    """Print rows of cells: the first column to the left, numbers to the right."""
    lines = [list(row) for row in rows]
    columns = range(max(map(len, lines)))
    widths = [max(len(line[column]) for line in lines if column < len(line)) for column in columns]
    for first, *others in lines:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=False))]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")


_FINE = ("p", "nats_per_character")  # need more than two digits


def write_scores(summary: Mapping[str, Any], prefix: str = "") -> None:
    """Print a row for each score, those of groups with the name of the group before a dot."""
    for name, value in summary.items():
        if isinstance(value, dict):
            write_scores(value, f"{prefix}{name}.")
            continue
        shown = f"{value:.{4 if name in _FINE else 2}f}" if isinstance(value, float) else str(value)
        sys.stdout.write(f"{prefix + name:<32}  {shown}\n")


def write_summary(summary: Mapping[str, Any]) -> None:
    """Print the last line of a command, for programs: one object of JSON."""
    sys.stdout.write(json.dumps(summary, ensure_ascii=False) + "\n")
