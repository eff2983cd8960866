"""Roles of heads with their evidence. Names are keys; the user interface supplies words.

A head has a role if the rule is 10 points above its baseline on at least 50 places, significantly after
Benjamini-Hochberg at 5 %. A rule of where it looks must also explain most of its places. No role is a result too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from transformer_core.analysis.ablation import Head
from transformer_core.analysis.roles import MIN_SHARE
from transformer_core.atlas.record import Alignment, Atlas, KindLooks, Links, Pattern
from transformer_core.atlas.statistics import FALSE_DISCOVERIES, MIN_GAIN, MIN_PLACES
from transformer_core.attention_maps import KINDS, Kind


@dataclass(frozen=True, kw_only=True)
class Role:
    """Role of a head, with the evidence.

    Args:
        name: A rule of `patterns.py`; `link` for a dependency relation; `aligner`.
        detail: Relation and direction of a link, such as `obj to_head`; name of an aligner's rows.
        value: Share of explained places; for an aligner 1 minus the alignment error rate.
        low: Lower end of the 95 % interval of `value`.
        high: Upper end.
        baseline: The larger of equal weights and the best fixed offset.
        places: Counted places; for an aligner, sentences.
        q: P-value after correction.
    """

    name: str
    detail: str = ""
    value: float
    low: float
    high: float
    baseline: float
    places: int
    q: float

    @property
    def gain(self) -> float:
        """Difference to the baseline."""
        return self.value - self.baseline

    @property
    def label(self) -> str:
        """Name and detail."""
        return f"{self.name} {self.detail}".strip()


def head_roles(atlas: Atlas) -> dict[Head, tuple[Role, ...]]:
    """Return the roles of every head, furthest above their baseline first; empty without a clear role."""
    heads: dict[Head, list[Role]] = {
        (kind, layer, head): [] for kind in KINDS for layer in range(atlas.layers) for head in range(atlas.heads)
    }
    for each, role in (*_looking(atlas), *_linking(atlas), *_aligning(atlas)):
        heads[each].append(role)
    return {each: tuple(sorted(roles, key=lambda role: -role.gain)) for each, roles in heads.items()}


def closest_roles(atlas: Atlas, head: Head) -> tuple[Role, ...]:
    """Return the closest candidates for a role, clear or not: the best of each part, furthest above baseline first.

    They are counted on at least 50 places. A relation for which the head was not a candidate has the p-value NaN.
    """
    kind, layer, number = head
    found = []
    if atlas.looks and kind in atlas.looks.kinds:
        patterns = atlas.looks.kinds[kind].patterns.items()
        found.append([_rule(name, each, layer, number) for name, each in patterns if each.places >= MIN_PLACES])
    if atlas.links and kind == "encoder":
        pairs = np.argwhere(atlas.links.places >= MIN_PLACES).tolist()
        found.append([_link(atlas.links, tuple(pair), layer, number) for pair in pairs])
    if atlas.align and kind == "cross" and atlas.align.sentences >= MIN_PLACES:
        found.append([_aligner(atlas.align, name, layer, number) for name in atlas.align.rows])
    counted = [[role for role in roles if not np.isnan(role.gain)] for roles in found]
    best = [max(roles, key=lambda role: role.gain) for roles in counted if roles]
    return tuple(sorted(best, key=lambda role: -role.gain))


def link_evidence(links: Links, relation: str, direction: str) -> tuple[tuple[Role, Head], ...]:
    """Return the fit of each encoder head to a relation, clear or not, furthest above baseline first."""
    pair = links.directions.index(direction), links.relations.index(relation)
    layers, heads = links.accuracy.value.shape[2:]
    found = [
        (_link(links, pair, layer, head), ("encoder", layer, head)) for layer in range(layers) for head in range(heads)
    ]
    return tuple(sorted(found, key=lambda each: -np.nan_to_num(each[0].gain, nan=-1.0)))  # type: ignore[arg-type]


def _looking(atlas: Atlas) -> Iterator[tuple[Head, Role]]:
    for kind, looks in atlas.looks.kinds.items() if atlas.looks else ():
        yield from _of_kind(kind, looks)


def _of_kind(kind: Kind, looks: KindLooks) -> Iterator[tuple[Head, Role]]:
    for name, pattern in looks.patterns.items():
        baseline = max(pattern.uniform, pattern.fixed or 0.0)
        share = pattern.share.value
        with np.errstate(invalid="ignore"):
            named = (share >= MIN_SHARE) & (share - baseline >= MIN_GAIN) & (pattern.q <= FALSE_DISCOVERIES)
            # A head with nearly equal weights also has a strongest key, but looks nowhere.
            named &= pattern.weight.low > 2 * pattern.uniform
        for layer, head in np.argwhere(named).tolist() if pattern.places >= MIN_PLACES else []:
            yield (kind, layer, head), _rule(name, pattern, layer, head)


def _rule(name: str, pattern: Pattern, layer: int, head: int) -> Role:
    return Role(
        name=name,
        value=float(pattern.share.value[layer, head]),
        low=float(pattern.share.low[layer, head]),
        high=float(pattern.share.high[layer, head]),
        baseline=max(pattern.uniform, pattern.fixed or 0.0),
        places=pattern.places,
        q=float(pattern.q[layer, head]),
    )


def _linking(atlas: Atlas) -> Iterator[tuple[Head, Role]]:
    links = atlas.links
    for link in links.tested if links else ():
        if link.holds:
            assert links is not None
            pair = links.directions.index(link.direction), links.relations.index(link.relation)
            yield ("encoder", link.layer, link.head), _link(links, pair, link.layer, link.head)


def _link(links: Links, pair: tuple[int, ...], layer: int, head: int) -> Role:
    """Return a relation; `pair` has the numbers of direction and relation."""
    at = (*pair, layer, head)
    direction, relation = links.directions[pair[0]], links.relations[pair[1]]
    place = (relation, direction, layer, head)
    tested = (each.q for each in links.tested if (each.relation, each.direction, each.layer, each.head) == place)
    return Role(
        name="link",
        detail=f"{relation} {direction}",
        value=float(links.accuracy.value[at]),
        low=float(links.accuracy.low[at]),
        high=float(links.accuracy.high[at]),
        baseline=float(links.accuracy.value[at] - links.gain.value[at]),
        places=int(links.places[pair]),
        q=next(tested, math.nan),
    )


def _aligning(atlas: Atlas) -> Iterator[tuple[Head, Role]]:
    for name, rows in atlas.align.rows.items() if atlas.align else ():
        assert atlas.align is not None
        good = (rows.gain.value >= MIN_GAIN) & (rows.q <= FALSE_DISCOVERIES)
        for layer, head in np.argwhere(good).tolist() if atlas.align.sentences >= MIN_PLACES else []:
            yield ("cross", layer, head), _aligner(atlas.align, name, layer, head)


def _aligner(align: Alignment, name: str, layer: int, head: int) -> Role:
    rows = align.rows[name]
    return Role(
        name="aligner",
        detail=name,
        value=1 - float(rows.error.value[layer, head]),
        low=1 - float(rows.error.high[layer, head]),
        high=1 - float(rows.error.low[layer, head]),
        baseline=1 - min(rows.fixed, rows.uniform),
        places=align.sentences,
        q=float(rows.q[layer, head]),
    )
