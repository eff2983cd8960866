"""What a lesson may ask for: the sentence, its translation, how the controls stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy.typing as npt

from transformer_core.tokenizer import EOS_TOKEN
from viz_app.lessons.labels import labels
from viz_app.lessons.stage.state import LessonState
from viz_app.serving.single_flight_cache import ShouldStop
from viz_app.serving.translation_service import TranslationResult, TranslationService
from viz_app.text import Texts

Value = TypeVar("Value")


@dataclass(frozen=True)
class StageData:
    """Numbers for the stage.

    Args:
        values: Plain values, such as labels and single numbers.
        arrays: Larger numbers.
        answers: The settings for which these were computed, where a control asks the server.
        drawn: Of live data: what the scene's figure for print is made of, in a word; when that changes, the page
            offers the figure again. None while it is on its way.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    answers: Mapping[str, Any] = field(default_factory=dict)
    drawn: str | None = None


@dataclass(frozen=True)
class LessonContext:
    """One visitor in one lesson.

    Args:
        text: The visitor's sentence, fit for the model.
        state: Scene and settings.
        language: The visitor's.
        load: Gives the service of the model; called only by lessons that need it.
        session: Name of the session, for the gate.
    """

    text: str
    state: LessonState
    language: str
    load: Callable[[], TranslationService]
    session: str

    @property
    def t(self) -> Texts:
        """Labels in the visitor's language, with those of the lessons."""
        return labels(self.language)

    @cached_property
    def service(self) -> TranslationService:
        """The model's service, loaded at the first use in this process."""
        return self.load()

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The pieces of the sentence and `</s>`, as the encoder reads them."""
        return (*self.service.translator.tokenizer.source.encode(self.text).pieces, EOS_TOKEN)

    @cached_property
    def result(self) -> TranslationResult:
        """The translation of the sentence with all maps. Raises Superseded when a newer request took over."""
        return self.service.translate(self.session, self.text)

    def compute_once(self, key: tuple[object, ...], compute: Callable[[ShouldStop], Value]) -> Value:
        """What a model makes of something, computed once for all visitors; see `TranslationService.compute_once`.

        Args:
            key: What identifies the value, for the visitor's model. It begins with a name of lesson and value.
            compute: Makes the value; must not ask for `result`, which waits for the model itself.

        Raises:
            Superseded: when a newer request took over.
        """
        return self.service.compute_once(self.session, key, compute)
