"""Average the weights of the last saved steps of a training run (Section 6.1) into a checkpoint.

The app, `translate` and `evaluate` need nothing but a checkpoint.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Options, Parser, UsageError, write_summary
from transformer_core.cli.training.run_settings import RunSettings
from transformer_core.renamed import current_names
from transformer_core.storage.files import TOKENIZER_FILE
from transformer_core.storage.manifest import Manifest

if TYPE_CHECKING:
    from torch import Tensor

    from transformer_core.text.tokenizer import Tokenizer

log = logging.getLogger(__name__)


def parser() -> Parser:
    """Return the options of this command."""
    result = Parser(
        "average",
        description=__doc__,
        example="  python -m transformer_core average run --last 5 --out my-model",
    )
    add_averaging(result)
    result.add_path("--card", "The model card, in Markdown.")
    return result


def add_averaging(parser: Parser) -> None:
    """Add the options that `ship` shares: training run, number of steps, output."""
    parser.add_run()
    parser.add_number("--last", 5, "How many of the newest saved steps to average.")
    parser.add_new_checkpoint()
    parser.add_path("--metrics", "JSON with further scores and facts to store in the checkpoint.")


def run(options: Options) -> int:
    """Average a training run into a checkpoint."""
    folder, out = Path(options.run), options.out
    metrics = read_metrics(options.metrics)
    card = Path(options.card).read_text(encoding="utf-8") if options.card else ""
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
    """Mean of the last saved steps of a training run.

    Args:
        weights: Name -> tensor, float32.
        tokenizer: The vocabulary.
        facts: How it was trained.
    """

    weights: dict[str, Tensor]
    tokenizer: Tokenizer
    facts: dict[str, Any]


def average_steps(folder: Path, last: int, settings: RunSettings) -> AveragedModel:
    """Average the last saved steps of a training. Raises UsageError when there are fewer."""
    from transformer_core.text.tokenizer import Tokenizer
    from transformer_core.training.state import average_weights, step_folders

    saved = step_folders(folder)
    if len(saved) < last:
        raise UsageError(f"--last is {last}, but {folder} has {len(saved)} saved steps")
    chosen = saved[-last:]
    weights = average_weights(chosen)
    facts = _facts(chosen, settings)
    facts["parameters"] = sum(tensor.numel() for tensor in weights.values())
    return AveragedModel(weights, Tokenizer.load(folder / TOKENIZER_FILE), facts)


def report_checkpoint(out: Path, facts: dict[str, Any]) -> None:
    """Report the checkpoint: a line for people, and one of JSON."""
    steps = ", ".join(map(str, facts["averaged_steps"]))
    log.info("%s: mean of steps %s", out, steps)
    write_summary({"checkpoint": str(out), "checkpoint_hash": Manifest.read(out).weights_hash, **facts})


def read_metrics(path: str | None) -> dict[str, Any]:
    """Return the JSON of --metrics. Raises UsageError when it is not an object, or its `training` is not one."""
    if not path:
        return {}
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"--metrics: {path} is not valid JSON: {error}") from error
    if not isinstance(values, dict) or not isinstance(values.get("training", {}), dict):
        raise UsageError(f"--metrics: {path} must be a JSON object, and its `training` too")
    return values


def _facts(chosen: list[Path], settings: RunSettings) -> dict[str, Any]:
    """Return the facts of the training, for `metrics.json`."""
    state = current_names(json.loads((chosen[-1] / "state.json").read_text(encoding="utf-8")))
    training = settings.training
    return {
        "preset": settings.preset,
        "steps": state["step"],
        "averaged_steps": [int(step.name.removeprefix("step-")) for step in chosen],
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
