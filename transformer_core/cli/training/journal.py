"""Export a training run as one JSON file.

The file has its settings; loss, nll, learning rate and gradient norm of every recorded step (training.log_every), as
columns; validation scores; why it ended; and the step at which it failed. A run that failed or was stopped is
exported up to that step.

With --probe, it also has the greedy translation of a sentence at every snapshot (train --training.snapshots 47), and
the map of one head, which reads the given translation.

Example:
  python -m transformer_core journal run --out run.json
  python -m transformer_core journal run --out run.json --probe "I am here." "Ich bin hier." --head cross.6.8
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformer_core.cli.arguments import Options, Parser, UsageError
from transformer_core.cli.training.run_settings import RunSettings
from transformer_core.storage.files import TOKENIZER_FILE, atomic_write_text

FORMAT_VERSION = 1


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_run()
    parser.add_argument("--out", required=True, metavar="FILE.json", help="Output file.")
    about = "A sentence and its translation."
    parser.add_argument("--probe", nargs=2, metavar=("SENTENCE", "TRANSLATION"), help=about)
    parser.add_argument("--head", default="cross.1.1", metavar="NAME", help="Head of the map, such as cross.6.8.")


def run(options: Options) -> int:
    """Export a training run."""
    folder, out = Path(options.run), Path(options.out)
    if out.suffix != ".json":
        raise UsageError(f"--out is {out}, but must end with .json")
    settings = RunSettings.load(folder)
    text = journal_text(folder, settings, _probe(folder, settings, options.probe, options.head))
    out.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_text(out, text)
    return 0


def read_curves(folder: Path) -> dict[str, Any]:
    """Read the curves of a training run, see `training_curves`. Raises UsageError without a journal."""
    from transformer_core.training.journal import training_curves

    try:
        return training_curves(folder)
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{folder} has no readable journal: {error}") from error


def _probe(folder: Path, settings: RunSettings, sentences: tuple[str, str] | None, head: str) -> dict[str, Any]:
    """Return the probe of a run as a part of its journal; empty where none is asked for."""
    if not sentences:
        return {}
    from transformer_core.history.probe import probe_snapshots
    from transformer_core.history.training_history import HistoryBuilder
    from transformer_core.text.tokenizer import Tokenizer
    from transformer_core.training.snapshots import snapshot_files

    tokenizer = Tokenizer.load(folder / TOKENIZER_FILE)
    try:
        builder = HistoryBuilder(snapshot_files(folder), settings.model, tokenizer, settings.decoding)
        return {"probe": probe_snapshots(builder, *sentences, head)}
    except ValueError as error:
        raise UsageError(f"--probe: {error}") from error


def journal_text(folder: Path, settings: RunSettings, more: Mapping[str, Any] | None = None) -> str:
    """Return settings and curves of a training run as JSON, a column a line. Raises UsageError without a journal."""
    recorded = read_curves(folder)
    corpus = {name: settings.corpus[name] for name in ("files", "pairs") if name in settings.corpus}
    about: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "preset": settings.preset,
        "model": settings.model.to_dict(),
        "training": settings.training.to_dict(),
        "corpus": corpus,
        "ended": recorded["ended"],
        "failed": recorded["failed"],
        **(more or {}),
    }
    lines = [f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in about.items()]
    lines.append(f'  "updates": {_columns(recorded["updates"], 4)}')
    sets = [f"    {json.dumps(name)}: {_columns(columns, 6)}" for name, columns in recorded["validation"].items()]
    joined = ",\n".join(sets)
    lines.append(f'  "validation": {{\n{joined}\n  }}' if sets else '  "validation": {}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _columns(columns: dict[str, list[float]], indent: int) -> str:
    rows = [f"{' ' * indent}{json.dumps(name)}: {json.dumps(values)}" for name, values in columns.items()]
    return "{\n" + ",\n".join(rows) + "\n" + " " * (indent - 2) + "}"
