"""Turn a training run into a checkpoint to publish, with scores, model card, recipe and journal.

The weights are the mean of the last saved steps, or the best step, as with `average`. The heads that look are counted.
Scores are measured on the rounded weights, with the decoding defaults of the preset.

Score a test set only once: compare models on validation sets first.

Example:
  python -m transformer_core ship run --last 5 --valid valid.tsv --test test.tsv --out my-model
"""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Options, Parser, UsageError, select_device, small_text
from transformer_core.cli.checkpoint.average import (
    AveragedModel,
    add_averaging,
    average_steps,
    read_metrics,
    report_checkpoint,
)
from transformer_core.cli.checkpoint.measurements import PARTS, count_heads, score_sets
from transformer_core.cli.checkpoint.model_card import model_card
from transformer_core.cli.training.history import build_history, read_probes
from transformer_core.cli.training.journal import journal_text
from transformer_core.cli.training.run_settings import RunSettings, changed_options

if TYPE_CHECKING:
    from transformer_core.translator import Translator

log = logging.getLogger(__name__)


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    add_averaging(parser)
    parser.add_sets()
    parser.add_batch()
    parser.add_argument("--title", default="", metavar="TEXT", help="Title of the model card.")
    parser.add_path("--about", "Markdown for the card, below its title.", form="FILE.md")
    parser.add_path("--history", "Sentences whose attention at every snapshot is included, as for `history`.")
    about = "First lines of the first --valid on which BLEU is measured at each snapshot."
    parser.add_number("--history-sentences", 500, about)
    parser.add_path("--gold", "Hand-aligned sentences for --history, as for `align`.")
    parser.add_machine()


def run(options: Options) -> int:
    """Ship a training."""
    folder, out = Path(options.run), options.out
    metrics = read_metrics(options.metrics)
    about = small_text("--about", options.about).strip() if options.about else ""
    probes = read_probes("--history", options.history) if options.history else []
    if options.gold and not probes:
        raise UsageError("--gold needs --history; give both, or leave it out")
    settings = RunSettings.load(folder)
    journal = journal_text(folder, settings)
    device = select_device(options.device, options.threads)

    from transformer_core.analysis.head_scores import HEAD_PAIRS
    from transformer_core.checkpoint import save_checkpoint

    mean = average_steps(folder, options.last, settings)
    sets = {part: getattr(options, part) for part in PARTS}
    metrics["training"] = {**mean.facts, **metrics.get("training", {})}
    translator = translator_of(mean, settings, device)
    scores = score_sets(translator, sets, options.batch)
    metrics["scores"] = {**metrics.get("scores", {}), **scores}
    if heads := count_heads(translator, options.valid, HEAD_PAIRS):
        metrics["heads"] = heads
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
        history_files = history.derived_files()
    save_checkpoint(
        out,
        mean.weights,
        settings.model,
        mean.tokenizer,
        decoding=settings.decoding,
        metrics=metrics,
        card=model_card(options.title or out.name, about, settings, metrics, changed),
        texts={"journal.json": journal, "recipe.toml": recipe_text(settings.preset, changed)},
        derived=history_files,
    )
    report_checkpoint(out, {**mean.facts, "scores": metrics["scores"]})
    return 0


def translator_of(mean: AveragedModel, settings: RunSettings, device: str) -> Translator:
    """Return the model as it will be loaded: with weights rounded to float16."""
    from transformer_core.model.transformer import Transformer
    from transformer_core.translator import Translator

    model = Transformer.from_weights(settings.model, {name: weight.half() for name, weight in mean.weights.items()})
    return Translator(model.to(device), mean.tokenizer, settings.decoding)


def recipe_text(preset: str, changed: dict[str, dict[str, Any]]) -> str:
    """Return a TOML recipe with which `train` repeats the training, given the text."""
    lines = [f"preset = {json.dumps(preset)}"]
    for group, options in changed.items():
        # Numbers, text, true and false are written alike in JSON and TOML.
        lines += ["", f"[{group}]", *(f"{name} = {json.dumps(value)}" for name, value in options.items())]
    return "\n".join(lines) + "\n"
