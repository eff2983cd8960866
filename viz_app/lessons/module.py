"""Code of a lesson: the contract of its `numbers.py`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from viz_app.lessons.catalogue import STAGES

if TYPE_CHECKING:  # the command line asks for a lesson's code, and must not wait for Streamlit
    from viz_app.components.explorer.selection import Selection
    from viz_app.lessons.context import LessonContext, StageData
    from viz_app.lessons.lab.recipe import Recipe
    from viz_app.lessons.stage.state import Setting


@dataclass(frozen=True, kw_only=True)
class LessonModule:
    """Functions and constants of a `numbers.py`; only the first must be there.

    Args:
        data: Compute the numbers of the open scene. Called at every rerun, so what is costly is cached.
        selection: Name the head that a scene shows, for the page Translate.
        recipe: Give the command and the Python code that compute a scene's numbers without the app.
        prepared: List settings of a scene's controls that ask Python, which a page without Python has answers for.
        shows_small_translations: `SHOWS_SMALL_TRANSLATIONS`, whether small models translate; the page then says so.
    """

    data: Callable[[LessonContext], StageData]
    selection: Callable[[str, LessonContext], Selection | None] = lambda scene, context: None
    recipe: Callable[[str, LessonContext], Recipe | None] = lambda scene, context: None
    prepared: Callable[[str, LessonContext], Iterable[Mapping[str, Setting]]] = lambda scene, context: ()
    shows_small_translations: bool = False

    @classmethod
    def from_module(cls, module: ModuleType) -> LessonModule:
        """Take the functions by name and the constants by name in capitals. Raises TypeError if one is missing."""
        members = vars(module)
        names = {field.name: {field.name, field.name.upper()} & members.keys() for field in dataclasses.fields(cls)}
        return cls(**{name: members[spellings.pop()] for name, spellings in names.items() if spellings})


def lesson_module(name: str) -> LessonModule:
    """Import the code of a lesson, or of the Lab. Raises KeyError for a name that does not exist."""
    if name not in STAGES:
        raise KeyError(name)
    return LessonModule.from_module(import_module(f"viz_app.lessons.{name}.numbers"))
