"""Which lessons there are, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the command line lists the lessons, and must not wait for Streamlit
    from viz_app.components.explorer import Selection
    from viz_app.figures.model.spec import Figure
    from viz_app.lessons.context import Context, Data

CHAPTERS = ("attention", "model", "training", "decoding")


@dataclass(frozen=True)
class Entry:
    """A lesson in the index.

    Args:
        name: In the address, of the files of prose, of the code.
        chapter: One of `CHAPTERS`.
    """

    name: str
    chapter: str


LESSONS: tuple[Entry, ...] = (
    Entry("why", "attention"),
    Entry("dot_product", "attention"),
    Entry("heads", "attention"),
    Entry("masks", "attention"),
    Entry("positions", "model"),
    Entry("architecture", "model"),
    Entry("warmup", "training"),
    Entry("regularisation", "training"),
    Entry("subwords", "training"),
    Entry("broken", "training"),
    Entry("decoding", "decoding"),
    Entry("results", "decoding"),
)

# A session of 50 minutes: minutes for each stop. "translate" is the page, "questions" are the class's own.
ROUTE: dict[str, int] = {
    "translate": 5,
    "why": 5,
    "dot_product": 10,
    "heads": 8,
    "masks": 8,
    "positions": 6,
    "warmup": 4,
    "questions": 4,
}


def next_stop(name: str, *, on_route: bool) -> str | None:
    """What comes after a lesson: on the route its next stop, else the next lesson of the list; None after the last."""
    order = [stop for stop in ROUTE if stop != "questions"] if on_route else [entry.name for entry in LESSONS]
    there = {"translate", *(entry.name for entry in LESSONS)}
    later = order[order.index(name) + 1 :] if name in order else order[1:]
    return next((stop for stop in later if stop in there), None)


class Teaches(Protocol):
    """What the file of a lesson has."""

    def data(self, context: Context) -> Data:
        """The numbers for the stage; called at every rerun, so what is costly is cached."""

    def figure(self, scene: str, context: Context) -> Figure | None:
        """The picture of a scene for print."""


def module_of(name: str) -> Teaches:
    """The file of a lesson, imported when it is opened. Raises KeyError for a lesson that does not exist."""
    if name not in {entry.name for entry in LESSONS}:
        raise KeyError(name)
    module: Teaches = import_module(f"viz_app.lessons.{name}.numbers")
    return module


def head_of(name: str, scene: str, context: Context) -> Selection | None:
    """The head that a scene shows large; None for lessons and scenes that show none."""
    choose: Callable[[str, Context], Selection | None] | None = getattr(module_of(name), "selection", None)
    return choose(scene, context) if choose else None
