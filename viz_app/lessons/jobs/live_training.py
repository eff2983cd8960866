"""Live training, one run at a time, shared by all visitors of the scene.

    run = live_run()
    run.start()                   # does nothing while one is going on
    view = run.watch("amanrides") # what there is of it so far, with a look at this word at several moments

What was recorded stays until the next one starts.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from viz_app.lessons.jobs.shared_job import SharedJob, State
from viz_app.serving.scheduling.background_throttle import Busy, never_busy

if TYPE_CHECKING:
    from viz_app.lessons.jobs.reversal_task import AttentionProbe, ProbeResult, ReversalTrainer

PACE = 0.08  # seconds from one update to the next, at least
SNAPSHOT_EVERY = 10  # updates between two moments that are kept
_MAX_WORDS = 64  # of which looks are kept


@dataclass(frozen=True)
class Progress:
    """State of the run.

    Args:
        state: Whether it goes on, has reached its end, was left by all, failed, or there was none yet.
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
    """Record of one run. The thread appends, others read; a moment is there before its number."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.loss: list[float] = []
        self.moments: list[int] = []
        self.weights: list[dict[str, Any]] = []
        self.looks: OrderedDict[str, list[ProbeResult]] = OrderedDict()


class LiveTraining(SharedJob):
    """Training that all sessions share.

    Args:
        steps: Updates of a run; None for the recipe's.
        pace: Seconds from one update to the next, at least.
        options: Of a `SharedJob`: patience, clock and pause.
    """

    def __init__(self, steps: int | None = None, pace: float = PACE, **options: Any) -> None:
        super().__init__("the live run", pace, **options)
        self._steps = steps
        self._record: _Record | None = None
        self._looker: AttentionProbe | None = None
        self._looking = threading.Lock()  # one for all runs, for they share the looker, whose weights each look changes

    def start(self, busy: Busy = never_busy) -> bool:
        """Start a run; see `SharedJob`."""
        from viz_app.lessons.jobs.reversal_task import TRAINING

        return self._start(self._begin, self._steps or TRAINING.steps, busy)

    def watch(self, word: str) -> Progress:
        """Return the state of the run with probes of a word of 3 to 9 letters; without watchers it ends."""
        self.throttle.watch()
        with self._lock:
            record, state = self._record, self.state
        if record is None:
            return Progress(state, 0)
        loss, moments = tuple(record.loss), tuple(record.moments)
        looks = tuple(self._probe(record, word, len(moments)))
        return Progress(state, record.number, loss, moments, looks)

    def _probe(self, record: _Record, word: str, count: int) -> list[ProbeResult]:
        """Probe a word at the first `count` moments; each is computed once."""
        from viz_app.lessons.jobs.reversal_task import AttentionProbe

        with self._looking:
            if self._looker is None:
                self._looker = AttentionProbe()
            known = record.looks.setdefault(word, [])
            record.looks.move_to_end(word)
            known += self._looker.probe(word, record.weights[len(known) : count])
            while len(record.looks) > _MAX_WORDS:
                record.looks.popitem(last=False)
            return known[:count]

    def _begin(self) -> Iterator[None]:
        self._record = _Record(self.number)
        return self._train(self._record)

    def _train(self, record: _Record) -> Iterator[None]:
        from viz_app.lessons.jobs.reversal_task import ReversalTrainer

        learner = ReversalTrainer(seed=record.number)
        self._keep(record, learner)
        while True:
            record.loss.append(learner.step())
            if learner.steps % SNAPSHOT_EVERY == 0:
                self._keep(record, learner)
            yield

    @staticmethod
    def _keep(record: _Record, learner: ReversalTrainer) -> None:
        record.weights.append(learner.weights())
        record.moments.append(learner.steps)


@cache
def live_training() -> LiveTraining:
    """Return the run of this process."""
    return LiveTraining()
