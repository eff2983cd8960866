"""The state of a running training on disk: everything that the next update depends on. Never pickled.

One folder for each saved step: `model.safetensors` (float32), `optimizer.safetensors` (Adam's moments, random state)
and `state.json` (step, place in the data).
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from transformer_core.data import PLAN_VERSION
from transformer_core.files import whole_folder, write_json
from transformer_core.model import load_weights

STATE_VERSION = 1


class StateError(ValueError):
    """A saved training state that cannot be used; the message names the folder."""


@dataclass
class Progress:
    """Where a training stands.

    Args:
        step: Updates done.
        epoch: Passes over the data that were completed.
        batch: Batches of the running epoch that were used.
        target_pieces: Target pieces trained on so far.
        seconds: Time spent in training so far.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    target_pieces: int = 0
    seconds: float = 0.0


def step_folders(run: Path) -> list[Path]:
    """The saved steps of a run, oldest first."""
    return sorted(run.glob("step-????????"))


def forget_partial_steps(run: Path) -> None:
    """Remove what a killed process left behind while it saved."""
    for folder in run.glob(".step-*.partial"):
        shutil.rmtree(folder)


def save_state(run: Path, model: nn.Module, optimizer: torch.optim.Optimizer, progress: Progress, keep: int) -> Path:
    """Save a step, whole or not at all, and forget the oldest beyond `keep`."""
    folder = run / f"step-{progress.step:08d}"
    weights = {name: parameter.detach().cpu().contiguous() for name, parameter in model.named_parameters()}
    moments: dict[str, Tensor] = {"random.cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        moments["random.cuda"] = torch.cuda.get_rng_state()
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state[parameter].items():
            moments[f"{key}/{name}"] = value.detach().cpu().contiguous()
    with whole_folder(folder) as partial:
        save_file(weights, partial / "model.safetensors")
        save_file(moments, partial / "optimizer.safetensors")
        write_json(partial / "state.json", {"version": STATE_VERSION, "plan": PLAN_VERSION, **vars(progress)})
    for old in step_folders(run)[:-keep]:
        shutil.rmtree(old)
    return folder


def load_state(folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
    """Continue exactly where a saved step stood. Raises StateError when the folder is damaged or of another model."""
    try:
        values = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
        moments = load_file(folder / "optimizer.safetensors")
    except (OSError, ValueError, SafetensorError) as error:
        raise StateError(f"cannot read the training state in {folder}: {error}") from error
    if values.pop("version", None) != STATE_VERSION:
        raise StateError(f"{folder} has another format than version {STATE_VERSION}")
    if (plan := values.pop("plan", 1)) != PLAN_VERSION:
        raise StateError(
            f"{folder} was saved by a program that puts pairs into batches in another way (plan {plan}, here "
            f"{PLAN_VERSION}), so that its place in the data means nothing here; go on with that program, or start "
            "anew from its weights: `average --last 1`, then `train --init-from`"
        )
    try:
        load_weights(model, weights)
        for name, parameter in model.named_parameters():
            optimizer.state[parameter] = {
                key: moments[f"{key}/{name}"].to(
                    "cpu" if key == "step" and parameter.device.type == "cpu" else parameter.device
                )
                for key in ("step", "exp_avg", "exp_avg_sq")
            }
        torch.set_rng_state(moments["random.cpu"])
        if torch.cuda.is_available() and "random.cuda" in moments:
            torch.cuda.set_rng_state(moments["random.cuda"])
        return Progress(**values)
    except (ValueError, KeyError, TypeError) as error:
        raise StateError(f"the training state in {folder} does not fit this model: {error}") from error


def average_weights(folders: list[Path]) -> dict[str, Tensor]:
    """The mean of the weights of several saved steps (Section 6.1 averages the last 5).

    Raises:
        StateError: A folder cannot be read, or the folders hold different models.
    """
    if not folders:
        raise StateError("no saved steps to average")
    total: dict[str, Tensor] = {}
    for folder in folders:
        try:
            weights = load_file(folder / "model.safetensors")
        except (OSError, SafetensorError) as error:
            raise StateError(f"cannot read the weights in {folder}: {error}") from error
        if total and {name: w.shape for name, w in weights.items()} != {name: w.shape for name, w in total.items()}:
            raise StateError(f"{folder} holds another model than {folders[0]}")
        for name, tensor in weights.items():
            total[name] = total[name] + tensor.double() if name in total else tensor.double()
    return {name: (tensor / len(folders)).float() for name, tensor in total.items()}
