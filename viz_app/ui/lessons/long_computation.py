"""Progress and a stop button for computations of the Lab that take longer than a second."""

from __future__ import annotations

import time
from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz_app.serving.scheduling.single_flight_cache import ShouldStop
from viz_app.text import Texts

_STOPPED = "lab_stopped"  # identity of a stopped computation
_LATE = "lab_late"  # and of one that its deadline stopped
_PATIENCE = 1.0  # seconds until it shows


class _Watch:
    """`should_stop` that reports every second the time and, where it is known, the share that is done.

    Args:
        stop: Whether to stop.
        tell: Called with the seconds, and the share from 0 to 1 or None.
    """

    def __init__(self, stop: ShouldStop, tell: Callable[[int, float | None], None]) -> None:
        self._stop, self._tell = stop, tell
        self._started, self._told = time.monotonic(), 0
        self._asked, self._expected = 0, 0

    def expect(self, checks: int) -> None:
        """Set the expected number of further calls; see `transformer_core.progress.expect`."""
        self._expected = self._asked + checks

    def __call__(self) -> bool:
        self._asked += 1
        seconds = int((time.monotonic() - self._started) / _PATIENCE)
        if seconds > self._told:
            self._told = seconds
            self._tell(seconds, min(1.0, self._asked / self._expected) if self._expected else None)
        return self._stop()


class LongComputation:
    """Line with seconds, progress bar and button, above the stage.

    Args:
        t: Labels of the app and the Lab.
        asked: Identity of the computation: scene, sentence, model. Another one is computed again.
    """

    def __init__(self, t: Texts, asked: tuple[str, ...]) -> None:
        self._t, self._asked = t, asked
        self._place = st.empty()
        self._line: DeltaGenerator | None = None
        self._over = False
        if self.stopped:
            self._draw_stopped()

    @property
    def stopped(self) -> bool:
        """Whether the visitor or the deadline stopped it."""
        return st.session_state.get(_STOPPED) == self._asked

    @property
    def late(self) -> bool:
        """Whether its deadline stopped it."""
        return st.session_state.get(_LATE) == self._asked

    def watched(self, stop: ShouldStop) -> ShouldStop:
        """Wrap a `should_stop` so that its calls also show progress; call it in the thread of the run."""
        return _Watch(stop, self._tell)

    def _tell(self, seconds: int, share: float | None) -> None:
        if not self._over:
            self._draw(self._t("lesson_lab.computing_for", seconds=seconds), "stop", self._asked, share)

    def end_late(self) -> None:
        """Mark it as stopped by its deadline; the stage says why."""
        st.session_state[_STOPPED] = st.session_state[_LATE] = self._asked
        self._line = None
        self._draw_stopped()

    def _draw_stopped(self) -> None:
        self._draw(self._t("lesson_lab.stopped"), "compute", None)

    def clear(self) -> None:
        """Remove the line once the stage has its numbers; later computations, such as figures, have none."""
        self._over = True
        if not self.stopped:
            self._place.empty()

    def _draw(self, text: str, button: str, then: tuple[str, ...] | None, share: float | None = None) -> None:
        if self._line is None:
            with self._place.container(horizontal=True, vertical_alignment="center"):
                st.button(self._t(f"lesson_lab.{button}"), key=f"lab-{button}", on_click=_stop, args=(then,))
                self._line = st.empty()
        if share is None:
            self._line.caption(text)
        else:
            self._line.progress(share, text)


def _stop(key: tuple[str, ...] | None) -> None:
    st.session_state[_STOPPED] = key
    st.session_state.pop(_LATE, None)
