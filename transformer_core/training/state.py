"""The state of a running training on disk: everything that the next step depends on. Never pickled.

One folder for each saved step: `model.safetensors` (float32), `optimizer.safetensors` (optimizer state,
random state) and `state.json` (step, place in the data). The folder of the best step has no `optimizer.safetensors`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from transformer_core.data import PLAN_VERSION
from transformer_core.model.transformer import load_weights
from transformer_core.storage.files import atomic_directory, recover_interrupted_writes, remove_directory, write_json
from transformer_core.storage.format_1 import current_names
from transformer_core.storage.tensor_files import save_tensors
from transformer_core.training.best_step import BestStep
from transformer_core.training.distributed import SINGLE_PROCESS, ProcessGroup, distribute_like, full_tensor
from transformer_core.training.optimizer import Optimizer

STATE_VERSION = 1


class StateError(ValueError):
    """A saved training state that cannot be used; the message names the folder."""


@dataclass
class Progress:
    """Progress of a training.

    Args:
        step: Steps done.
        epoch: Completed passes over the data.
        batch: Batches of the current epoch that were used.
        target_tokens: Target tokens trained on so far.
        seconds: Time spent in training so far.
        recent_nll: Negative log-likelihood of each of the latest steps, in nats, summed over its tokens.
        recent_tokens: Target tokens of each of them.
        line_nll: Negative log-likelihood of all steps since the last line of the journal.
        line_tokens: Their target tokens.
        bucketed: Whether batches are padded to a few shapes, which decides what `batch` means; None in states of old.
        best: The best step by a validation score.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    target_tokens: int = 0
    seconds: float = 0.0
    recent_nll: list[float] = field(default_factory=list)
    recent_tokens: list[int] = field(default_factory=list)
    line_nll: float = 0.0
    line_tokens: int = 0
    bucketed: bool | None = None
    best: BestStep = field(default_factory=BestStep)

    @property
    def recent_mean(self) -> float:
        """Training loss per token of the latest steps, in nats."""
        return sum(self.recent_nll) / sum(self.recent_tokens)

    def add_step(self, nll: float, tokens: int, window: int) -> None:
        """Count the nll of a step; the sums of the latest `window` steps are kept."""
        self.target_tokens += tokens
        self.recent_nll = [*self.recent_nll, nll][-window:]
        self.recent_tokens = [*self.recent_tokens, tokens][-window:]
        self.line_nll += nll
        self.line_tokens += tokens

    def end_line(self) -> float:
        """Return the nll per token since the last line of the journal; a batch of one length alone says little."""
        mean = self.line_nll / self.line_tokens
        self.line_nll, self.line_tokens = 0.0, 0
        return mean


def step_folders(run: Path) -> list[Path]:
    """Return the saved steps of a run, oldest first."""
    return sorted(run.glob("step-????????"))


def remove_partial_steps(run: Path) -> None:
    """Clean up after a process that was killed while it saved or removed a step."""
    recover_interrupted_writes(run, "*-????????")


def best_folder(run: Path, step: int) -> Path:
    """Return the folder of a step that was the best when it was validated."""
    return run / f"best-{step:08d}"


def save_best(run: Path, model: nn.Module, progress: Progress, group: ProcessGroup = SINGLE_PROCESS) -> None:
    """Save the weights of the best step atomically; to be called in every process.

    Earlier ones stay until the next step is saved: a killed training resumes from one that knows no other.
    """
    weights = {name: _on_cpu(parameter) for name, parameter in model.named_parameters()}
    if group.is_main:
        with atomic_directory(best_folder(run, progress.step)) as partial:
            save_tensors(partial / "model.safetensors", weights)
            _write_state(partial, progress)


def keep_best(run: Path, step: int) -> None:
    """Remove the weights of all other steps that were once the best."""
    for folder in set(run.glob("best-????????")) - {best_folder(run, step)}:
        remove_directory(folder)


