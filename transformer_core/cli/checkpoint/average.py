"""Average the weights of the last saved steps of a training run (Section 6.1), or take the best, into a checkpoint.

The app, `translate` and `evaluate` need nothing but a checkpoint.

Example:
  python -m transformer_core average run --last 5 --out my-model
"""

from __future__ import annotations

import argparse
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Options, Parser, UsageError, small_text, write_summary
from transformer_core.cli.training.run_settings import RunSettings
from transformer_core.storage.files import TOKENIZER_FILE
from transformer_core.storage.format_1 import current_names
from transformer_core.storage.manifest import Manifest

if TYPE_CHECKING:
    from torch import Tensor

    from transformer_core.text.tokenizer import Tokenizer

log = logging.getLogger(__name__)


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    add_averaging(parser)
    parser.add_path("--card", "The model card, in Markdown.")


def add_averaging(parser: Parser) -> None:
    """Add the options that `ship` shares: training run, number of steps, output."""
    parser.add_run()
    parser.add_number("--last", 5, "How many of the newest saved steps to average.")
    about = "Instead, take the step with the best validation score (training.best_metric)."
    parser.add_argument("--best", dest="last", action="store_const", const=0, default=argparse.SUPPRESS, help=about)
    parser.add_new_checkpoint()
    parser.add_path("--metrics", "JSON with further scores and facts to store in the checkpoint.")


def run(options: Options) -> int:
    """Average a training run into a checkpoint."""
    folder, out = Path(options.run), options.out
    metrics = read_metrics(options.metrics)
    card = small_text("--card", options.card) if options.card else ""
    settings = RunSettings.load(folder)

    from transformer_core.checkpoint import save_checkpoint

    mean = average_steps(folder, options.last, settings)
    metrics["training"] = {**mean.facts, **metrics.get("training", {})}
    save_checkpoint(
        out, mean.weights, settings.model, mean.tokenizer, decoding=settings.decoding, metrics=metrics, card=card
    )
    report_checkpoint(out, mean.facts)
    return 0


@dataclass(frozen=True)
class AveragedModel:
    """Mean of the last saved steps of a training run, or its best step.

    Args:
        weights: Name -> tensor, float32.
        tokenizer: The vocabulary.
        facts: How it was trained.
    """

    weights: dict[str, Tensor]
    tokenizer: Tokenizer
    facts: dict[str, Any]


def average_steps(folder: Path, last: int, settings: RunSettings) -> AveragedModel:
    """Average the last saved steps of a training, or take the best one for 0. Raises UsageError without them."""
    from transformer_core.text.tokenizer import Tokenizer
    from transformer_core.training.best_step import BestStep
    from transformer_core.training.state import average_weights, best_folder, step_folders

    saved = step_folders(folder)
    if not saved or len(saved) < last:
        raise UsageError(f"--last is {last}, but {folder} has {len(saved)} saved steps")
    best = BestStep(**_state(saved[-1]).get("best", {}))
    steps = saved[-last:] if last else [best_folder(folder, best.step)]
    if not last and not steps[0].is_dir():
        raise UsageError(f"--best: {folder} has no best step; train with --valid, or use --last")
    later = [str(step) for step in map(_step, steps) if step > best.step > 0]
    if later and (len(later) == last or best.overfits_since):
        since = f", and the model overfits from step {best.overfits_since} on" if best.overfits_since else ""
        log.warning(
            "steps %s come after the best, %s%s; --best takes that one: compare them", ", ".join(later), best, since
        )
    weights = average_weights(steps)
    facts = _facts(steps, settings)
    facts |= {"best_step": best.step, "best_metric": best.metric} if best.step else {}
    facts["parameters"] = sum(tensor.numel() for tensor in weights.values())
    return AveragedModel(weights, Tokenizer.load(folder / TOKENIZER_FILE), facts)


def report_checkpoint(out: Path, facts: dict[str, Any]) -> None:
    """Report the checkpoint: a line for people, and one of JSON."""
    steps = ", ".join(map(str, facts["averaged_steps"]))
    log.info("%s: %s %s", out, "mean of steps" if "," in steps else "step", steps)
    write_summary({"checkpoint": str(out), "checkpoint_hash": Manifest.read(out).weights_hash, **facts})


def read_metrics(path: str | None) -> dict[str, Any]:
    """Return the JSON of --metrics. Raises UsageError when it is not an object, or its `training` is not one."""
    if not path:
        return {}
    try:
        values = json.loads(small_text("--metrics", path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"--metrics: {path} is not valid JSON: {error}") from error
    if not isinstance(values, dict) or not isinstance(values.get("training", {}), dict):
        raise UsageError(f"--metrics: {path} must be a JSON object, and its `training` too")
    return values


def _step(folder: Path) -> int:
    return int(folder.name.rpartition("-")[2])


def _state(folder: Path) -> dict[str, Any]:
    return current_names(json.loads((folder / "state.json").read_text(encoding="utf-8")))


def _facts(steps: list[Path], settings: RunSettings) -> dict[str, Any]:
    """Return the facts of the training, for `metrics.json`."""
    state = _state(steps[-1])
    training = settings.training
    return {
        "preset": settings.preset,
        "steps": state["step"],
        "averaged_steps": [*map(_step, steps)],
        "target_tokens": state["target_tokens"],
        "hours": round(state["seconds"] / 3600, 2),
        "pairs": settings.corpus.get("pairs", 0),
        "files": settings.corpus.get("files", []),
        "batch_tokens": training.batch_tokens * training.accumulate * settings.processes,
        "optimizer": training.optimizer,
        **({"muon_factor": training.muon_factor} if training.optimizer == "muon" else {}),
        **({"head_penalty": training.head_penalty} if training.head_penalty else {}),
        "learning_rate_factor": training.learning_rate_factor,
        "warmup_steps": training.warmup_steps,
        "cooldown_steps": training.cooldown_steps,
        "max_tokens": training.max_tokens,
        "label_smoothing": training.label_smoothing,
        "dropout": settings.model.dropout,
        "precision": training.precision,
        "seed": training.seed,
    }
