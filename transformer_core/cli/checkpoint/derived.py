"""Measure a checkpoint again, and write the results to its folder `derived`.

The model, its weights_hash and all figures that name it stay as they are. A result without
its data is skipped; sets that are not given keep their scores.

Results:

Example:
  python -m transformer_core derived --checkpoint checkpoints/en-de --only scores card --test test.en-de.tsv.xz
"""

from __future__ import annotations

import json
import logging
from pathlib import Path

from transformer_core.cli.analyse.contrast import FORM_NAMES
from transformer_core.cli.arguments import Options, Parser, UsageError, check_place, select_device, write_summary
from transformer_core.cli.checkpoint.measurements import BUILDERS, CARD_FILE, Builder, Inputs, SkippedError
from transformer_core.storage.files import recover_interrupted_writes
from transformer_core.storage.manifest import MANIFEST_FILE, Manifest
from transformer_core.storage.measurements import FOLDER, MEASURED, write_derived

log = logging.getLogger(__name__)


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_list({name: each.about + _needs(each) for name, each in BUILDERS.items()})
    parser.add_checkpoint()
    parser.add_choice("--only", BUILDERS, "Some of these results.", form="NAME", many=True)
    parser.add_sets()
    parser.add_path("--gold", "Hand-aligned sentences, as `align` reads.")
    parser.add_argument("--slow", action="store_true", help="For `methods`: also integrated gradients, 8 times slower.")
    for form in FORM_NAMES:
        parser.add_path(f"--{form}", f"Questions, as `analyse contrast --form {form}` reads.")
    parser.add_path("--run", "Folder of the model's training run, with snapshots.", form="DIR")
    parser.add_path("--sentences", "Sentences for the history, as `history` reads.")
    parser.add_path("--atlas", "The atlas of this model: `atlas.json`, as `atlas` writes it.")
    parser.add_number("--valid-sentences", 500, "Lines of --valid to use for the history.")
    parser.add_number("--head-pairs", 40, "Lines of each --valid on which the heads are scored.")
    parser.add_batch()
    parser.add_machine()


def run(options: Options) -> int:
    """Build the results of a model."""
    skipped = {name: f"needs {lacking}" for name, each in BUILDERS.items() if (lacking := each.missing(options))}
    builders = {name: each for name, each in BUILDERS.items() if not options.only or name in options.only}
    if refused := [f"{name} {skipped[name]}" for name in options.only if name in skipped]:
        raise UsageError(f"--only: {'; '.join(refused)}")
    check_place("--checkpoint", Path(options.checkpoint) / FOLDER)
    device = select_device(options.device, options.threads)
    for name in (FOLDER, CARD_FILE, MANIFEST_FILE):
        recover_interrupted_writes(Path(options.checkpoint), name)
    inputs = Inputs(checkpoint=Path(options.checkpoint), options=options, device=device)
    made = []
    for name, builder in builders.items():
        if name not in skipped:
            try:
                _run_one(name, builder, inputs)
                made.append(name)
                continue
            except SkippedError as error:
                if options.only:
                    raise UsageError(f"--only: {name}: {error}") from error
                skipped[name] = str(error)
        log.info("skipped %s: %s", name, skipped[name])
    left_out = {name: why for name, why in skipped.items() if name in builders}
    identity = inputs.translator.checkpoint_hash
    write_summary({"checkpoint": options.checkpoint, "checkpoint_hash": identity, "made": made, "skipped": left_out})
    return 0


def _run_one(name: str, builder: Builder, inputs: Inputs) -> None:
    """Build one result and write it at once, so that it stays when a later one fails."""
    from transformer_core.checkpoint import write_beside

    inputs.metrics = inputs.metrics or dict(inputs.translator.metrics)
    files = builder.build(inputs)
    assert set(files) == set(builder.files), name
    _complete_manifest(inputs.checkpoint)
    if builder.beside:
        write_beside(inputs.checkpoint, files)
    else:
        write_derived(inputs.checkpoint, inputs.translator.checkpoint_hash, files)
        inputs.metrics |= {part: json.loads(files[f"{part}.json"]) for part in MEASURED if f"{part}.json" in files}
    log.info("built %s: %s", name, ", ".join(builder.files))


def _complete_manifest(folder: Path) -> None:
    """Give a manifest of format 1 the weights_hash that `derived/` refers to, and list a card that is not listed."""
    from transformer_core.checkpoint import write_manifest

    manifest = Manifest.read(folder)
    if not manifest.weights_hash or ((folder / CARD_FILE).exists() and CARD_FILE not in manifest.files):
        write_manifest(folder)


def _needs(builder: Builder) -> str:
    lacking = [" or ".join(f"--{name}" for name in group) for group in builder.needs]
    return f" ({', '.join(lacking)})" if lacking else ""
