"""Checks of an atlas across fields: shapes that fit the model, known names, numbers within bounds.

Bounds of single numbers are in the types of `record.py`.

Shape legend: L layers, H heads, R relations, A = L * H.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from transformer_core.atlas.record import Atlas, Estimate, FloatArray, OtherModel
from transformer_core.attention_maps import KINDS, Kind

_Bounds = tuple[float, float]
_ANY, _SHARE, _GAIN = (-np.inf, np.inf), (0.0, 1.0), (-1.0, 1.0)


def check(atlas: Atlas) -> None:
    """Raise ValueError for shapes that do not fit the model, unknown names, and numbers out of bounds."""
    for name, keys, allowed in _keys(atlas):
        if set(keys) != set(allowed):
            raise ValueError(f"{name} has {', '.join(map(str, keys))}, but must have {', '.join(map(str, allowed))}")
    for name, array, shape, (low, high) in _arrays(atlas):
        for part in (array.value, array.low, array.high) if isinstance(array, Estimate) else (array,):
            if part.shape != shape:
                raise ValueError(f"{name}: shape {part.shape}, but must be {shape}")
            with np.errstate(invalid="ignore"):
                if (part < low).any() or (part > high).any():
                    raise ValueError(f"{name}: a number outside {low:g} to {high:g}")
    for name, table in _tables(atlas):
        if len(table) != atlas.layers or any(len(layer) != atlas.heads for layer in table):
            raise ValueError(f"{name} does not have {atlas.layers} layers of {atlas.heads} heads")
    for layer, head in _heads(atlas):
        if not (0 <= layer < atlas.layers and 0 <= head < atlas.heads):
            raise ValueError(f"there is no head {layer}.{head} in {atlas.layers} layers of {atlas.heads} heads")
    _check_names(atlas)


def _keys(atlas: Atlas) -> Iterator[tuple[str, Collection[object], Collection[object]]]:
    """Yield name, keys, and the keys that it must have."""
    if atlas.looks:
        yield "looks", atlas.looks.kinds, KINDS
    if atlas.align:
        yield "align", atlas.align.rows, ("output", "input")
    for name, by_kind in _effect_tables(atlas).items():
        yield f"effects of {name}", by_kind, KINDS
    if effects := atlas.effects:
        yield "class_tokens", effects.class_tokens, effects.classes
        yield "length_bounds", effects.length_bounds, effects.lengths
    if atlas.flow:
        yield "flow", atlas.flow.share, KINDS
        yield "flow", atlas.flow.cut, atlas.flow.kept
    if atlas.decode:
        yield "decode", atlas.decode.heads, KINDS
        yield "decode", atlas.decode.q, KINDS
    if atlas.resembles:
        yield "resembles", atlas.resembles.kinds, KINDS
    if atlas.examples:
        yield "examples", atlas.examples.kinds, KINDS
        yield "targets of examples", atlas.examples.targets, atlas.examples.sentences


def _arrays(atlas: Atlas) -> Iterator[tuple[str, Estimate | FloatArray, tuple[int, ...], _Bounds]]:
    """Yield name, numbers, shape and bounds."""
    heads = atlas.layers, atlas.heads
    offsets = len(atlas.looks.offsets) if atlas.looks else 0
    for kind, looks in atlas.looks.kinds.items() if atlas.looks else ():
        yield f"looks of {kind}", looks.offsets, (*heads, offsets), _ANY
        for spread in (looks.entropy, looks.distance):
            yield f"looks of {kind}", spread.heads, heads, _ANY
        for name, pattern in looks.patterns.items():
            yield f"{name} of {kind}", pattern.share, heads, _SHARE
            yield f"{name} of {kind}", pattern.weight, heads, _SHARE
            yield f"{name} of {kind}", pattern.q, heads, _ANY
    if links := atlas.links:
        table = len(links.directions), len(links.relations)
        yield "links", links.accuracy, (*table, *heads), _SHARE
        yield "links", links.gain, (*table, *heads), _GAIN
        yield "links", links.fixed, table, _SHARE
        yield "links", links.first, (*table, *heads), _ANY
        for array in (links.places, links.first_places, links.offset, links.uniform):
            yield "links", array, table, _ANY
    for name, rows in atlas.align.rows.items() if atlas.align else ():
        yield f"align by {name}", rows.error, heads, _SHARE
        yield f"align by {name}", rows.gain, heads, _GAIN
        yield f"align by {name}", rows.q, heads, _ANY
    for name, by_kind in _effect_tables(atlas).items():
        yield from ((f"effects of {name}", values, heads, _ANY) for values in by_kind.values())
    for name, by_group in atlas.effects.agreement.items() if atlas.effects else ():
        yield from ((f"agreement of {name}", estimate, (), _GAIN) for estimate in by_group.values())
    if flow := atlas.flow:
        yield from (("flow", share, heads, _SHARE) for share in flow.share.values())
        for curves, points in ((flow.cut, flow.cut_shares), (flow.kept, flow.kept_shares)):
            yield from (("flow", curve, (len(points),), _ANY) for curve in curves.values())
        yield from (("flow", each, (), _GAIN) for each in (flow.with_effect, flow.heads_with_effect))
        yield from (("flow", each, (), _ANY) for each in (flow.whole, flow.nothing))
    for kind, q in atlas.decode.q.items() if atlas.decode else ():
        yield f"decode of {kind}", q, heads, _ANY
    for kind, family in atlas.resembles.kinds.items() if atlas.resembles else ():
        yield f"resembles of {kind}", family.distances, (heads[0] * heads[1],) * 2, _ANY
        yield f"resembles of {kind}", family.uniform, heads, _ANY
    for name, task in (atlas.circuits or {}).items():
        yield f"circuit of {name}", task.scores, (_senders(atlas),), _ANY
        yield f"circuit of {name}", task.null_limits, (_senders(atlas),), _ANY
        if curve := task.curve:
            yield f"circuit of {name}", curve.kept, (len(curve.edges),), _ANY
            yield f"circuit of {name}", curve.random, (*curve.random.shape[:1], len(curve.edges)), _ANY


def _senders(atlas: Atlas) -> int:
    """Return the number of nodes: the source, heads of all kinds, and networks of encoder and decoder."""
    return 1 + atlas.layers * (len(KINDS) * atlas.heads + 2)


def _effect_tables(atlas: Atlas) -> dict[str, Mapping[Kind, Estimate | FloatArray]]:
    """Return the tables of effects and of their p-values by name."""
    if (effects := atlas.effects) is None:
        return {}
    groups = effects.changes, effects.differences, effects.classes, effects.lengths
    named = {name: by_kind for group in groups for name, by_kind in group.items()}
    return named | {"gradient": effects.gradient} | {f"q of {name}": by_kind for name, by_kind in effects.q.items()}


def _tables(atlas: Atlas) -> Iterator[tuple[str, Sequence[Sequence[object]]]]:
    """Yield name and table of everything that has one entry for each head."""
    for kind in KINDS:
        if atlas.decode:
            yield f"decode of {kind}", atlas.decode.heads[kind]
        if atlas.resembles:
            yield f"resembles of {kind}", atlas.resembles.kinds[kind].nearest
        if atlas.examples:
            yield f"examples of {kind}", atlas.examples.kinds[kind]


def _heads(atlas: Atlas) -> Iterator[tuple[int, int]]:
    """Yield layer and head of every reference to a head of this model."""
    yield from ((link.layer, link.head) for link in (atlas.links.tested if atlas.links else ()))
    for curve in atlas.prune.curves if atlas.prune else ():
        yield from ((layer, head) for _, layer, head in curve.removed)


def _check_names(atlas: Atlas) -> None:
    """Check references to relations, models, sentences, controls, and numbers of heads."""
    for name in atlas.effects.differences if atlas.effects else ():
        assert atlas.effects is not None
        if name not in atlas.effects.q or not set(name.split("/")) <= set(atlas.effects.changes):
            raise ValueError(f"effects lack the numbers of the difference {name}")
    if links := atlas.links:
        for link in links.tested:
            if link.direction not in links.directions or link.relation not in links.relations:
                raise ValueError(f"links have no relation {link.relation!r} {link.direction!r}")
    for curve in atlas.prune.curves if atlas.prune else ():
        if len(curve.kept) != len(curve.scores) or any(count > len(curve.removed) for count in curve.kept):
            raise ValueError(f"the curve {curve.heads} {curve.order} has counts that do not fit its heads")
    if resembles := atlas.resembles:
        models: dict[str, Atlas | OtherModel] = {"": atlas, **resembles.models}
        for sibling in (
            each for family in resembles.kinds.values() for row in family.nearest for s in row for each in s
        ):
            if sibling.model not in models:
                raise ValueError(f"resembles has an unknown model {sibling.model[:12]!r}")
            other = models[sibling.model]
            if sibling.number >= other.layers * other.heads:
                raise ValueError(f"resembles has no head {sibling.number} in model {sibling.model[:12]!r}")
    receivers = _senders(atlas) + 2 * len(KINDS) * atlas.layers * atlas.heads  # three of a head, and the logits
    for name, task in (atlas.circuits or {}).items():
        if any(sender >= _senders(atlas) or receiver >= receivers for sender, receiver, _ in task.edges):
            raise ValueError(f"the circuit of {name} has an edge of no node of this model")
    if examples := atlas.examples:
        for each in (each for table in examples.kinds.values() for row in table for head in row for each in head):
            if each.sentence not in examples.sentences:
                raise ValueError(f"examples have no sentence {each.sentence}")
