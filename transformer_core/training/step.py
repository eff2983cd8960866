"""One step of the optimizer, which reads nothing back from the device.

Losses and gradient norms stay there until they are read, many steps at once. From the first step on whose loss or
gradient norm is not finite, no step changes anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from transformer_core.config import TrainingConfig
from transformer_core.data import Batch
from transformer_core.devices import backend
from transformer_core.training.batch_loader import StepBatches
from transformer_core.training.distributed import ProcessGroup, full_tensor, gradient_sync
from transformer_core.training.objective import Objective
from transformer_core.training.optimizer import Optimizer


@dataclass(frozen=True)
class StepReading:
    """Sums over the target tokens of one step, in all processes.

    Args:
        loss: The loss with label smoothing and head penalty, in nats.
        nll: Negative log-likelihood, in nats.
        gradient_norm: Of the mean loss.
        own_losses: The loss of each batch of this process.
    """

    loss: float
    nll: float
    gradient_norm: float
    own_losses: list[float]

    @property
    def is_finite(self) -> bool:
        """Whether the step changed the weights."""
        return math.isfinite(self.loss) and math.isfinite(self.gradient_norm)


class StepParts(Protocol):
    """The two parts of a step."""

    def add_gradients(self, batch: Batch) -> None:
        """Add the gradients of one batch."""

    def update(self) -> None:
        """Update the weights, if loss and gradient are finite in this step and all before."""


class TrainingStep:
    """Gradients of the batches of a step, then the update of the weights.

    Args:
        objective: The objective, perhaps wrapped for several processes.
        inner: The objective itself.
        optimizer: Updates the weights.
        config: How to train.
        group: The processes that train together.
    """

    def __init__(
        self, objective: nn.Module, inner: Objective, optimizer: Optimizer, config: TrainingConfig, group: ProcessGroup
    ) -> None:
        self.objective, self.inner, self.optimizer, self._group = objective, inner, optimizer, group
        self._limit = config.max_gradient_norm
        self.parameters = list(inner.parameters())
        self.keeps_gradients = False  # in the same memory, set to zero after an update
        device = optimizer.rate.device
        sums = backend(device).sum_dtype
        # Of each step: a row of loss and nll for each batch, and a row that begins with the norm of the gradient.
        self._rows = torch.zeros(config.log_every * (config.accumulate + 1), 2, dtype=sums, device=device)
        self._next_row = torch.zeros(1, dtype=torch.long, device=device)
        self._loss = torch.zeros((), dtype=sums, device=device)  # of this step so far
        self.scale = torch.zeros((), device=device)  # of the loss of a batch; 0 if it does not count

    def take(self, step: StepBatches, rate: float, parts: StepParts) -> None:
        """Queue a step on the mean loss over the target tokens of all processes.

        Args:
            step: Its batches.
            rate: Learning rate.
            parts: This step, or the same in graphs.
        """
        self.optimizer.rate.fill_(rate)
        for number, (batch, counts) in enumerate(step.batches, start=1):
            # The exchange averages over processes, but the sum is needed.
            self.scale.fill_(self._group.size / step.tokens if counts else 0.0)
            with gradient_sync(self.objective, now=number == len(step.batches)):
                parts.add_gradients(batch)
        parts.update()

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return loss and nll of a batch on the device, summed over its tokens."""
        sums: tuple[Tensor, Tensor] = self.objective(*batch.ids, batch.source_padded)
        return sums

    def add_gradients(self, batch: Batch) -> None:
        """Add the gradients of one batch."""
        loss, nll = self.loss(batch.to(self.scale.device))
        torch.autograd.backward(loss * self.scale)
        with torch.no_grad():
            sums = torch.stack((loss.detach(), nll)).to(self._rows.dtype)
            self._write(sums)
            self._loss += sums[0] * (self.scale > 0)

    @torch.no_grad()
    def update(self) -> None:
        """Update the weights, if loss and gradient are finite in this step and all before."""
        if self._limit:
            norm = nn.utils.clip_grad_norm_(self.parameters, self._limit)
        else:
            norm = nn.utils.get_total_norm([each.grad for each in self.parameters if each.grad is not None])
        norm = full_tensor(norm)
        finite = self._group.add_up(self._loss).isfinite() & norm.isfinite()
        failed = self.optimizer.failed
        torch.maximum(failed, (~finite).to(failed.dtype), out=failed)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=not self.keeps_gradients)
        self._write(norm.to(self._rows.dtype).expand(2))
        self._loss.zero_()

    def keep_gradients(self) -> None:
        """Keep the gradients in the same memory from now on, as graphs need them."""
        for parameter in self.parameters:
            parameter.grad = torch.zeros_like(parameter)
        self.keeps_gradients = True

    def read(self, steps: Sequence[StepBatches]) -> list[StepReading]:
        """Wait for the steps since the last reading, and return what came of them; to be called in every process."""
        rows = iter(self._rows[: sum(len(step.batches) + 1 for step in steps)].tolist())
        self.start_over()
        local, norms = [], []
        for step in steps:
            local.append([_counted(next(rows), counts) for _, counts in step.batches])
            norms.append(next(rows)[0])
        totals = self._group.sum(*(sum(column) for batches in local for column in zip(*batches, strict=True)))
        return [
            StepReading(loss, nll, norm, [of_batch for of_batch, _ in batches])
            for loss, nll, norm, batches in zip(totals[::2], totals[1::2], norms, local, strict=True)
        ]

    def _write(self, row: Tensor) -> None:
        self._rows.index_copy_(0, self._next_row, row[None])
        self._next_row += 1

    def start_over(self) -> None:
        """Forget the steps since the last reading."""
        self._next_row.zero_()


def _counted(row: list[float], counts: bool) -> list[float]:
    return row if counts else [0.0, 0.0]
