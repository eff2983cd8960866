"""How long the layers of Table 1 (Section 4) take on this machine, measured live for everybody who watches.

    times = layer_times()
    times.start(width=64)          # does nothing while a measurement is going on
    view = times.watch()           # what there is of it so far

Real layers of PyTorch with the weights that they start with, one sentence, no gradient; each point is the fastest of
five passes. The measurement runs in a thread of its own that rests between points and gives way to translations on the
same server, and it ends when somebody stops it or nobody has watched for a while. What was measured of a width stays
until that width is measured again.
"""

from __future__ import annotations

import logging
import os
import platform
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from viz_app.serving.background_throttle import PATIENCE, BackgroundThrottle, Busy, never_busy

if TYPE_CHECKING:
    from torch import Tensor, nn

Kind = Literal["attention", "recurrent", "convolution", "restricted"]
State = Literal["idle", "running", "done", "stopped", "left", "failed"]

KINDS: tuple[Kind, ...] = get_args(Kind)
WIDTHS = (64, 256)
LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048)
HEAD = 64  # width of one head, as in the paper
KERNEL = 3
REACH = 32  # positions on either side that restricted attention sees
PASSES = 5
PACE = 0.2  # seconds from one point to the next, at least: one sees them come

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Measurement:
    """One measurement.

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
    """What Python and PyTorch know of the machine; its name is nobody's business.

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
    """What there is of the measurements.

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
    """One layer of each kind as training would start with it; see `forward`.

    Args:
        width: d, a multiple of `HEAD`.
    """
    from torch import nn

    from transformer_core.attention import MultiHeadAttention
    from transformer_core.restricted import RestrictedAttention

    heads: dict[str, Any] = {"d_model": width, "num_heads": width // HEAD, "d_k": HEAD, "d_v": HEAD}
    layers: dict[Kind, nn.Module] = {
        "attention": MultiHeadAttention(**heads),
        "recurrent": nn.RNN(width, width, batch_first=True),
        "convolution": nn.Conv1d(width, width, KERNEL, padding=KERNEL // 2),
        "restricted": RestrictedAttention(window=REACH, causal=False, **heads),
    }
    return {kind: layer.eval() for kind, layer in layers.items()}


def forward(kind: Kind, layer: nn.Module, x: Tensor) -> Tensor:
    """(1, n, d) -> (1, n, d): every layer gets the same and gives the same shape."""
    out: Tensor
    if kind == "recurrent":
        out, _ = layer(x)
    elif kind == "convolution":
        out = layer(x.transpose(1, 2)).transpose(1, 2)  # it wants (1, d, n)
    else:
        out = layer(x, x, None)
    return out


def min_seconds(kind: Kind, layer: nn.Module, x: Tensor) -> float:
    """Seconds of the fastest of `PASSES` passes, after one to get ready."""
    import torch

    seconds = []
    with torch.inference_mode():
        for _ in range(1 + PASSES):
            started = time.perf_counter()
            forward(kind, layer, x)
            seconds.append(time.perf_counter() - started)
    return min(seconds[1:])


def crossover_lengths(points: Sequence[Measurement]) -> tuple[int, int] | None:
    """The two neighbouring lengths between which self-attention becomes slower than recurrence, and stays so.

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
    """The machine on which this runs."""
    import torch

    processor = platform.processor() or platform.machine()
    return Machine(platform.system(), processor, os.cpu_count() or 1, torch.get_num_threads(), torch.__version__)


class LayerBenchmark:
    """A measurement that all sessions share.

    Args:
        lengths: n of the points, in the order in which they are measured.
        pace: Seconds from one point to the next, at least.
        patience: Seconds without a watcher after which it stops.
        clock: Tells the time.
        pause: Waits.
    """

    def __init__(
        self,
        lengths: Sequence[int] = LENGTHS,
        pace: float = PACE,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._lengths, self._pace = tuple(lengths), pace
        self._manners = BackgroundThrottle(patience, clock, pause)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._state: State = "idle"
        self._number = self._width = 0
        self._points: dict[int, tuple[Measurement, ...]] = {}
        self.thread: threading.Thread | None = None

    @property
    def total(self) -> int:
        """Points of a whole measurement."""
        return len(self._lengths) * len(KINDS)

    def start(self, width: int, busy: Busy = never_busy) -> bool:
        """Start to measure, unless that is going on. Returns whether this call started it.

        Args:
            width: One of `WIDTHS`.
            busy: Whether the server has something better to do; points wait for that, a second each at most.

        Raises:
            ValueError: The width is none of these.
        """
        if width not in WIDTHS:
            raise ValueError(f"width is {width}, but must be one of {', '.join(map(str, WIDTHS))}")
        with self._lock:
            if self._state == "running":
                return False
            self._manners.watch()
            self._stopping.clear()
            self._state, self._number, self._width = "running", self._number + 1, width
            self._points[width] = ()
            self.thread = threading.Thread(target=self._measure, args=(width, busy), name="layer-times", daemon=True)
            self.thread.start()
            return True

    def stop(self) -> None:
        """Stop what goes on, for everybody; what was measured stays."""
        self._stopping.set()

    def watch(self) -> Progress:
        """What there is; the measurement goes on as long as somebody watches."""
        self._manners.watch()
        return self.view()

    def view(self) -> Progress:
        """What there is; asking so is no watching."""
        with self._lock:
            return Progress(self._state, self._number, self._width, dict(self._points))

    def _measure(self, width: int, busy: Busy) -> None:
        try:
            import torch

            layers = make_layers(width)
            for n in self._lengths:
                x = torch.randn(1, n, width, generator=torch.Generator().manual_seed(n))
                for kind in KINDS:
                    if over := self._stop_reason():
                        return self._end(over)
                    self._manners.yield_to(busy)
                    with self._manners.work_slice(self._pace):
                        point = Measurement(kind, n, min_seconds(kind, layers[kind], x))
                        with self._lock:
                            self._points[width] += (point,)
            self._end("done")
        except Exception:
            self._end("failed")
            _log.exception("measuring layers of width %d failed", width)

    def _stop_reason(self) -> State | None:
        """How it ends before its end, if it does."""
        if self._stopping.is_set():
            return "stopped"
        return "left" if self._manners.unwatched else None

    def _end(self, state: State) -> None:
        with self._lock:
            self._state = state


@cache
def layer_benchmark() -> LayerBenchmark:
    """The measurement of this process."""
    return LayerBenchmark()
