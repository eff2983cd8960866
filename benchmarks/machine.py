"""Options, interleaved runs and the report of a benchmark, with the machine that it ran on."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch


def read_options(about: str | None, *own: tuple[str, dict[str, Any]]) -> argparse.Namespace:
    """Read the options of a benchmark, its own and the common ones; set threads and seed.

    Args:
        about: Its help.
        own: Names of its own options, each with the arguments of `add_argument`.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="Tiny and short: shows that it runs, measures nothing.")
    parser.add_argument("--rounds", type=int, default=0, metavar="N", help="Runs of each peer; 0 takes the default.")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="CPU threads. (default: 1)")
    parser.add_argument("--device", default="cpu", metavar="NAME", help="cpu, cuda, ... (default: cpu)")
    parser.add_argument(
        "--clock",
        choices=["wall", "cpu"],
        default="wall",
        help="cpu counts this process's own time, for a machine that does other work too. (default: wall)",
    )
    for name, arguments in own:
        parser.add_argument(name, **arguments)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    if options.clock == "cpu" and options.device != "cpu":
        raise SystemExit("--clock cpu measures nothing on a GPU")
    return options


def _describe(options: argparse.Namespace) -> dict[str, Any]:
    """Return the facts of the machine."""
    device = torch.device(options.device)
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else str(device),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "clock": options.clock,
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "date": time.strftime("%Y-%m-%d"),
        "quick": options.quick,
    }


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def interleaved(
    runs: Mapping[str, Callable[[], object]], *, rounds: int, options: argparse.Namespace
) -> dict[str, float]:
    """Return the median seconds of each run; runs take turns, so that a slow minute hits all alike."""
    clock = time.process_time if options.clock == "cpu" else time.perf_counter
    for run in runs.values():  # the first pass warms up
        run()
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            _wait(options.device)
            started = clock()
            run()
            _wait(options.device)
            times[name].append(clock() - started)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def _wait(device: str) -> None:
    """Wait for a GPU, which works on after the call returns."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table with columns flush right and numbers of three digits."""
    cells = [[f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = ("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "".join(f"{line}\n" for line in lines)


def report(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    answer: Mapping[str, Any],
    options: argparse.Namespace,
) -> None:
    """Print a table, then one line of JSON with the machine, its numbers rounded to three decimals."""
    sys.stdout.write(f"{title}\n{table(header, rows)}")
    sys.stdout.write(json.dumps(_rounded({**answer, "machine": _describe(options)}), ensure_ascii=False) + "\n")


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    return round(value, 3) if isinstance(value, float) else value
