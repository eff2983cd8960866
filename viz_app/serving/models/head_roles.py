"""Roles of all heads of a model, measured once for all visitors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transformer_core.attention_maps import KINDS, Kind
from viz_app.serving.scheduling.single_flight_cache import ShouldStop
from viz_app.text.examples import EXAMPLES

if TYPE_CHECKING:
    from transformer_core.analysis.roles import RoleTable
    from transformer_core.translator import Translator
    from viz_app.serving.models.translation_service import TranslationService
    from viz_app.serving.scheduling.request_queue import Visitor

ROLES_KEY = ("heads.roles",)  # of the tables in the cache of a model


def role_tables(
    translator: Translator, should_stop: ShouldStop | None = None, texts: Sequence[str] = tuple(EXAMPLES.values())
) -> dict[Kind, RoleTable]:
    """Measure the roles of all heads over sentences and the model's own translations of them."""
    from transformer_core.analysis.roles import find_roles, occlusion_links

    translations = translator.translate_batch(list(texts), beam=1, should_stop=should_stop)
    maps = [each.attention for each in translations]
    links = [
        occlusion_links(translator, each.source_encoding, each.hypotheses[0].ids, each.finished)
        for each in translations
    ]
    return {kind: find_roles(maps, kind, links if kind == "cross" else None) for kind in KINDS}


def measure_roles(service: TranslationService, session: str, visitor: Visitor | None = None) -> dict[Kind, RoleTable]:
    """Return `role_tables`, queued and cached for all visitors.

    Raises:
        Superseded: A newer request of the session took over, or `visitor` has left.
    """
    translator, texts = service.translator, service.example_texts
    return service.compute_once(session, ROLES_KEY, lambda stop: role_tables(translator, stop, texts), visitor=visitor)
