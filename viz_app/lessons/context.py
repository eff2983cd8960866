"""Context of a lesson: the sentence, its translation, and the settings of the controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy.typing as npt

from transformer_core.text.tokenizer import EOS_TOKEN
from viz_app.lessons.labels import labels
from viz_app.lessons.stage.state import LessonState
from viz_app.serving.models.translation_service import TranslationResult, TranslationService
from viz_app.serving.scheduling.single_flight_cache import ShouldStop
from viz_app.text import Texts

Value = TypeVar("Value")


@dataclass(frozen=True)
class StageData:
    """Numbers for the stage.

    Args:
        values: Plain values, such as labels and single numbers.
        arrays: Larger numbers.
        answers: Settings for which these were computed, where a control asks the server.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    answers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LessonContext:
    """One visitor in one lesson.

    Args:
        text: The visitor's sentence as typed, fit for the model.
        state: Scene and settings.
        language: The visitor's.
        load: Loads the service of the model, at its first use.
        session: Name of the session, for the queue in front of the model.
        stopped: Whether the computation of this scene was stopped, by the visitor or by its deadline; for the Lab.
        late: Whether the deadline stopped it.
        watched: Wraps a `should_stop` so that its calls also show progress.
        parses: Whether the model is a parser, so that labels speak of trees.

    Values that are computed on demand are kept for the run. `functools.cached_property` would hold one lock for all
    visitors until Python 3.12: a visitor whose turn it is to draw would wait for the lock, and its holder for the turn.
    """

    text: str
    state: LessonState
    language: str
    load: Callable[[], TranslationService]
    session: str
    stopped: bool = False
    late: bool = False
    watched: Callable[[ShouldStop], ShouldStop] = lambda stop: stop
    parses: bool = False
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def t(self) -> Texts:
        """Labels of the app and of the lessons in the visitor's language."""
        return labels(self.language, parses=self.parses)

    @property
    def service(self) -> TranslationService:
        """Service of the model, loaded at its first use in this process."""
        return self._once("service", self.load)

    @property
    def source(self) -> str:
        """Sentence as the visitor's model reads it; see `TranslationService.source_text`."""
        return self._once("source", lambda: self.service.source_text(self.text))

    @property
    def tokens(self) -> tuple[str, ...]:
        """Tokens of the sentence and `</s>`, as the encoder reads them."""
        source = self.service.translator.tokenizer.source
        return self._once("tokens", lambda: (*source.encode(self.source).tokens, EOS_TOKEN))

    @property
    def result(self) -> TranslationResult:
        """Translation of the sentence with all maps. Raises Superseded when a newer request took over."""
        return self._once("result", lambda: self.service.translate(self.session, self.source))

    def compute_once(self, key: tuple[object, ...], compute: Callable[[ShouldStop], Value]) -> Value:
        """Compute a value once for all visitors; see `TranslationService.compute_once`.

        Args:
            key: Identity of the value for the visitor's model; it begins with the names of lesson and value.
            compute: Returns the value; must not use `result`, which waits for the model itself.

        Raises:
            Superseded: when a newer request took over.
        """
        return self.service.compute_once(self.session, key, lambda stop: compute(self.watched(stop)))

    def _once(self, name: str, make: Callable[[], Value]) -> Value:
        if name not in self._kept:
            self._kept[name] = make()
        value: Value = self._kept[name]
        return value


def fit_sentence(typed: str, service: TranslationService) -> str:
    """Return the sentence if the model can read it, else the first example."""
    sentence = service.validate(typed)
    return sentence.text if sentence.status == "good" else service.first_example
