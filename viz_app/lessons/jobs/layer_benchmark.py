"""Timings of the layers of Table 1 (Section 4) on this machine, measured live for all visitors of the scene.

    times = layer_times()
    times.start(width=64)          # does nothing while a measurement is going on
    view = times.watch()           # what there is of it so far

Real layers of PyTorch with the weights that they start with, one sentence, no gradient; each point is the fastest of
five passes. What was measured of a width stays until that width is measured again.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from viz_app.lessons.jobs.shared_job import SharedJob, State
from viz_app.serving.scheduling.background_throttle import Busy, never_busy

if TYPE_CHECKING:
    from torch import Tensor, nn

Kind = Literal["attention", "recurrent", "convolution", "restricted"]

KINDS: tuple[Kind, ...] = get_args(Kind)
WIDTHS = (64, 256)
LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048)
HEAD = 64  # width of one head, as in the paper
KERNEL = 3
REACH = 32  # positions on either side that restricted attention sees
PASSES = 5
PACE = 0.2  # seconds from one point to the next, at least: one sees them come


@dataclass(frozen=True)
class Measurement:
    """Measurement of one layer and length.

    Args:
        kind: Of the layer.
        n: Tokens of the sentence.
        seconds: Of the fastest of `PASSES` passes.
    """

    kind: Kind
    n: int
    seconds: float


@dataclass(frozen=True)
class Machine:
    """Facts about the machine from Python and PyTorch, without its name.

    Args:
        system: Such as "Linux".
        processor: Such as "x86_64".
        cores: That the system tells of.
        threads: That PyTorch used.
        torch: Its version.
    """

    system: str
    processor: str
    cores: int
    threads: int
    torch: str


@dataclass(frozen=True)
class Progress:
    """State of the measurements.

    Args:
        state: Whether one goes on, has reached its end, was stopped, was left by all, failed, or there was none yet.
        number: Of the last one, from 1; 0 for none.
        width: d of the last one; 0 for none.
        points: By width, in the order in which they were measured.
    """

    state: State
    number: int
    width: int
    points: Mapping[int, tuple[Measurement, ...]]


def make_layers(width: int) -> dict[Kind, nn.Module]:
    """Build one untrained layer of each kind; see `forward`.

    Args:
        width: d, a multiple of `HEAD`.
    """
    from torch import nn

    from transformer_core.model.fast_attention import FastAttention
    from transformer_core.model.restricted import RestrictedAttention

    heads: dict[str, Any] = {"d_model": width, "num_heads": width // HEAD, "d_k": HEAD, "d_v": HEAD}
    layers: dict[Kind, nn.Module] = {
        "attention": FastAttention(**heads),
        "recurrent": nn.RNN(width, width, batch_first=True),
        "convolution": nn.Conv1d(width, width, KERNEL, padding=KERNEL // 2),
        "restricted": RestrictedAttention(window=REACH, **heads),
    }
    return {kind: layer.eval() for kind, layer in layers.items()}


def forward(kind: Kind, layer: nn.Module, x: Tensor) -> Tensor:
    """(1, n, d) -> (1, n, d): run a layer of any kind."""
    out: Tensor
    if kind == "recurrent":
        out, _ = layer(x)
    elif kind == "convolution":
        out = layer(x.transpose(1, 2)).transpose(1, 2)  # it wants (1, d, n)
    else:
        out = layer(x, x, None)
    return out


def min_seconds(kind: Kind, layer: nn.Module, x: Tensor) -> float:
    """Time a layer: seconds of the fastest of `PASSES` passes, after a warm-up."""
    import torch

    seconds = []
    with torch.inference_mode():
        for _ in range(1 + PASSES):
            started = time.perf_counter()
            forward(kind, layer, x)
            seconds.append(time.perf_counter() - started)
    return min(seconds[1:])


def crossover_lengths(points: Sequence[Measurement]) -> tuple[int, int] | None:
    """Find the two neighbouring lengths between which self-attention becomes slower than recurrence for good.

    Nothing is known of what lies between them. None where it did not happen among what was measured.
    """
    times = {(point.kind, point.n): point.seconds for point in points}
    lengths = sorted({n for kind, n in times if kind == "attention"} & {n for kind, n in times if kind == "recurrent"})
    slower = [times["attention", n] > times["recurrent", n] for n in lengths]
    if not slower or not slower[-1] or all(slower):
        return None
    last = max(at for at, is_slower in enumerate(slower) if not is_slower)
    return lengths[last], lengths[last + 1]


def machine() -> Machine:
    """Describe the machine on which this runs."""
    import torch

    processor = platform.processor() or platform.machine()
    return Machine(platform.system(), processor, os.cpu_count() or 1, torch.get_num_threads(), torch.__version__)


class LayerBenchmark(SharedJob):
    """Measurement that all sessions share.

    Args:
        lengths: n of the points, in the order in which they are measured.
        pace: Seconds from one point to the next, at least.
        options: Of a `SharedJob`: patience, clock and pause.
    """

    def __init__(self, lengths: Sequence[int] = LENGTHS, pace: float = PACE, **options: Any) -> None:
        super().__init__("measuring layers", pace, **options)
        self._lengths = tuple(lengths)
        self._width = 0
        self._points: dict[int, tuple[Measurement, ...]] = {}

    @property
    def total(self) -> int:
        """Number of points of a whole measurement."""
        return len(self._lengths) * len(KINDS)

    def start(self, width: int, busy: Busy = never_busy) -> bool:
        """Start the measurement; see `SharedJob`.

        Args:
            width: One of `WIDTHS`.
            busy: Whether the server has something better to do; points wait for that, a second each at most.

        Raises:
            ValueError: The width is none of these.
        """
        if width not in WIDTHS:
            raise ValueError(f"width is {width}, but must be one of {', '.join(map(str, WIDTHS))}")
        return self._start(partial(self._begin, width), self.total, busy)

    def watch(self) -> Progress:
        """Return the state and keep the measurement going: it ends without watchers."""
        self.throttle.watch()
        return self.view()

    def view(self) -> Progress:
        """Return the state without counting as a watcher."""
        with self._lock:
            return Progress(self.state, self.number, self._width, dict(self._points))

    def _begin(self, width: int) -> Iterator[None]:
        self._width, self._points[width] = width, ()
        return self._measure(width)

    def _measure(self, width: int) -> Iterator[None]:
        import torch

        layers = make_layers(width)
        for n in self._lengths:
            x = torch.randn(1, n, width, generator=torch.Generator().manual_seed(n))
            for kind in KINDS:
                point = Measurement(kind, n, min_seconds(kind, layers[kind], x))
                with self._lock:
                    self._points[width] += (point,)
                yield


@cache
def layer_benchmark() -> LayerBenchmark:
    """Return the measurement of this process."""
    return LayerBenchmark()
