"""ship: a training in; a checkpoint with scores, card, recipe and journal out, ready to publish."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.average import AveragedModel, average_steps, check_output, read_metrics, report_checkpoint
from transformer_core.cli.builders.scores import PARTS, score_sets
from transformer_core.cli.history import build_history, read_probes
from transformer_core.cli.journal import journal_text
from transformer_core.cli.model_card import model_card
from transformer_core.cli.options import (
    Parser,
    UsageError,
    add_machine,
    check_at_least,
    existing,
    existing_text,
    select_device,
)
from transformer_core.cli.run_settings import RunSettings, changed_options

if TYPE_CHECKING:
    from transformer_core.translator import Translator

log = logging.getLogger(__name__)


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "ship",
        usage=(
            "DIR --last N --out DIR [--valid FILE ...] [--test FILE ...] [--title TEXT] [--about FILE.md]\n"
            "[--history FILE [--gold FILE]] [--force]"
        ),
        description=(
            "Average the last saved steps of a training run, as `average` does, score the result, and write a\n"
            "checkpoint to publish: with its scores in metrics.json, a model card, the recipe and the journal.\n"
            "Scores are measured on the rounded weights, with the decoding defaults of the preset.\n\n"
            "Score a test set only once: compare models on validation sets first."
        ),
        example="  python -m transformer_core ship run --last 5 --valid valid.tsv --test test.tsv --out my-model",
    )
    result.add_argument("run", type=str, metavar="DIR", help="Folder of a training run, written by `train --out`.")
    result.add_argument(
        "--last", type=int, default=5, metavar="N", help="How many of the newest saved steps to average."
    )
    result.add_argument("--out", type=str, required=True, metavar="DIR", help="Folder of the new checkpoint.")
    for part in ("valid", "test"):
        result.add_argument(
            f"--{part}", type=str, nargs="+", default=[], metavar="FILE", help="Parallel text, as for `evaluate`."
        )
    result.add_argument("--batch", type=int, default=32, metavar="N", help="Lines translated together at most.")
    result.add_argument("--title", type=str, default="", metavar="TEXT", help="Title of the model card.")
    result.add_argument("--about", type=str, metavar="FILE.md", help="Markdown for the card, below its title.")
    result.add_argument(
        "--metrics", type=str, metavar="FILE", help="JSON with further facts to store in the checkpoint."
    )
    result.add_argument(
        "--history",
        type=str,
        metavar="FILE",
        help="Sentences whose attention at every snapshot is included, as for `history`.",
    )
    result.add_argument(
        "--history-sentences",
        type=int,
        default=500,
        metavar="N",
        help="First lines of the first --valid on which BLEU is measured at each snapshot.",
    )
    result.add_argument(
        "--gold", type=str, metavar="FILE", help="Hand-aligned sentences for --history, as for `align`."
    )
    result.add_argument("--force", action="store_true", help="Replace an existing checkpoint.")
    add_machine(result)
    return result


def run(arguments: Sequence[str]) -> int:
    """Ship a training."""
    options = parser().options(arguments)
    check_at_least("--last", options.last, 1)
    check_at_least("--batch", options.batch, 1)
    folder, out = existing("DIR", options.run, folder=True), Path(options.out)
    check_output(out, options.force)
    metrics = read_metrics(options.metrics)
    about = existing("--about", options.about).read_text(encoding="utf-8").strip() if options.about else ""
    for part in ("valid", "test"):
        for spec in getattr(options, part):
            existing_text(f"--{part}", spec)
    probes = read_probes("--history", options.history) if options.history else []
    check_at_least("--history-sentences", options.history_sentences, 1)
    if options.gold:
        existing("--gold", options.gold)
        if not probes:
            raise UsageError("--gold needs --history; give both, or leave it out")
    settings = RunSettings.load(folder)
    journal = journal_text(folder, settings)
    device = select_device(options.device, options.threads)

    from transformer_core.checkpoint import save_checkpoint
    from transformer_core.history import FOLDER

    mean = average_steps(folder, options.last, settings)
    sets = {part: getattr(options, part) for part in PARTS}
    metrics["training"] = {**mean.facts, **metrics.get("training", {})}
    scores = score_sets(translator_of(mean, settings, device), sets, options.batch)
    metrics["scores"] = {**metrics.get("scores", {}), **scores}
    # One process with as many batches per step does the same.
    alone = settings.training.replace(accumulate=settings.training.accumulate * settings.processes)
    changed = changed_options(replace(settings, training=alone, processes=1))
    history_files = {}
    if probes:
        history = build_history(
            folder,
            settings,
            probes,
            valid=options.valid[0] if options.valid else None,
            valid_sentences=options.history_sentences,
            gold=options.gold,
            device=device,
        )
        history_files = {f"{FOLDER}/{name}": data for name, data in history.files().items()}
    save_checkpoint(
        out,
        mean.weights,
        settings.model,
        mean.tokenizer,
        decoding=mean.decoding,
        metrics=metrics,
        card=model_card(options.title or out.name, about, settings, metrics, changed),
        texts={"journal.json": journal, "recipe.toml": recipe_text(settings.preset, changed)},
        derived=history_files,
    )
    report_checkpoint(out, {**mean.facts, "scores": metrics["scores"]})
    return 0


def translator_of(mean: AveragedModel, settings: RunSettings, device: str) -> Translator:
    """The model as it will be loaded: with weights that were rounded to float16."""
    from transformer_core.model import Transformer
    from transformer_core.translator import Translator

    model = Transformer.from_weights(settings.model, {name: weight.half() for name, weight in mean.weights.items()})
    return Translator(model.to(device), mean.tokenizer, mean.decoding)


def recipe_text(preset: str, changed: dict[str, dict[str, Any]]) -> str:
    """A TOML recipe with which `train` repeats the training, given the text."""
    lines = [f"preset = {json.dumps(preset)}"]
    for group, options in changed.items():
        # Numbers, text, true and false are written alike in JSON and TOML.
        lines += ["", f"[{group}]", *(f"{name} = {json.dumps(value)}" for name, value in options.items())]
    return "\n".join(lines) + "\n"
