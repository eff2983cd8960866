"""Measure a step of the optimizer: Adam, Muon, and Muon whose work two or more processes divide.

    python -m benchmarks.optimizer [--quick]
    torchrun --nproc-per-node 2 -m benchmarks.optimizer [--quick]

Gradients are random numbers. Each step ends when all processes have come to its end.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch

from benchmarks.machine import interleaved, read_options, report
from benchmarks.peers.twins import QUICK, SHAPE
from transformer_core.config import TrainingConfig
from transformer_core.model.transformer import Transformer, count_parameters
from transformer_core.training.distributed import SINGLE_PROCESS, ProcessGroup, join_process_group, local_device
from transformer_core.training.optimizer import Optimizer

ADAM, MUON = TrainingConfig(), TrainingConfig(optimizer="muon")


def step(
    model: Transformer, config: TrainingConfig, divided_among: ProcessGroup, group: ProcessGroup
) -> Callable[[], None]:
    """Return a function that takes one step of an optimizer."""
    optimizer = Optimizer(model, config, divided_among)
    gradients = [torch.randn_like(parameter) for parameter in model.parameters()]

    def run() -> None:
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            parameter.grad = gradient
        optimizer.step()
        group.barrier()

    return run


def measure(options: argparse.Namespace, group: ProcessGroup) -> dict[str, Any]:
    """Milliseconds of a step, and how many times as long as Adam's it takes."""
    model = Transformer(QUICK if options.quick else SHAPE).to(options.device)
    peers = {"adam": step(model, ADAM, SINGLE_PROCESS, group), "muon": step(model, MUON, SINGLE_PROCESS, group)}
    if group.size > 1:
        peers["muon_divided"] = step(model, MUON, group, group)
    seconds = interleaved(peers, rounds=options.rounds or (2 if options.quick else 15), options=options)
    return {
        "processes": group.size,
        "parameters": count_parameters(model),
        "ms": {name: round(1e3 * value, 1) for name, value in seconds.items()},
        "times_muon": {name: round(value / seconds["muon"], 3) for name, value in seconds.items()},
    }


def main() -> None:
    """Print a table, then one line of JSON."""
    options = read_options(__doc__)
    options.device = local_device(options.device)
    with join_process_group(torch.device(options.device)) as group:
        measurements = measure(options, group)
        if group.is_main:
            rows = [[name, ms, measurements["times_muon"][name]] for name, ms in measurements["ms"].items()]
            title = f"One step, {measurements['parameters']} parameters, {group.size} process(es)"
            report(title, ["optimizer", "ms", "times Muon undivided"], rows, {"optimizer": measurements}, options)


if __name__ == "__main__":
    main()
