"""Roles of heads with their evidence. Names are keys; the user interface supplies words.

A head has a role if the rule is 10 points above its baseline on at least 50 places, significantly after
Benjamini-Hochberg at 5 %. A rule of where it looks must also explain most of its places. No role is a result too.

Shape legend: L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from transformer_core.analysis.ablation import Head
from transformer_core.analysis.word_weights import BoolArray
from transformer_core.atlas.record import Atlas, Estimate, FloatArray, Links
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
        q: P-value after correction; NaN for a relation for which the head was not a candidate.
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
    def shown(self) -> dict[str, float]:
        """Value, low, high and baseline as they are shown: the error rate (AER) of an aligner."""
        names = ("value", "low", "high", "baseline")
        if self.name != "aligner":
            return {name: getattr(self, name) for name in names}
        return {"value": 1 - self.value, "low": 1 - self.high, "high": 1 - self.low, "baseline": 1 - self.baseline}

    @property
    def gain(self) -> float:
        """Difference to the baseline."""
        return self.value - self.baseline

    @property
    def part(self) -> str:
        """Part of the atlas that measured it."""
        return {"link": "links", "aligner": "align"}.get(self.name, "looks")

    @property
    def label(self) -> str:
        """Name and detail."""
        return f"{self.name} {self.detail}".strip()


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Evidence for one role in all heads of a kind; see `Role`.

    Args:
        name: Of the role.
        detail: Of the role.
        share: (L, H).
        baseline: (L, H).
        places: Counted places.
        q: (L, H).
        clear: (L, H) whether a head has the role.
    """

    name: str
    detail: str = ""
    share: Estimate
    baseline: FloatArray
    places: int
    q: FloatArray
    clear: BoolArray

    def role(self, layer: int, head: int) -> Role:
        """Return the role of one head."""
        return Role(
            name=self.name,
            detail=self.detail,
            value=float(self.share.value[layer, head]),
            low=float(self.share.low[layer, head]),
            high=float(self.share.high[layer, head]),
            baseline=float(self.baseline[layer, head]),
            places=self.places,
            q=float(self.q[layer, head]),
        )


def evidence(atlas: Atlas, kind: Kind) -> Iterator[Evidence]:
    """Yield the evidence for every role of a kind, also where there are few places."""
    from transformer_core.analysis.roles import MIN_SHARE  # with torch, for which help does not wait

    shape = atlas.layers, atlas.heads
    for name, pattern in atlas.looks.kinds[kind].patterns.items() if atlas.looks else ():
        share, baseline = pattern.share, max(pattern.uniform, pattern.fixed or 0.0)
        with np.errstate(invalid="ignore"):
            clear = (share.value >= MIN_SHARE) & (share.value - baseline >= MIN_GAIN) & (pattern.q <= FALSE_DISCOVERIES)
            # A head with nearly equal weights also has a strongest key, but looks nowhere.
            clear &= (pattern.weight.low > 2 * pattern.uniform) & (pattern.places >= MIN_PLACES)
        full = np.full(shape, baseline)
        yield Evidence(name=name, share=share, baseline=full, places=pattern.places, q=pattern.q, clear=clear)
    if atlas.links and kind == "encoder":
        yield from link_roles(atlas.links)
    for name, rows in atlas.align.rows.items() if atlas.align and kind == "cross" else ():
        assert atlas.align is not None
        good = (rows.gain.value >= MIN_GAIN) & (rows.q <= FALSE_DISCOVERIES) & (atlas.align.sentences >= MIN_PLACES)
        yield Evidence(
            name="aligner",
            detail=name,
            share=Estimate(value=1 - rows.error.value, low=1 - rows.error.high, high=1 - rows.error.low),
            baseline=np.full(shape, 1 - min(rows.fixed, rows.uniform)),
            places=atlas.align.sentences,
            q=rows.q,
            clear=good,
        )


def link_roles(links: Links) -> Iterator[Evidence]:
    """Yield the evidence for every direction and relation, in the order of the arrays."""
    right = links.accuracy
    for one, direction in enumerate(links.directions):
        for two, relation in enumerate(links.relations):
            q = np.full(right.value.shape[2:], np.nan)
            clear = np.zeros(q.shape, dtype=bool)
            for link in links.tested:
                if (link.direction, link.relation) == (direction, relation):
                    q[link.layer, link.head], clear[link.layer, link.head] = link.q, link.holds
            yield Evidence(
                name="link",
                detail=f"{relation} {direction}",
                share=Estimate(value=right.value[one, two], low=right.low[one, two], high=right.high[one, two]),
                baseline=right.value[one, two] - links.gain.value[one, two],
                places=int(links.places[one, two]),
                q=q,
                clear=clear,
            )


def head_roles(atlas: Atlas) -> dict[Head, tuple[Role, ...]]:
    """Return the roles of every head, furthest above their baseline first; empty without a clear role."""
    heads: dict[Head, list[Role]] = {
        Head(kind, layer, head): [] for kind in KINDS for layer in range(atlas.layers) for head in range(atlas.heads)
    }
    for kind in KINDS:
        for each in evidence(atlas, kind):
            for layer, head in np.argwhere(each.clear).tolist():
                heads[Head(kind, layer, head)].append(each.role(layer, head))
    return {each: tuple(sorted(roles, key=lambda role: -role.gain)) for each, roles in heads.items()}


def first_roles(roles: Sequence[Role]) -> tuple[Role, ...]:
    """Return the first of a head's roles, and the rules that cannot be told apart from it.

    These are the rules of its part whose interval above the baseline reaches that of the first. If two intervals do not
    meet, the interval of the paired difference excludes 0, however the two rules depend on each other.
    """
    return tuple(roles[:1]) + tuple(
        role
        for role in roles[1:]
        # Relations are counted at different words, so that a head may follow several.
        if role.part == roles[0].part != "links" and role.high - role.baseline >= roles[0].low - roles[0].baseline
    )


def closest_roles(atlas: Atlas, head: Head) -> tuple[Role, ...]:
    """Return the closest candidates for a role, clear or not: the best of each part, furthest above baseline first.

    They are counted on at least 50 places.
    """
    kind, layer, number = head
    roles = [each.role(layer, number) for each in evidence(atlas, kind) if each.places >= MIN_PLACES]
    parts = groupby((role for role in roles if not np.isnan(role.gain)), lambda role: role.part)
    best = [max(part, key=lambda role: role.gain) for _, part in parts]
    return tuple(sorted(best, key=lambda role: -role.gain))


def link_evidence(links: Links, relation: str, direction: str) -> tuple[tuple[Role, Head], ...]:
    """Return the fit of each encoder head to a relation, clear or not, furthest above baseline first."""
    (evidence,) = (each for each in link_roles(links) if each.detail == f"{relation} {direction}")
    roles: list[tuple[Role, Head]] = [
        (evidence.role(layer, head), Head("encoder", layer, head)) for layer, head in np.ndindex(evidence.q.shape)
    ]
    return tuple(sorted(roles, key=lambda each: -np.nan_to_num(each[0].gain, nan=-1.0)))
