"""`metrics.jsonl`: the log of a training, one JSON object per line; and its curves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from transformer_core.config import ConfigError
from transformer_core.storage.files import atomic_write_text, recover_interrupted_writes

_OF_UPDATES = ("loss", "nll", "mean_nll", "learning_rate", "gradient_norm")


def require_tensorboard() -> None:
    """Raise ConfigError where TensorBoard is not installed."""
    if find_spec("tensorboard") is None:
        raise ConfigError("training.tensorboard needs TensorBoard: python -m pip install tensorboard")


class Journal:
    """The journal of one run.

    Args:
        run: Folder of the run.
        writes: Whether this process is the one that writes.
        after: The newest saved step; lines of later ones are removed, since a resumed run repeats them.
        tensorboard: Whether all numbers go to `run/tensorboard` too. Raises ConfigError where it is not installed.
    """

    def __init__(self, run: Path, writes: bool = True, after: int = 0, tensorboard: bool = False) -> None:
        self.path = run / "metrics.jsonl"
        self.writes = writes
        self._board: Any = None
        if writes and tensorboard:
            require_tensorboard()
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(run / "tensorboard", purge_step=after + 1)
        if writes:
            recover_interrupted_writes(run, self.path.name)
        if writes and self.path.exists():
            # A line without its end was cut off when the run was killed.
            whole = {line: json.loads(line) for line in self.path.read_text(encoding="utf-8").split("\n")[:-1]}
            lines = [line for line, values in whole.items() if values["step"] <= after and "ended" not in values]
            atomic_write_text(self.path, "".join(line + "\n" for line in lines))

    def write(self, line: dict[str, Any]) -> None:
        """Add a line."""
        if self.writes:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        if self._board is not None:
            for name, value in _numbers(line):
                self._board.add_scalar(name, value, line["step"])
            self._board.flush()


def _numbers(values: Mapping[str, Any], group: str = "") -> Iterator[tuple[str, float]]:
    """Yield all numbers of a line but its step, by names such as `validation/valid/nll`."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{group}{name}/")
        elif isinstance(value, int | float) and name != "step":
            yield f"{group}{name}", value


def training_curves(run: Path) -> dict[str, Any]:
    """Return the curves of a training as columns: the recorded values with 6 digits, nothing interpolated.

    Args:
        run: Folder of the run.

    Returns:
        `updates`: for every recorded step its `step`, `loss` with label smoothing and `nll` without, in nats per token,
        `mean_nll` of the steps since the previous line, `learning_rate`, `gradient_norm`.
        `validation`: for every set by its name the `step`, `nll`, and `bleu` of a few greedy translations.
        `ended`: Why it ended, None where it was killed.
        `failed`: None, or the step whose loss or gradient was not finite, with `step`, `loss` and `gradient_norm` as
        text.

    Raises:
        OSError: There is no journal.
        ValueError: A line is not valid JSON.
    """
    text = (run / "metrics.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.split("\n")[:-1]]  # without the last, incomplete one
    updates = [line for line in lines if "loss" in line]
    validation: dict[str, dict[str, list[float]]] = {}
    for line in lines:
        for name, scores in line.get("validation", {}).items():
            columns = validation.setdefault(name, {"step": []})
            columns["step"].append(line["step"])
            for key in ("nll", "bleu"):
                if key in scores:
                    columns.setdefault(key, []).append(_short(scores[key]))
    return {
        "updates": {
            "step": [line["step"] for line in updates],
            **{name: [_short(line[name]) for line in updates] for name in _OF_UPDATES},
        },
        "validation": validation,
        "ended": lines[-1].get("ended") if lines else None,
        "failed": _failed(run, max((line["step"] for line in updates), default=0)),
    }


def _failed(run: Path, last: int) -> dict[str, Any] | None:
    """Return the step that failed after the last line of the journal, if one did."""
    for report in sorted(run.glob("failed-????????/report-0.json")):
        values = json.loads(report.read_text(encoding="utf-8"))
        if int(values["step"]) > last:
            return {"step": int(values["step"]), "loss": values["loss"], "gradient_norm": values["gradient_norm"]}
    return None


def _short(value: float) -> float:
    return float(f"{value:.6g}")
