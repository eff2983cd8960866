"""Training steps as CUDA graphs: their kernels are launched together, so that the host is no limit.

A graph repeats the kernels of one run on the same memory: batches are copied to where it reads them, and gradients stay
where they are. There is one graph for the gradients of each shape of batches, and one for the update.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch

from transformer_core.config import TrainingConfig
from transformer_core.data import Batch
from transformer_core.devices import backend
from transformer_core.hooks.points import has_hooks, hook_points
from transformer_core.training.distributed import ProcessGroup
from transformer_core.training.step import TrainingStep

log = logging.getLogger(__name__)

Run = Callable[[], object]


def wants_graphs(step: TrainingStep, config: TrainingConfig, group: ProcessGroup) -> bool:
    """Return whether a new training will be captured, for which its batches need few shapes."""
    return config.cuda_graphs and backend(step.scale.device).cuda_graphs and not _obstacle(step, config, group)


def graphed(
    step: TrainingStep, config: TrainingConfig, group: ProcessGroup, widths: Sequence[int]
) -> TrainingStep | GraphedStep:
    """Return the step in graphs; the step itself where the device has none, or with the reason in the log.

    Args:
        step: The step.
        config: How to train.
        group: The processes that train together.
        widths: Widths of batches; none if they have any width.
    """
    if not (config.cuda_graphs and backend(step.scale.device).cuda_graphs):
        return step
    obstacle = _obstacle(step, config, group) or ("" if widths else "this training began with batches of any width")
    if obstacle:
        log.warning("training without CUDA graphs: %s", obstacle)
        return step
    return GraphedStep(step, widths[-1])


def _obstacle(step: TrainingStep, config: TrainingConfig, group: ProcessGroup) -> str:
    if group.size > 1 or config.parallel == "fsdp":
        return "several processes train together"
    if config.activation_checkpointing:
        return "activation_checkpointing computes layers again"
    return "the model has hooks" if has_hooks(*hook_points(step.inner.model).values()) else ""


class GraphCapture:
    """Captures runs in CUDA graphs that share their memory, as no two are replayed at once."""

    def __init__(self) -> None:
        self._pool: Any = None

    def __call__(self, run: Run, warm_up: Run) -> Run:
        """Return a function that repeats a run; kernels are chosen in the warm-up."""
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            warm_up()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        # By default a capture forbids other threads to allocate, as the one that pins batches does.
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            run()
        self._pool = self._pool or graph.pool()
        return graph.replay


class GraphedStep:
    """The parts of a training step in graphs; what cannot be captured runs as it is, which is logged once.

    Args:
        step: Not in the middle of a step.
        widest: Positions of the longest batch.
    """

    def __init__(self, step: TrainingStep, widest: int) -> None:
        self._step = step
        self._batches: dict[Hashable, tuple[Batch, Run]] = {}
        self._capture = GraphCapture()
        self._is_off = False
        self._step.inner.model.positions(0, widest)  # grows now: a graph would keep the shorter table
        step.keep_gradients()
        self._update = self._captured(step.update, self._update_nothing) or step.update
        step.start_over()

    def add_gradients(self, batch: Batch) -> None:
        """Add the gradients of one batch."""
        shape = (*batch.source.shape, *batch.inputs.shape, batch.source_padded, self._step.inner.penalises)
        if shape not in self._batches and not self._is_off:
            place = batch.copy(self._step.scale.device)
            run = self._captured(lambda: self._step.add_gradients(place), lambda: self._forget_gradients(place))
            if run is not None:
                self._batches[shape] = place, run
        if shape not in self._batches:
            self._step.add_gradients(batch)
            return
        place, run = self._batches[shape]
        for there, ids in zip(place.ids, batch.ids, strict=True):
            there.copy_(ids, non_blocking=True)
        run()

    def update(self) -> None:
        """Update the weights."""
        self._update()

    def _captured(self, run: Run, warm_up: Run) -> Run | None:
        """Capture a run after a warm-up that leaves no trace; None if that fails."""
        if self._is_off:
            return None
        try:
            device = self._step.scale.device
            gpus = [device] if device.type == "cuda" else []
            with torch.random.fork_rng(gpus):  # dropout goes on as if there had been no warm-up
                return self._capture(run, warm_up)
        except RuntimeError as error:
            log.warning("training without CUDA graphs, since one could not be captured: %s", str(error).splitlines()[0])
            self._is_off = True
            return None

    def _forget_gradients(self, batch: Batch) -> None:
        loss, _ = self._step.loss(batch)
        torch.autograd.grad(loss * self._step.scale, self._step.parameters, allow_unused=True)

    def _update_nothing(self) -> None:
        failed = self._step.optimizer.failed
        before = failed.clone()
        failed.fill_(1.0)
        self._step.update()
        failed.copy_(before)
