"""What the Lab computes for longer than a second can be stopped, and shows how long it takes."""

from __future__ import annotations

import time

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz_app.serving.single_flight_cache import ShouldStop
from viz_app.text import Texts

_STOPPED = "lab_stopped"  # what was stopped
_PATIENCE = 1.0  # seconds until it shows


class LongComputation:
    """A line with the seconds and a button, in front of the stage.

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
            self._draw(t("lesson_lab.stopped"), "compute", None)

    @property
    def stopped(self) -> bool:
        """Whether the visitor has stopped it."""
        return st.session_state.get(_STOPPED) == self._asked

    def watched(self, stop: ShouldStop) -> ShouldStop:
        """The same question; whoever asks it also shows the seconds. Asked in the thread of the run."""
        started, told = time.monotonic(), 0

        def should_stop() -> bool:
            nonlocal told
            seconds = int((time.monotonic() - started) / _PATIENCE)
            if seconds > told and not self._over:
                told = seconds
                self._draw(self._t("lesson_lab.computing_for", seconds=seconds), "stop", self._asked)
            return stop()

        return should_stop

    def clear(self) -> None:
        """The stage has its numbers: what is computed from now on, such as a figure, has no line."""
        self._over = True
        if not self.stopped:
            self._place.empty()

    def _draw(self, text: str, button: str, then: tuple[str, ...] | None) -> None:
        if self._line is None:
            with self._place.container(horizontal=True, vertical_alignment="center"):
                st.button(self._t(f"lesson_lab.{button}"), key=f"lab-{button}", on_click=_stop, args=(then,))
                self._line = st.empty()
        self._line.caption(text)


def _stop(asked: tuple[str, ...] | None) -> None:
    st.session_state[_STOPPED] = asked
