"""One training at a time, live, for everybody who watches.

    run = live_run()
    run.start()                   # does nothing while one is going on
    view = run.watch("amanrides") # what there is of it so far, with a look at this word at several moments

It runs in a thread of its own that rests between updates and gives way to translations on the same server, and it ends
when nobody has watched for a while. What was recorded stays until the next one starts.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from viz_app.serving.background_throttle import PATIENCE, BackgroundThrottle, Busy, never_busy

if TYPE_CHECKING:
    from viz_app.lessons.jobs.reversal_task import AttentionProbe, ProbeResult, ReversalTrainer

State = Literal["idle", "running", "done", "stopped"]

PACE = 0.08  # seconds from one update to the next, at least
SNAPSHOT_EVERY = 10  # updates between two moments that are kept
_MOST_WORDS = 64  # of which looks are kept

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """What there is of the run.

    Args:
        state: Whether it goes on, has reached its end, was left by all, or there was none yet.
        number: Of the run, from 1; 0 for none.
        loss: Of each update so far, nats per letter.
        moments: Updates after which a look was taken.
        looks: At a word, one for each moment.
    """

    state: State
    number: int
    loss: tuple[float, ...] = ()
    moments: tuple[int, ...] = ()
    looks: tuple[ProbeResult, ...] = ()


class _Record:
    """One run: what it has left so far. The thread appends, others read; a moment is there before its number."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.state: State = "running"
        self.loss: list[float] = []
        self.moments: list[int] = []
        self.weights: list[dict[str, Any]] = []
        self.looks: OrderedDict[str, list[ProbeResult]] = OrderedDict()


class LiveTraining:
    """A training that all sessions share.

    Args:
        steps: Updates of a run; None for the recipe's.
        pace: Seconds from one update to the next, at least.
        patience: Seconds without a watcher after which it stops.
        clock: Tells the time.
        pause: Waits.
    """

    def __init__(
        self,
        steps: int | None = None,
        pace: float = PACE,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._steps, self._pace = steps, pace
        self.throttle = BackgroundThrottle(patience, clock, pause)
        self._lock = threading.Lock()
        self._record: _Record | None = None
        self._looker: AttentionProbe | None = None
        self._looking = threading.Lock()  # one for all runs, for they share the looker, whose weights each look changes
        self.thread: threading.Thread | None = None

    def start(self, busy: Busy = never_busy) -> bool:
        """Start a run, unless one is going on. Returns whether this call started it.

        Args:
            busy: Whether the server has something better to do; updates wait for that, a second each at most.
        """
        with self._lock:
            if self._record is not None and self._record.state == "running":
                return False
            self.throttle.watch()
            self._record = _Record(1 if self._record is None else self._record.number + 1)
            self.thread = threading.Thread(target=self._train, args=(self._record, busy), name="live-run", daemon=True)
            self.thread.start()
            return True

    @property
    def state(self) -> State:
        """Whether a run goes on; asking is no watching."""
        record = self._record
        return "idle" if record is None else record.state

    def watch(self, word: str) -> Progress:
        """What there is of the run, with looks at a word of 3 to 9 letters; it goes on as long as somebody watches."""
        self.throttle.watch()
        record = self._record
        if record is None:
            return Progress("idle", 0)
        state, loss, moments = record.state, tuple(record.loss), tuple(record.moments)
        looks = tuple(self._probe(record, word, len(moments)))
        return Progress(state, record.number, loss, moments, looks)

    def _probe(self, record: _Record, word: str, count: int) -> list[ProbeResult]:
        """Looks at a word at the first `count` moments; each is taken once."""
        from viz_app.lessons.jobs.reversal_task import AttentionProbe

        with self._looking:
            if self._looker is None:
                self._looker = AttentionProbe()
            known = record.looks.setdefault(word, [])
            record.looks.move_to_end(word)
            known += self._looker.probe(word, record.weights[len(known) : count])
            while len(record.looks) > _MOST_WORDS:
                record.looks.popitem(last=False)
            return known[:count]

    def _train(self, record: _Record, busy: Busy) -> None:
        from viz_app.lessons.jobs.reversal_task import TRAINING, ReversalTrainer

        try:
            learner = ReversalTrainer(seed=record.number)
            self._keep(record, learner)
            steps = self._steps or TRAINING.steps
            while learner.steps < steps:
                if self.throttle.unwatched:
                    record.state = "stopped"
                    return
                self.throttle.yield_to(busy)
                with self.throttle.work_slice(self._pace):
                    record.loss.append(learner.step())
                    if learner.steps % SNAPSHOT_EVERY == 0:
                        self._keep(record, learner)
            record.state = "done"
        except Exception:
            record.state = "stopped"
            _log.exception("the live run failed at step %d", len(record.loss))

    @staticmethod
    def _keep(record: _Record, learner: ReversalTrainer) -> None:
        record.weights.append(learner.weights())
        record.moments.append(learner.steps)


@cache
def live_training() -> LiveTraining:
    """The run of this process."""
    return LiveTraining()
