"""The Lab on the stage of the lessons; its computations can be stopped."""

from __future__ import annotations

import dataclasses

from viz_app.lessons.catalogue import LAB
from viz_app.lessons.context import StageData
from viz_app.serving.decoding.batching import DeadlineExceeded
from viz_app.state import session
from viz_app.text import Texts
from viz_app.ui.lessons.lesson_stage import LessonStage
from viz_app.ui.lessons.long_computation import LongComputation


class LabStage(LessonStage):
    """The Lab: a page of its own, on no route, without a handout."""

    page = LAB

    def __init__(self, t: Texts, typed: str, *, linked: bool) -> None:
        super().__init__(t, LAB, typed, linked=linked)

    @property
    def after(self) -> None:
        """Nothing follows."""

    def remarks(self) -> list[str]:
        """Say that the examples are English where the model reads another language."""
        return self.example_remarks()

    def compute(self) -> StageData:
        """Compute the open bench, with a line that says how long it takes and a button that stops it."""
        long = LongComputation(self.context.t, (self.context.state.scene, self.context.text, self.service.name))
        self.context = dataclasses.replace(self.context, stopped=long.stopped, late=long.late, watched=long.watched)
        if self.context.stopped:
            self.service.give_up(session.session_id())
        try:
            numbers = super().compute()
        except DeadlineExceeded:
            long.end_late()
            self.context = dataclasses.replace(self.context, stopped=True, late=True)
            numbers = super().compute()
        long.clear()
        return numbers

    def params(self) -> dict[str, str | None]:
        """Return the parameters of the address, in which the page stands for the lesson."""
        return super().params() | {"lesson": None}

    def draw_handout(self) -> None:
        """Draw nothing: the Lab has no handout."""
