"""Findings after the explorer is drawn: roles of heads, a card, a translation without a head, the free search."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from transformer_core.analysis.ablation import Head, all_heads, translate_without
from viz_app.components.buffer import Constant
from viz_app.explorer_view.head_card import head_card, names_of_heads
from viz_app.explorer_view.head_measures import head_measures, likeliest_filters, role_filters
from viz_app.lessons.lab.limits import MAX_FLOPS_OF_ALL_HEADS, PassFlops
from viz_app.serving.models.head_roles import measure_roles
from viz_app.serving.models.parse_tree import parse_tree
from viz_app.serving.models.translation_service import BEAM, TranslationResult, TranslationService
from viz_app.text import Texts

if TYPE_CHECKING:
    from transformer_core.analysis.roles import HeadRole, RoleTable
    from transformer_core.attention_maps import Kind
    from transformer_core.translator import Translation
    from viz_app.serving.measurements.head_atlas import HeadAtlas
    from viz_app.serving.scheduling.single_flight_cache import ShouldStop

_TRIES = 5  # heads that a sentence is translated without


def roles(service: TranslationService, session: str, t: Texts) -> dict[str, Any]:
    """Return the role of every head, [layer][head] for each kind, and the orders and filters of the explorer's tiles.

    Roles come from the model's atlas, in words. For a model without one, the likeliest over the example sentences,
    measured once for all visitors.

    None for a model in whose language the app has no examples to measure on.

    Raises:
        Superseded: when a newer request of the session took over.
    """
    head_atlas = service.head_atlas
    known = _known(head_atlas, service.name, t)
    if "heads" in known:
        return {"roles": known}
    if not service.examples:  # sentences in another language than the model's would say nothing of its heads
        return {"roles": None}
    tables = measure_roles(service, session)
    heads = service.compute_once(session, ("heads.likeliest",), lambda _: _likeliest(tables))
    filters = likeliest_filters(heads, t)
    return {"roles": {**known, "problem": head_atlas.problem, "heads": heads, **filters}}


@lru_cache(maxsize=8)
def _known(head_atlas: HeadAtlas, model: str, t: Texts) -> Constant:
    named = names_of_heads(head_atlas, t)
    known = Constant(model=model, atlas=named is not None, measures=head_measures(head_atlas, t))
    return known if named is None else Constant(known, heads=named, **role_filters(head_atlas, t))


def card(service: TranslationService, t: Texts, head: Head) -> dict[str, Any]:
    """Return the card of one head; None for a model without an atlas."""
    return {"card": head_card(service, t, head)}


def _likeliest(tables: Mapping[Kind, RoleTable]) -> dict[Kind, list[list[Mapping[str, Any]]]]:
    return {
        kind: [
            [_role(table.likeliest(layer, head)) for head in range(table.shares.shape[2])]
            for layer in range(table.shares.shape[1])
        ]
        for kind, table in tables.items()
    }


def _role(role: HeadRole) -> Mapping[str, Any]:
    standing = "named" if role.named else "leans" if role.leans else "none"
    shares = {"share": round(role.share, 4), "chance": round(role.chance, 4)}
    return {"role": role.role, "standing": standing, "places": role.places, **shares}


def without_head(
    service: TranslationService, session: str, result: TranslationResult, head: Head | None
) -> dict[str, Any]:
    """Return the sentence translated with one head switched off, and the log-probability that the translation then has.

    Args:
        service: The model.
        session: As for `TranslationService.translate`.
        result: The translation with all heads.
        head: Kind, layer and head from 0; None, or one that this model does not have, gives no finding.

    Raises:
        Superseded: when a newer request of the session took over.
    """
    if head is None:
        return {"off": None}
    kind, layer, number = head
    layers, heads = result.maps.weights(kind).shape[:2]
    if layer >= layers or number >= heads:
        return {"off": None}
    translator, original = service.translator, result.translation
    ablation = service.compute_once(
        session,
        ("heads.without", original.source, (head,)),
        lambda stop: translate_without(translator, original, [head], beam=BEAM, should_stop=stop),
    )
    about = {"model": service.name, "source": original.source, "head": str(head)}
    numbers = {"before": ablation.before, "after": ablation.log_probability, "worst": ablation.worst}
    return {"off": {**about, **numbers, "words": ablation.words, "original": ablation.original}}


def needed_head(service: TranslationService, session: str, result: TranslationResult) -> dict[str, Any]:
    """Return the head that a sentence needs most.

    Of the heads with the largest effects it is the first without which the translation changes, or else the first. None
    where model and sentence are too large to measure all heads.

    Args:
        service: The model.
        session: As for `TranslationService.translate`.
        result: The translation with all heads.

    Raises:
        Superseded: when a newer request of the session took over.
    """
    translator, original = service.translator, result.translation
    heads = all_heads(translator)
    about = {"model": service.name, "source": original.source, "count": len(heads)}
    lengths = len(original.source_encoding.ids) + 1, len(original.hypotheses[0].ids) + 1
    passes = PassFlops.from_lengths(translator.config, *lengths)
    if sum(passes.from_layer(kind, layer) for kind, layer, _ in heads) > MAX_FLOPS_OF_ALL_HEADS:
        return {"needed": {**about, "head": None, "rank": 0}}

    def compute(stop: ShouldStop) -> list[int]:
        from transformer_core.analysis.effects.head_effects import head_effects

        effects = head_effects(translator, original.source, original.text, should_stop=stop)
        return effects.totals.argsort(descending=True)[:_TRIES].tolist()

    largest = [heads[number] for number in service.compute_once(session, ("heads.needed", original.source), compute)]
    without = (without_head(service, session, result, head)["off"] for head in largest)
    rank = next((rank for rank, off in enumerate(without, 1) if off["words"] != off["original"]), 1)
    return {"needed": {**about, "head": str(largest[rank - 1]), "rank": rank}}


def free_search(service: TranslationService, session: str, result: TranslationResult) -> dict[str, Any]:
    """Return the tree of the paper's search, which may generate any sequence, for a parser that generates only trees.

    Args:
        service: The parser.
        session: As for `TranslationService.translate`.
        result: What its own search has found.

    Raises:
        Superseded: when a newer request of the session took over.
    """
    translator, translation = service.translator, result.translation

    def search(should_stop: ShouldStop) -> Translation:
        encoding = translation.source_encoding
        (result,) = translator.search([encoding.ids], beam=BEAM, constrained=False, should_stop=should_stop)
        return translator.translation(translation.source, encoding, result)

    free = service.compute_once(session, ("search.free", translation.source), search)
    tree = parse_tree(free, 0, free, translator)
    nodes = [[each["label"], each["begin"], each["end"]] for each in tree["nodes"]]
    return {"free": {"model": service.name, "source": translation.source, "nodes": nodes, "repairs": tree["repairs"]}}
