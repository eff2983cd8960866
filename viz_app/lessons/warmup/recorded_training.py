"""Recorded training run of the model in reversal_task.py.

python -m viz_app.lessons.warmup.recorded_training      records it again, into the files that ship
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

FOLDER = Path(__file__).with_name("recorded")
WORD = "headlight"
_SNAPSHOT_EVERY = 10  # steps

_NAME = "reversing"
_FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False)
class RecordedTraining:
    """Recorded run from its first step to its last.

    Args:
        word: At which the model looked.
        loss: Of each update, nats per letter.
        moments: Updates after which a look was taken.
        guesses: What the model would write then; see `ProbeResult`.
        attention: (moments, heads, letters + 1, letters + 1) encoder-decoder weights times 255.
        options: Of the model and the training.
    """

    word: str
    loss: npt.NDArray[np.float32]
    moments: tuple[int, ...]
    guesses: tuple[str, ...]
    attention: npt.NDArray[np.uint8]
    options: dict[str, Any]


@cache
def load_recorded_training(folder: Path = FOLDER) -> RecordedTraining:
    """Read the files. Raises OSError when one is missing, and ValueError when it is of another format."""
    stored = json.loads((folder / f"{_NAME}.json").read_text(encoding="utf-8"))
    if stored.get("format_version") != _FORMAT_VERSION:
        raise ValueError(f"{_NAME}.json does not have format version {_FORMAT_VERSION}")
    with np.load(folder / f"{_NAME}.npz", allow_pickle=False) as arrays:
        attention = arrays["attention"]
    return RecordedTraining(
        word=stored["word"],
        loss=np.array(stored["loss"], dtype=np.float32),
        moments=tuple(stored["moments"]),
        guesses=tuple(stored["guesses"]),
        attention=attention,
        options=stored["options"],
    )


def record_training(folder: Path = FOLDER, steps: int | None = None) -> None:
    """Train once at full speed and write the files."""
    from viz_app.lessons.warmup.reversal_task import MODEL, TRAINING, AttentionProbe, ReversalTrainer

    learner = ReversalTrainer()
    loss: list[float] = []
    moments, weights = [0], [learner.weights()]
    while learner.steps < (steps or TRAINING.steps):
        loss.append(round(learner.step(), 5))
        if learner.steps % _SNAPSHOT_EVERY == 0:
            moments.append(learner.steps)
            weights.append(learner.weights())
    looks = AttentionProbe().probe(WORD, weights)
    stored = {
        "format_version": _FORMAT_VERSION,
        "options": {"model": MODEL.to_dict(), "training": TRAINING.to_dict()},
        "word": WORD,
        "loss": loss,
        "moments": moments,
        "guesses": [look.guess for look in looks],
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{_NAME}.json").write_text(json.dumps(stored) + "\n", encoding="utf-8")
    np.savez_compressed(folder / f"{_NAME}.npz", attention=np.stack([look.attention for look in looks]))


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    record_training()
