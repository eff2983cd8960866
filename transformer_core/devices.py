"""Devices that compute: which one `auto` is, and how training runs best on each kind."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Backend:
    """Kind of device, by what decides how training runs there.

    Args:
        is_asynchronous: Whether kernels are queued, so that reading a value waits for all of them.
        cuda_graphs: Whether a step can be captured in CUDA graphs.
        pins_memory: Whether batches are copied faster from pinned memory.
        sum_dtype: Number format of sums over a batch; Apple's GPUs have no float64.
        logits_bytes: Memory for logits and their probabilities at most, which exist for some rows at a time.
    """

    is_asynchronous: bool
    cuda_graphs: bool
    pins_memory: bool
    sum_dtype: torch.dtype
    logits_bytes: int


BACKENDS = {
    "cpu": Backend(False, cuda_graphs=False, pins_memory=False, sum_dtype=torch.float64, logits_bytes=2**23),
    "cuda": Backend(True, cuda_graphs=True, pins_memory=True, sum_dtype=torch.float64, logits_bytes=2**31),
    "mps": Backend(True, cuda_graphs=False, pins_memory=False, sum_dtype=torch.float32, logits_bytes=2**29),
}
_OTHER = Backend(True, cuda_graphs=False, pins_memory=False, sum_dtype=torch.float32, logits_bytes=2**29)


def backend(device: torch.device) -> Backend:
    """Return the kind of a device."""
    return BACKENDS.get(device.type, _OTHER)


def logits_bytes(device: torch.device) -> int:
    """Return the memory for logits on a device; on a small GPU a sixteenth of its own."""
    most = backend(device).logits_bytes
    return min(most, torch.cuda.get_device_properties(device).total_memory // 16) if device.type == "cuda" else most


def best_device() -> str:
    """Return the device that `auto` means: a CUDA GPU, else one of Apple's, else the CPU."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def available_devices() -> list[str]:
    """Return the names that a user may give."""
    gpus = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    return ["auto", "cpu", *gpus, *(["mps"] if torch.backends.mps.is_available() else [])]
