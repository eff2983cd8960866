"""derived: a checkpoint in, all that is measured from its model out, into its folder `derived/`."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from transformer_core.cli.builders import Builder, Inputs, SkippedError, builders
from transformer_core.cli.options import (
    Parser,
    UsageError,
    add_checkpoint,
    add_machine,
    check_at_least,
    existing,
    existing_text,
    select_device,
)

log = logging.getLogger(__name__)


def parser() -> Parser:
    """The options of this command."""
    known = builders()
    width = max(map(len, known))
    result = Parser(
        "derived",
        usage="--checkpoint DIR [--only NAME ...] [--test FILE ...] [--valid FILE ...] [--gold FILE] ...",
        description=(
            "Measure a checkpoint again and write the results to the folder `derived` in it:\n\n"
            + "\n".join(f"  {name:<{width}}  {each.about}{_needs(each)}" for name, each in known.items())
            + "\n\nThe model, its weights_hash and all figures that name it stay as they are. A result without\n"
            "its data is skipped; sets that are not given keep their scores."
        ),
        example=(
            "  python -m transformer_core derived --checkpoint checkpoints/en-de --only scores card "
            "--test test.en-de.tsv.xz"
        ),
    )
    add = result.add_argument
    add_checkpoint(result)
    add("--only", type=str, nargs="+", default=[], metavar="NAME", help=f"Some of {', '.join(known)}.")
    for part in ("valid", "test"):
        add(f"--{part}", type=str, nargs="+", default=[], metavar="FILE", help="Parallel texts, as `evaluate` reads.")
    add("--gold", type=str, metavar="FILE", help="Hand-aligned sentences, as `align` reads.")
    for form in ("lingeval", "contracat"):
        add(f"--{form}", type=str, metavar="FILE", help=f"Questions, as `contrast --form {form}` reads.")
    add("--run", type=str, metavar="DIR", help="Folder of the model's training run, with snapshots.")
    add("--sentences", type=str, metavar="FILE", help="Sentences for the history, as `history` reads.")
    add("--valid-sentences", type=int, default=500, metavar="N", help="Lines of --valid to use for the history.")
    add("--batch", type=int, default=32, metavar="N", help="Lines translated together at most.")
    add_machine(result)
    return result


def run(arguments: Sequence[str]) -> int:
    """Build what is derived from a model."""
    options = parser().options(arguments)
    folder = existing("--checkpoint", options.checkpoint, folder=True)
    known = builders()
    if unknown := [name for name in options.only if name not in known]:
        raise UsageError(f"--only is {unknown[0]!r}, but must be some of {', '.join(known)}")
    _check_inputs(options)
    skipped = {name: f"needs {lacking}" for name, each in known.items() if (lacking := each.missing(options))}
    chosen = {name: each for name, each in known.items() if not options.only or name in options.only}
    if refused := [f"{name} {skipped[name]}" for name in options.only if name in skipped]:
        raise UsageError(f"--only: {'; '.join(refused)}")
    inputs = Inputs(checkpoint=folder, options=options, device=select_device(options.device, options.threads))
    made = []
    for name, builder in chosen.items():
        if name not in skipped:
            try:
                _run_one(builder, inputs)
                made.append(name)
                continue
            except SkippedError as error:
                if options.only:
                    raise UsageError(f"--only: {name}: {error}") from error
                skipped[name] = str(error)
        log.info("skipped %s: %s", name, skipped[name])
    summary = {
        "checkpoint": str(folder),
        "checkpoint_hash": inputs.translator.checkpoint_hash,
        "made": made,
        "skipped": {name: why for name, why in skipped.items() if name in chosen},
    }
    sys.stdout.write(json.dumps(summary, ensure_ascii=False) + "\n")
    return 0


def _run_one(builder: Builder, inputs: Inputs) -> None:
    """Build one thing and write it, so that what is done stays when a later one fails."""
    from transformer_core.checkpoint import write_manifest
    from transformer_core.derived import MEASURED, write_derived
    from transformer_core.files import atomic_write_bytes

    inputs.metrics = inputs.metrics or dict(inputs.translator.metrics)
    files = builder.build(inputs)
    assert set(files) == set(builder.files), builder.name
    if builder.beside:
        for name, data in files.items():
            atomic_write_bytes(inputs.checkpoint / name, data)
        write_manifest(inputs.checkpoint)
    else:
        _name_the_model(inputs.checkpoint)
        write_derived(inputs.checkpoint, inputs.translator.checkpoint_hash, files)
        inputs.metrics |= {part: json.loads(files[f"{part}.json"]) for part in MEASURED if f"{part}.json" in files}
    log.info("built %s: %s", builder.name, ", ".join(builder.files))


def _name_the_model(folder: Path) -> None:
    """Give a manifest of format 1 the weights_hash that `derived/` refers to."""
    from transformer_core.checkpoint import write_manifest
    from transformer_core.manifest import Manifest

    if not Manifest.read(folder).weights_hash:
        write_manifest(folder)


def _needs(builder: Builder) -> str:
    lacking = [" or ".join(f"--{name}" for name in group) for group in builder.needs]
    return f" ({', '.join(lacking)})" if lacking else ""


def _check_inputs(options: argparse.Namespace) -> None:
    """Raise UsageError for files that are not there, before anything takes time."""
    check_at_least("--batch", options.batch, 1)
    check_at_least("--valid-sentences", options.valid_sentences, 1)
    for part in ("valid", "test"):
        for spec in getattr(options, part):
            existing_text(f"--{part}", spec)
    for name in ("gold", "lingeval", "contracat", "sentences"):
        if path := getattr(options, name):
            existing(f"--{name}", path)
    if options.run:
        existing("--run", options.run, folder=True)
