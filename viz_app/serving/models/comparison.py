"""Comparison of a translation with another sentence, another branch of its search, or another model."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from transformer_core.storage.files import CheckpointError
from viz_app.components.explorer.selection import Selection
from viz_app.serving.models import loader
from viz_app.serving.models.registry import available_models
from viz_app.serving.models.translation_service import TranslationResult, TranslationService
from viz_app.serving.scheduling.request_queue import OnPosition

_log = logging.getLogger(__name__)


class NotComparable(Exception):
    """The sentence or the model to compare with is unavailable."""


def other_models(model: str) -> list[str]:
    """Return the names of the models that a model can be compared with."""
    return [name for name in available_models() if name != model]


def _get_service(name: str) -> TranslationService:
    try:
        return loader.get_translation_service(name)
    except loader.UnknownModel as error:
        raise NotComparable(str(error)) from error
    except CheckpointError as error:
        _log.warning("cannot compare with %s: %s", name, error)
        raise NotComparable(str(error)) from error


@dataclass(frozen=True)
class Comparison:
    """Translation to compare with, and its attention.

    Args:
        service: Service of its model.
        model: Name of that model.
        own: Name of the model that the page shows.
        text: The sentence, as typed.
        branch: Branch of its search.
        result: The maps of that branch.
        best: The best translation of the search.
    """

    service: TranslationService
    model: str
    own: str
    text: str
    branch: int
    result: TranslationResult
    best: TranslationResult


def compare_with_selection(
    served: TranslationService, session: str, text: str, selection: Selection, on_position: OnPosition | None = None
) -> Comparison | None:
    """Compute the comparison that a selection asks for; None if the page already shows it.

    Args:
        served: The service of the page.
        session: Session that asks.
        text: The sentence of the page.
        selection: `against`, `vs`, `vsmodel` and `vsbranch` choose the comparison.
        on_position: As for `TranslationService.translate`.

    Raises:
        Superseded: When a newer request of the session took over.
        NotComparable: no such model, or one that is damaged; or a sentence that it does not translate.
    """
    if selection.against is None:
        return None
    sentence = " ".join((selection.vs or text).split())
    service, name = served, served.name
    if selection.vsmodel is not None and selection.vsmodel != name:
        service, name = _get_service(selection.vsmodel), selection.vsmodel
    elif sentence == text and selection.vsbranch == selection.branch:
        return None
    checked = service.validate(sentence)
    if checked.status != "good":
        raise NotComparable("a sentence that is not translated")
    best = service.translate(session, checked.source, on_position=on_position)
    result = service.translate_branch(session, best, selection.vsbranch, on_position=on_position)
    branch = selection.vsbranch if result is not best else 0
    return Comparison(service, name, served.name, sentence, branch, result, best)
