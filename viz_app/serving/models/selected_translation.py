"""The translation that a selection asks for: of the model, from a forced beginning, or a branch of the search."""

from __future__ import annotations

import dataclasses

from viz_app.components.explorer.selection import Selection
from viz_app.serving.models.translation_service import TranslationResult, TranslationService
from viz_app.serving.scheduling.request_queue import OnPosition


def selected_translation(
    served: TranslationService,
    session: str,
    translation: TranslationResult,
    selection: Selection,
    on_position: OnPosition | None = None,
) -> tuple[TranslationResult, TranslationResult, Selection]:
    """Compute what a selection asks for.

    Args:
        served: The model.
        session: As for `TranslationService.translate`.
        translation: The model's own translation of the sentence.
        selection: Its `force` and `branch` choose.
        on_position: As for `TranslationService.translate`.

    Returns:
        The best translation of the search; the branch to show; the selection, without what does not exist.

    Raises:
        Superseded: When a newer request of the session took over.
    """
    best = served.translate_forced(session, translation, selection.force or "", on_position=on_position)
    branch_result = served.translate_branch(session, best, selection.branch, on_position=on_position)
    branch = selection.branch if branch_result is not best else 0
    force = selection.force if best is not translation else None
    return best, branch_result, dataclasses.replace(selection, branch=branch, force=force)
