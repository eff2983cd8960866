"""What the Lab computes for longer than a second can be stopped, and shows how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz_app.serving.scheduling.single_flight_cache import ShouldStop
from viz_app.text import Texts

_STOPPED = "lab_stopped"  # what was stopped
_LATE = "lab_late"  # what did not end in time, and was stopped by that
_PATIENCE = 1.0  # seconds until it shows


class _Watch:
    """Asks whether to stop, and tells every second how long it has been, and how much is done where that is known.

    Args:
        stop: The question.
        tell: Hears the seconds, and the share from 0 to 1 or None.
    """

    def __init__(self, stop: ShouldStop, tell: Callable[[int, float | None], None]) -> None:
        self._stop, self._tell = stop, tell
        self._started, self._told = time.monotonic(), 0
        self._asked, self._expected = 0, 0

    def expect(self, checks: int) -> None:
        """So many more times the question will be asked; see `transformer_core.progress.expect`."""
        self._expected = self._asked + checks

    def __call__(self) -> bool:
        self._asked += 1
        seconds = int((time.monotonic() - self._started) / _PATIENCE)
        if seconds > self._told:
            self._told = seconds
            self._tell(seconds, min(1.0, self._asked / self._expected) if self._expected else None)
        return self._stop()


class LongComputation:
    """A line with the seconds, a bar and a button, in front of the stage.

    Args:
        t: Labels, with those of the Lab.
        asked: What identifies what is computed: a scene, a sentence, a model. Another one is computed again.
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
        """Whether it was stopped, by the visitor or by its deadline."""
        return st.session_state.get(_STOPPED) == self._asked

    @property
    def late(self) -> bool:
        """Whether its deadline stopped it."""
        return st.session_state.get(_LATE) == self._asked

    def watched(self, stop: ShouldStop) -> ShouldStop:
        """The same question; whoever asks it also shows how far it is. Asked in the thread of the run."""
        return _Watch(stop, self._tell)

    def _tell(self, seconds: int, share: float | None) -> None:
        if not self._over:
            self._draw(self._t("lesson_lab.computing_for", seconds=seconds), "stop", self._asked, share)

    def end_late(self) -> None:
        """It did not end in time: from now on it is stopped. Why, the stage says."""
        st.session_state[_STOPPED] = st.session_state[_LATE] = self._asked
        self._line = None
        self._draw_stopped()

    def _draw_stopped(self) -> None:
        self._draw(self._t("lesson_lab.stopped"), "compute", None)

    def clear(self) -> None:
        """The stage has its numbers: what is computed from now on, such as a figure, has no line."""
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


def _stop(asked: tuple[str, ...] | None) -> None:
    st.session_state[_STOPPED] = asked
    st.session_state.pop(_LATE, None)
