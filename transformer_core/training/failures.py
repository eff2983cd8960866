"""Failures of a training: a loss on its plateau; the batches of a step that is not finite, saved for inspection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformer_core.config import TrainingConfig
from transformer_core.data import Batch
from transformer_core.storage.files import write_json
from transformer_core.storage.tensor_files import save_tensors
from transformer_core.text.tokenizer import Tokenizer
from transformer_core.training.state import Progress

PLATEAU_WINDOW = 100  # steps whose mean loss decides whether training left the plateau


class TrainingFailed(RuntimeError):
    """Training cannot continue: the loss is not finite, or stuck on its plateau."""


def check_plateau(progress: Progress, config: TrainingConfig) -> None:
    """Raise TrainingFailed when the loss of the latest steps, per token, is stuck on its plateau."""
    if (
        0 < config.plateau_steps <= progress.step
        and len(progress.recent_nll) == PLATEAU_WINDOW
        and progress.recent_mean > config.plateau_loss
    ):
        raise TrainingFailed(
            f"step {progress.step}: the loss is still {progress.recent_mean:.2f} nats per token, above plateau_loss "
            f"({config.plateau_loss}); lower learning_rate_factor, raise warmup_steps, or use smaller batches"
        )


def save_failure(
    run: Path,
    batches: Sequence[Batch],
    losses: Sequence[float],
    report: dict[str, Any],
    tokenizer: Tokenizer,
    rank: int,
) -> Path:
    """Save the batches of a step that failed.

    Args:
        run: Folder of the run.
        batches: Batches of this process.
        losses: The loss of each, in nats, summed over its tokens.
        report: Facts of the step, with its `step`.
        tokenizer: Turns ids back into text.
        rank: Number of this process.

    Returns:
        The folder: ids in `batches-0.safetensors` (`0.source`, `0.inputs`, `0.outputs`, `1.source`, ...), the report
        and the text of every pair in `report-0.json`; 0 is the number of the process.
    """
    folder = run / f"failed-{report['step']:08d}"
    folder.mkdir(exist_ok=True)
    tensors = {
        f"{number}.{part}": ids.cpu().contiguous()
        for number, batch in enumerate(batches)
        for part, ids in zip(("source", "inputs", "outputs"), batch.ids, strict=True)
    }
    save_tensors(folder / f"batches-{rank}.safetensors", tensors)
    described = [
        {"loss": str(loss), "pairs": _texts(batch, tokenizer)} for batch, loss in zip(batches, losses, strict=True)
    ]
    # JSON has no NaN and no infinity.
    write_json(folder / f"report-{rank}.json", {**{k: str(v) for k, v in report.items()}, "batches": described})
    return folder


def _texts(batch: Batch, tokenizer: Tokenizer) -> list[list[str]]:
    special = set(tokenizer.special.to_dict().values()) - {tokenizer.special.unk}
    sides = ((tokenizer.source, batch.source), (tokenizer, batch.outputs))
    texts = [
        [vocabulary.decode([i for i in row if i not in special]) for row in ids.tolist()] for vocabulary, ids in sides
    ]
    return [list(pair) for pair in zip(*texts, strict=True)]
