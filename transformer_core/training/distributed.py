"""Training in several processes: started by torchrun, one for each GPU, on one machine or many.

Every process reads other batches of the same plan. Gradients are averaged by DistributedDataParallel, or weights,
gradients and optimizer state are sharded over the processes by `fully_shard` (FSDP2).
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

from transformer_core.config import ConfigError

Item = TypeVar("Item")

# How long the others wait while the main process validates and saves.
_TIMEOUT = timedelta(hours=2)


@dataclass(frozen=True)
class ProcessGroup:
    """This process and the others that train with it.

    Args:
        rank: Number of this process, from 0; process 0 is the main one, which logs, validates and saves.
        size: Number of processes.
        device: Where tensors must be to be exchanged.
    """

    rank: int = 0
    size: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def is_main(self) -> bool:
        """Whether this process logs, validates and saves."""
        return self.rank == 0

    def share(self, items: Sequence[Item]) -> list[tuple[Item, bool]]:
        """Return this process's part of the items, as many as every other process has.

        The second value is False for an item that another process has too, and that must not count: all processes must
        run the same number of batches, since they exchange gradients after each.
        """
        mine = [(item, True) for item in items[self.rank :: self.size]]
        return mine if len(mine) * self.size >= len(items) and mine else [*mine, (items[0], False)]

    def sum(self, *values: float) -> list[float]:
        """Return each value, summed over all processes."""
        if self.size == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return total.tolist()

    def add_up(self, value: Tensor) -> Tensor:
        """Return a value on the device that trains, summed over all processes."""
        if self.size > 1:
            value = value.clone()
            dist.all_reduce(value)
        return value

    def any(self, *flags: bool) -> list[bool]:
        """For each flag, whether it is set in any process."""
        return [value > 0 for value in self.sum(*map(float, flags))]

    def gather(self, value: Tensor) -> list[Tensor]:
        """Return the values of all processes in their order, on the CPU; all of one shape."""
        if self.size == 1:
            return [value.cpu()]
        values = [torch.empty_like(value, device=self.device) for _ in range(self.size)]
        dist.all_gather(values, value.to(self.device))
        return [each.cpu() for each in values]

    def broadcast(self, value: Tensor, rank: int) -> Tensor:
        """Return the value of the process of this rank, in all of them; of one shape, and on the device that trains."""
        dist.broadcast(value, rank)
        return value

    def barrier(self) -> None:
        """Wait until all processes are here."""
        self.sum(0.0)


SINGLE_PROCESS = ProcessGroup()


def is_torchrun() -> bool:
    """Return whether torchrun started this process."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def local_device(device: str) -> str:
    """Return the device of this process: `cuda` means the GPU of its local rank."""
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if device == "cuda" and is_torchrun() else device


@contextmanager
def join_process_group(device: torch.device) -> Iterator[ProcessGroup]:
    """Join the process group of torchrun's environment; a group of one without torchrun.

    A replicated module must be gone before the block ends. Its Reducer would be the last to hold Gloo's threads, and
    waits for them with the GIL, which they may wait for: https://github.com/pytorch/pytorch/issues/56297.

    Args:
        device: Where this process trains; GPUs use NCCL, CPUs Gloo.

    Raises:
        ConfigError: torchrun's environment is incomplete.
    """
    if not is_torchrun():
        yield ProcessGroup(device=device)
        return
    missing = [name for name in ("MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if missing:
        raise ConfigError(f"RANK and WORLD_SIZE are set, but not {' and '.join(missing)}; start with torchrun")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_TIMEOUT)
    group = ProcessGroup(dist.get_rank(), dist.get_world_size(), device)
    try:
        if not group.is_main:
            logging.getLogger("transformer_core").setLevel(logging.ERROR)
        yield group
    finally:
        dist.destroy_process_group()


def replicated(module: nn.Module, group: ProcessGroup) -> nn.Module:
    """Return the module with its gradients averaged over the group; the module itself for a group of one."""
    if group.size == 1:
        return module
    ids = [group.device] if group.device.type == "cuda" else None
    with warnings.catch_warnings():
        # The table of positions grows in each process on its own, so buffers must not be exchanged; what torch 2.13
        # names instead of this option is not there in older ones.
        warnings.filterwarnings("ignore", message=".*broadcast_buffers", category=FutureWarning)
        return DistributedDataParallel(module, device_ids=ids, broadcast_buffers=False, gradient_as_bucket_view=True)


def sharded(module: nn.Module, layers: Sequence[nn.Module], group: ProcessGroup) -> nn.Module:
    """Shard weights, gradients and optimizer state of a module over the group; each layer is gathered to run.

    Parameters keep their names and become DTensors, so the optimizer has to be built afterwards.

    Raises:
        ConfigError: torchrun did not start this process, so that there is no group.
    """
    if not dist.is_initialized():
        raise ConfigError("parallel is 'fsdp', but torchrun did not start this process (see docs/training.md)")
    mesh = init_device_mesh(group.device.type, (group.size,))
    for part in (*layers, module):
        fully_shard(part, mesh=mesh)
    return module


@contextmanager
def gradient_sync(module: nn.Module, now: bool) -> Iterator[None]:
    """Run forward and backward inside; the processes exchange the accumulated gradients only if `now`."""
    if isinstance(module, DistributedDataParallel) and not now:
        with module.no_sync():
            yield
        return
    if isinstance(module, FSDPModule):
        module.set_requires_gradient_sync(now)
    yield


def full_tensor(value: Tensor) -> Tensor:
    """Return a sharded tensor, gathered in every process (all must call this); other tensors unchanged."""
    return value.full_tensor() if isinstance(value, DTensor) else value


def distribute_like(value: Tensor, like: Tensor) -> Tensor:
    """Return a full tensor on the device of another one, and sharded like it."""
    if isinstance(like, DTensor):
        # Every process holds the whole value, so nothing has to be sent.
        return distribute_tensor(value.to(like.device), like.device_mesh, like.placements, src_data_rank=None)
    return value.to(like.device)
