"""A lesson's picture on the page Figures: which scene it is, how it is set, and how an address names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from viz_app.figures import Figure
from viz_app.lessons import Lesson, Scene, load_lesson
from viz_app.lessons.catalogue import STAGES
from viz_app.lessons.context import LessonContext
from viz_app.lessons.scene_figure import figure_with_provenance
from viz_app.lessons.stage.state import LessonState, settings_from_param, settings_to_param, unreadable_parts
from viz_app.serving.models.translation_service import TranslationService
from viz_app.text import DEFAULT_LANGUAGE

InvalidPart = Literal["", "lesson", "scene", "settings"]
_NAMES = ("lesson", "scene", "with")


@dataclass(frozen=True)
class LessonFigureSpec:
    """A scene of a lesson with its settings, as an address can hold them.

    Args:
        lesson: Name of the lesson.
        state: Scene and settings; what an address cannot hold is taken away, and no scene means the first.

    Raises:
        ValueError: There is no such lesson or scene.
    """

    lesson: str
    state: LessonState = field(default_factory=LessonState)

    def __post_init__(self) -> None:
        if self.lesson not in STAGES:
            raise ValueError(f"lesson is {self.lesson!r}, but must be one of {', '.join(STAGES)}")
        names = [scene.name for scene in self.words(DEFAULT_LANGUAGE)[0].scenes]
        if self.state.scene not in ("", *names):
            raise ValueError(f"scene is {self.state.scene!r}, but must be one of {', '.join(names)}")
        placed = LessonState(self.state.scene or names[0], self.state.as_in_address.settings)
        object.__setattr__(self, "state", placed)

    def words(self, language: str) -> tuple[Lesson, Scene]:
        """Return the lesson and the scene in a language."""
        words = load_lesson(self.lesson, language)
        return words, next((scene for scene in words.scenes if scene.name == self.state.scene), words.scenes[0])

    def to_query(self) -> dict[str, str | None]:
        """Return the URL parameters, as on the page Lessons."""
        return {"lesson": self.lesson, "scene": self.state.scene, "with": settings_to_param(self.state.settings)}

    @classmethod
    def from_query(cls, params: Mapping[str, str]) -> LessonFigureSpec | None:
        """Return the scene that an address names; None where it names none, or one that does not exist."""
        if invalid_part(params) in ("lesson", "scene") or "lesson" not in params:
            return None
        return cls(params["lesson"], LessonState(params.get("scene", ""), settings_from_param(params.get("with", ""))))

    def figure(self, text: str, language: str, load: Callable[[], TranslationService], session: str) -> Figure | None:
        """Return the picture of the scene; None when it has none for print.

        Args:
            text: The sentence, fit for the model.
            language: Of its words.
            load: Gives the service of the model.
            session: Name of the session, for the queue in front of the model.

        Raises:
            Superseded: A newer request took over the model.
        """
        return figure_with_provenance(self.lesson, LessonContext(text, self.state, language, load, session))


def empty_query() -> dict[str, str | None]:
    """Return the URL parameters of a scene where there is none."""
    return dict.fromkeys(_NAMES)


def invalid_part(params: Mapping[str, str]) -> InvalidPart:
    """Return the part of an address that names no scene or setting; "" for none."""
    name = params.get("lesson")
    if name is None:
        return ""
    if name not in STAGES:
        return "lesson"
    scenes = {scene.name for scene in load_lesson(name, DEFAULT_LANGUAGE).scenes}
    if LessonState(params.get("scene", "")).scene not in ("", *scenes):
        return "scene"
    return "settings" if unreadable_parts(params.get("with", "")) else ""
