"""Catalogue of the lessons, read from the `lesson.toml` of each folder.

    chapter = "attention"          # one of CHAPTERS
    order = 30                     # place in the chapter, small numbers first; the others have 10, 20, 30, ...
    minutes = 8                    # in a class of 50 minutes; a lesson without them is not on the route
    core = ["tour", "one"]         # scenes for which that time is; else all. The others are further scenes
    short_minutes = 4              # in a class of 15 minutes, and its core
    short_core = ["tour"]
    stations = ["self_attention"]  # boxes of Figure 1 that open it, of STATIONS
    needs_small_models = true      # whether it compares the small models, which write German

Only `chapter` and `order` must be there.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from viz_app.lessons.lesson_markdown import BENCHES, LessonError
from viz_app.text import LANGUAGES

LAB = "lab"  # name of the Lab, which has a page of its own on the same stage
CHAPTERS = ("attention", "model", "training", "decoding")
# The boxes of Figure 1, from bottom to top. In the lesson index each opens the lesson that names it.
STATIONS = (
    "embedding_in",
    "embedding_out",
    "positions",
    "self_attention",
    "masked_attention",
    "cross_attention",
    "add_norm",
    "feed_forward",
    "linear",
    "softmax",
)
_WORDS = tuple(f"{language}.md" for language in LANGUAGES)
FILES = ("lesson.toml", *_WORDS, "numbers.py", "js/main.js")  # every lesson has them
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LISTS = ("core", "short_core", "stations")
_MAX_MINUTES = 90


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A lesson in the index.

    Args:
        name: Of its folder; in the address.
        chapter: One of `CHAPTERS`.
        order: Its place in the chapter.
        minutes: Planned for it in a class of 50 minutes; None when it is not on that route.
        core: Scenes that the route shows; empty for all.
        short_minutes: Planned for it in a class of 15 minutes; None when it is not on that route.
        short_core: Scenes that the short route shows; empty for all.
        stations: Boxes of Figure 1 that open it.
        needs_small_models: Whether it compares the small models, which write German.

    Raises:
        ValueError: A value is not allowed; the message names it.
    """

    name: str
    chapter: str
    order: int
    minutes: int | None = None
    core: tuple[str, ...] = ()
    short_minutes: int | None = None
    short_core: tuple[str, ...] = ()
    stations: tuple[str, ...] = ()
    needs_small_models: bool = False

    def __post_init__(self) -> None:
        _require(_NAME.fullmatch(self.name), "the folder's name", self.name, "of a-z, 0-9 and _")
        _require(self.chapter in CHAPTERS, "chapter", self.chapter, f"one of {', '.join(CHAPTERS)}")
        _require(type(self.order) is int and self.order > 0, "order", self.order, "a positive whole number")
        for route, minutes, scenes in (("", self.minutes, self.core), ("short_", self.short_minutes, self.short_core)):
            in_time = minutes is None or (type(minutes) is int and 0 < minutes <= _MAX_MINUTES)
            _require(in_time, f"{route}minutes", minutes, f"a whole number from 1 to {_MAX_MINUTES}")
            are_scenes = isinstance(scenes, tuple) and all(isinstance(each, str) for each in scenes)
            _require(are_scenes, f"{route}core", scenes, "a list of scenes")
        _require(isinstance(self.stations, tuple), "stations", self.stations, "a list")
        for station in self.stations:
            _require(station in STATIONS, "stations", station, f"of {', '.join(STATIONS)}")
        _require(type(self.needs_small_models) is bool, "needs_small_models", self.needs_small_models, "true or false")


def _require(condition: object, key: str, value: object, allowed: str) -> None:
    if not condition:
        raise ValueError(f"{key} is {value!r}, but must be {allowed}")


