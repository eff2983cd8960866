"""A bench of the Lab: the contract of the `bench.py` in each folder of `benches`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viz_app.lessons.lab.recipe import Recipe
from viz_app.lessons.lesson_markdown import BENCHES, bench_folders

if TYPE_CHECKING:
    from transformer_core.analysis.ablation import Head
    from viz_app.lessons.context import LessonContext, StageData


@dataclass(frozen=True, kw_only=True)
class Bench:
    """One experiment on the visitor's sentence. Each function may raise TooMuchWork before it begins; see `limits.py`.

    Args:
        data: Compute the numbers that its scene draws, and the settings that they answer.
        recipe: Give the command and the Python code that compute them without the app; None where there is none.
        head: Name the head that is shown, for the page Translate; None for none.
        choices: Give what its controls offer before any number is there, without the model's work.
    """

    data: Callable[[LessonContext], StageData]
    recipe: Callable[[LessonContext], Recipe | None]
    head: Callable[[LessonContext], Head | None] = lambda context: None
    choices: Callable[[LessonContext], Mapping[str, Any]] = lambda context: {}


@cache
def benches() -> dict[str, Bench]:
    """Import every bench, in the order of the page."""
    package = f"{__package__}.{BENCHES}"
    names = [folder.name for folder in bench_folders(Path(__file__).parent)]
    return {name: import_module(f"{package}.{name}.bench").BENCH for name in names}