def save_state(
    run: Path,
    model: nn.Module,
    optimizer: Optimizer,
    progress: Progress,
    keep: int,
    group: ProcessGroup = SINGLE_PROCESS,
) -> Path:
    """Save a step atomically, and remove the oldest beyond `keep`; to be called in every process."""
    folder = run / f"step-{progress.step:08d}"
    moments = _random_states(group)
    weights = {}
    optimizer.synchronize_state()
    for name, parameter in model.named_parameters():
        weights[name] = _on_cpu(parameter)
        for key, value in optimizer.state[parameter].items():
            moments[f"{key}/{name}"] = _on_cpu(value)
    if group.is_main:
        with atomic_directory(folder) as partial:
            save_tensors(partial / "model.safetensors", weights)
            save_tensors(partial / "optimizer.safetensors", moments)
            _write_state(partial, progress)
        for old in step_folders(run)[:-keep]:
            remove_directory(old)
        keep_best(run, progress.best.step)
    group.barrier()
    return folder


def _write_state(folder: Path, progress: Progress) -> None:
    write_json(folder / "state.json", {"version": STATE_VERSION, "plan": PLAN_VERSION, **asdict(progress)})


def _on_cpu(value: Tensor) -> Tensor:
    return full_tensor(value.detach()).cpu().contiguous()


def _random_states(group: ProcessGroup) -> dict[str, Tensor]:
    """Return the random states of all processes; the main one's have no number, as in a single process."""
    states = {f"random.cpu{_number(rank)}": state for rank, state in enumerate(group.gather(torch.get_rng_state()))}
    if torch.cuda.is_available():
        cuda = group.gather(torch.cuda.get_rng_state())
        states |= {f"random.cuda{_number(rank)}": state for rank, state in enumerate(cuda)}
    return states


def _number(rank: int) -> str:
    return f".{rank}" if rank else ""


def load_state(folder: Path, model: nn.Module, optimizer: Optimizer, group: ProcessGroup = SINGLE_PROCESS) -> Progress:
    """Continue exactly from a saved step, with the same number of processes or another.

    A process that the saved training did not have starts with a new dropout seed.

    Raises:
        StateError: The folder is damaged or of another model.
    """
    try:
        values = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
        moments = load_file(folder / "optimizer.safetensors")
    except (OSError, ValueError, SafetensorError) as error:
        raise StateError(f"cannot read the training state in {folder}: {error}") from error
    if values.pop("version", None) != STATE_VERSION:
        raise StateError(f"{folder} does not have format version {STATE_VERSION}")
    if (plan := values.pop("plan", 1)) != PLAN_VERSION:
        raise StateError(
            f"{folder} was saved by a version that batches pairs differently (plan {plan}, here {PLAN_VERSION}), so "
            "its position in the data is not valid here; continue with that version, or start a new training from "
            "its weights: `average --last 1`, then `train --init-from`"
        )
    try:
        parameters = dict(model.named_parameters())
        load_weights(
            model, {n: distribute_like(w, parameters[n]) if n in parameters else w for n, w in weights.items()}
        )
        for name, parameter in parameters.items():
            for key, value in optimizer.state[parameter].items():
                value.copy_(distribute_like(moments[f"{key}/{name}"], value))
        _set_random_state(moments, group.rank)
        return Progress(**{**current_names(values), "best": BestStep(**values.get("best", {}))})
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        raise StateError(f"the training state in {folder} does not fit this model: {error}") from error


def _set_random_state(moments: dict[str, Tensor], rank: int) -> None:
    cpu, cuda = f"random.cpu{_number(rank)}", f"random.cuda{_number(rank)}"
    if rank == 0 or cpu in moments:
        torch.set_rng_state(moments[cpu])
    if torch.cuda.is_available() and cuda in moments:
        torch.cuda.set_rng_state(moments[cuda])


def read_weights(file: Path) -> dict[str, Tensor]:
    """Read a file of weights. Raises StateError when it is missing or damaged."""
    try:
        return load_file(file)
    except (OSError, SafetensorError) as error:
        raise StateError(f"cannot read the weights in {file}: {error}") from error


def average_weights(folders: list[Path]) -> dict[str, Tensor]:
    """Return the mean of the weights of several saved steps (Section 6.1 averages the last 5).

    Raises:
        StateError: A folder cannot be read, or the folders hold different models.
    """
    if not folders:
        raise StateError("no saved steps to average")
    total: dict[str, Tensor] = {}
    for folder in folders:
        weights = read_weights(folder / "model.safetensors")
        if total and {name: w.shape for name, w in weights.items()} != {name: w.shape for name, w in total.items()}:
            raise StateError(f"{folder} has another model than {folders[0]}")
        for name, tensor in weights.items():
            total[name] = total[name] + tensor.double() if name in total else tensor.double()
    return {name: (tensor / len(folders)).float() for name, tensor in total.items()}
