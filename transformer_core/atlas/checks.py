"""What must hold in an atlas that somebody else may have made: shapes that fit the model, numbers in their bounds."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from transformer_core.atlas.record import Atlas, Estimate, FloatArray
from transformer_core.attention_maps import KINDS
from transformer_core.storage.manifest import is_hash

_MAX = 256  # layers, and heads of a layer


def check(atlas: Atlas) -> None:
    """Raise ValueError for shapes that do not fit the model, and for numbers outside their bounds."""
    if atlas.weights_hash and not is_hash(atlas.weights_hash):
        raise ValueError("weights_hash is no sha256")
    if not (0 < atlas.layers <= _MAX and 0 < atlas.heads <= _MAX):
        raise ValueError(f"layers and heads are {atlas.layers} and {atlas.heads}, but must be from 1 to {_MAX}")
    heads = atlas.layers, atlas.heads
    if atlas.looks:
        _check_keys("looks", atlas.looks.kinds, KINDS)
        for kind, looks in atlas.looks.kinds.items():
            _shape(f"looks of {kind}", looks.offsets, (*heads, len(atlas.looks.offsets)))
            for spread in (looks.entropy, looks.distance):
                _estimate(f"looks of {kind}", spread.heads, heads)
            for name, pattern in looks.patterns.items():
                for estimate in (pattern.share, pattern.weight):
                    _estimate(f"{name} of {kind}", estimate, heads, least=0.0, most=1.0)
                _shape(f"{name} of {kind}", pattern.q, heads)
    if atlas.links:
        table = len(atlas.links.directions), len(atlas.links.relations)
        _estimate("links", atlas.links.accuracy, (*table, *heads), least=0.0, most=1.0)
        _estimate("links", atlas.links.gain, (*table, *heads), least=-1.0, most=1.0)
        _estimate("links", atlas.links.fixed, table, least=0.0, most=1.0)
        _shape("links", atlas.links.first, (*table, *heads))
        for array in (atlas.links.places, atlas.links.first_places, atlas.links.offset, atlas.links.uniform):
            _shape("links", array, table)
        for link in atlas.links.tested:
            _head(link.layer, link.head, heads)
            if link.direction not in atlas.links.directions or link.relation not in atlas.links.relations:
                raise ValueError(f"links have no relation {link.relation!r} {link.direction!r}")
    if atlas.align:
        _check_keys("align", atlas.align.rows, ("output", "input"))
        for name, rows in atlas.align.rows.items():
            _estimate(f"align by {name}", rows.error, heads, least=0.0, most=1.0)
            _estimate(f"align by {name}", rows.gain, heads, least=-1.0, most=1.0)
            _shape(f"align by {name}", rows.q, heads)
    _check_effects(atlas, heads)
    _check_translations(atlas, heads)
    _check_resemblance(atlas, heads)
    _check_examples(atlas, heads)


def _check_effects(atlas: Atlas, heads: tuple[int, ...]) -> None:
    if not atlas.effects:
        return
    tables = {**atlas.effects.changes, **atlas.effects.classes, **atlas.effects.lengths}
    for name, by_kind in {**tables, "gradient": atlas.effects.gradient}.items():
        _check_keys(f"effects of {name}", by_kind, KINDS)
        for estimate in by_kind.values():
            _estimate(f"effects of {name}", estimate, heads)
    for name, q in atlas.effects.q.items():
        _check_keys(f"q of {name}", q, KINDS)
        for array in q.values():
            _shape(f"q of {name}", array, heads)
    for name, by_group in atlas.effects.agreement.items():
        for estimate in by_group.values():
            _estimate(f"agreement of {name}", estimate, (), least=-1.0, most=1.0)
    _check_keys("class_tokens", atlas.effects.class_tokens, atlas.effects.classes)
    _check_keys("length_bounds", atlas.effects.length_bounds, atlas.effects.lengths)


def _check_resemblance(atlas: Atlas, heads: tuple[int, ...]) -> None:
    if not atlas.resembles:
        return
    _check_keys("resembles", atlas.resembles.kinds, KINDS)
    for kind, family in atlas.resembles.kinds.items():
        if len(family.nearest) != heads[0] or any(len(layer) != heads[1] for layer in family.nearest):
            raise ValueError(f"resembles of {kind} does not have {heads[0]} layers of {heads[1]} heads")
        _shape(f"resembles of {kind}", family.distances, (heads[0] * heads[1],) * 2)
        _shape(f"resembles of {kind}", family.uniform, heads)
        for sibling in (each for layer in family.nearest for head in layer for each in head):
            if sibling.model not in ("", *atlas.resembles.models):
                raise ValueError(f"resembles of {kind}: unknown model {sibling.model[:12]!r}")
            other = atlas.resembles.models.get(sibling.model)
            if not 0 <= sibling.number < (other.layers * other.heads if other else heads[0] * heads[1]):
                raise ValueError(f"resembles of {kind}: there is no head {sibling.number}")


def _check_examples(atlas: Atlas, heads: tuple[int, ...]) -> None:
    if not atlas.examples:
        return
    _check_keys("examples", atlas.examples.kinds, KINDS)
    if set(atlas.examples.sentences) != set(atlas.examples.targets):
        raise ValueError("examples have sentences without translations")
    for kind, table in atlas.examples.kinds.items():
        if len(table) != heads[0] or any(len(layer) != heads[1] for layer in table):
            raise ValueError(f"examples of {kind} do not have {heads[0]} layers of {heads[1]} heads")
        for each in (example for layer in table for head in layer for example in head):
            if each.sentence not in atlas.examples.sentences or min(each.query, each.key) < 0:
                raise ValueError(f"examples of {kind}: there is no place {each.sentence}, {each.query}, {each.key}")


def _check_translations(atlas: Atlas, heads: tuple[int, ...]) -> None:
    if atlas.decode:
        _check_keys("decode", atlas.decode.heads, KINDS)
        _check_keys("decode", atlas.decode.q, KINDS)
        for kind, table in atlas.decode.heads.items():
            if len(table) != heads[0] or any(len(layer) != heads[1] for layer in table):
                raise ValueError(f"decode of {kind} does not have {heads[0]} layers of {heads[1]} heads")
            _shape(f"decode of {kind}", atlas.decode.q[kind], heads)
    for curve in atlas.prune.curves if atlas.prune else ():
        for _, layer, head in curve.removed:
            _head(layer, head, heads)
        if len(curve.kept) != len(curve.scores) or any(not 0 <= count <= len(curve.removed) for count in curve.kept):
            raise ValueError(f"the curve {curve.heads} {curve.order} has counts that do not fit its heads")


def _check_keys(name: str, given: Collection[str], wanted: Collection[str]) -> None:
    if set(given) != set(wanted):
        raise ValueError(f"{name} has {', '.join(map(str, given))}, but must have {', '.join(map(str, wanted))}")


def _head(layer: int, head: int, heads: tuple[int, ...]) -> None:
    if not (0 <= layer < heads[0] and 0 <= head < heads[1]):
        raise ValueError(f"head {layer}.{head} is none of {heads[0]} layers of {heads[1]} heads")


def _shape(name: str, array: FloatArray, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ValueError(f"{name}: shape {array.shape}, but must be {shape}")


def _estimate(
    name: str, estimate: Estimate, shape: tuple[int, ...], *, least: float = -np.inf, most: float = np.inf
) -> None:
    for array in (estimate.value, estimate.low, estimate.high):
        _shape(name, array, shape)
        with np.errstate(invalid="ignore"):
            if (array < least).any() or (array > most).any():
                raise ValueError(f"{name}: a number outside {least:g} to {most:g}")