def find_lessons(folder: Path) -> tuple[tuple[Entry, ...], tuple[LessonError, ...]]:
    """Find the lessons in a folder, in the order of chapters and places, and the errors of the others.

    A lesson is left out if it lacks a file, its `lesson.toml` is invalid, or it claims the place of another. Its error
    names the file.
    """
    lessons: list[Entry] = []
    errors: list[LessonError] = []
    owners: dict[str, str] = {}  # lesson by place
    for each in sorted(path for path in folder.iterdir() if _is_lesson(path)):
        try:
            entry = _read(each)
            _claim_places(entry, owners)
        except LessonError as error:
            errors.append(error)
        else:
            lessons.append(entry)
    return tuple(sorted(lessons, key=lambda entry: (CHAPTERS.index(entry.chapter), entry.order))), tuple(errors)


def _is_lesson(folder: Path) -> bool:
    """Tell whether a folder is meant to be a lesson: shared rooms have no words, and the Lab has benches."""
    has_words = any((folder / name).is_file() for name in ("lesson.toml", *_WORDS))
    return has_words and not (folder / BENCHES).is_dir()


def _read(folder: Path) -> Entry:
    """Read the entry of a lesson. Raises LessonError naming the file that is missing or invalid."""
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        raise LessonError(f"{folder.name}/{missing[0]} is missing; every lesson needs it")
    try:
        values = tomllib.loads((folder / "lesson.toml").read_text(encoding="utf-8"))
        known = {field.name for field in dataclasses.fields(Entry)} - {"name"}
        if unknown := sorted(values.keys() - known):
            raise ValueError(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
        if absent := [key for key in ("chapter", "order") if key not in values]:
            raise ValueError(f"{absent[0]} is missing")
        lists = {key: tuple(values[key]) for key in _LISTS if isinstance(values.get(key), list)}
        return Entry(name=folder.name, **values | lists)
    except (OSError, ValueError) as error:
        raise LessonError(f"{folder.name}/lesson.toml: {error}") from error


def _claim_places(entry: Entry, owners: dict[str, str]) -> None:
    """Note which places a lesson takes. Raises LessonError when another lesson has one of them."""
    places = [f"order {entry.order} in {entry.chapter}", *(f"the station {station}" for station in entry.stations)]
    if taken := [place for place in places if place in owners]:
        raise LessonError(f"{entry.name}/lesson.toml: {taken[0]} belongs to the lesson {owners[taken[0]]}")
    owners.update(dict.fromkeys(places, entry.name))


LESSONS, INVALID_LESSONS = find_lessons(Path(__file__).parent)
STAGES = (*(entry.name for entry in LESSONS), LAB)  # names of everything that the stage shows

QUESTIONS = "questions"  # the last stop of a route, which is no lesson
SESSION, SHORT = "on", "short"  # the routes, as in the address


def _route(minutes: str, translate: int, questions: int) -> dict[str, int]:
    """Return the minutes of each stop; "translate" is the page."""
    planned = {entry.name: getattr(entry, minutes) for entry in LESSONS}
    return {"translate": translate, **{name: each for name, each in planned.items() if each}, QUESTIONS: questions}


ROUTES = {SESSION: _route("minutes", 3, 2), SHORT: _route("short_minutes", 2, 1)}
ROUTE = ROUTES[SESSION]

# The lesson that each box of Figure 1 opens, where there is one.
LESSON_AT: dict[str, str] = {station: entry.name for entry in LESSONS for station in entry.stations}


def core_scenes(name: str, route: str = SESSION) -> tuple[str, ...]:
    """Return the scenes of a stop that a route shows; empty for all."""
    scenes = (each.short_core if route == SHORT else each.core for each in LESSONS if each.name == name)
    return next(scenes, ()) if name in ROUTES.get(route, ()) else ()


def next_stop(name: str, route: str = "") -> str | None:
    """Return the next stop on a route, without one the next lesson of the list; None after the last."""
    order = list(ROUTES.get(route) or (entry.name for entry in LESSONS))
    later = order[order.index(name) + 1 :] if name in order else order[1:]
    return next(iter(later), None)
