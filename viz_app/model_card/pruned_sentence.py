"""Translation of the reader's sentence with some heads removed, in an order of the atlas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transformer_core.analysis.ablation import AblatedTranslation, Head, translate_without
from viz_app.serving.models.translation_service import BEAM, TranslationResult, TranslationService

if TYPE_CHECKING:
    from transformer_core.atlas.record import Atlas
    from viz_app.model_card.pruning_state import PruningState


def removed_heads(atlas: Atlas, state: PruningState) -> tuple[Head, ...]:
    """Return the heads that are gone; of the random orders the first one decides."""
    curves = (curve for curve in (atlas.prune.curves if atlas.prune else ()))
    curve = next((each for each in curves if (each.heads, each.order) == (state.group, state.order)), None)
    return (
        ()
        if curve is None
        else tuple(sorted(Head(*head) for head in curve.removed[: max(0, len(curve.removed) - state.left)]))
    )


def translate_pruned(
    service: TranslationService, session: str, result: TranslationResult, heads: tuple[Head, ...]
) -> AblatedTranslation:
    """Return the translation without these heads, beside that with all; computed once for all visitors.

    Args:
        service: The model.
        session: As for `TranslationService.translate`.
        result: The translation with all heads.
        heads: Those that are gone, sorted.

    Raises:
        Superseded: when a newer request of the session took over.
    """
    original = result.translation
    return service.compute_once(
        session,
        ("heads.without", original.source, heads),
        lambda stop: translate_without(service.translator, original, heads, beam=BEAM, should_stop=stop),
    )
