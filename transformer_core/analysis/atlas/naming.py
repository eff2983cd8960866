"""The role of each head, from the evidence: a name with its numbers; the words are for whoever shows it.

A head has a role when the rule explains it beyond its baseline by 10 points, on at least 50 places, significantly after
Benjamini-Hochberg at 5 %. A rule of where it looks must also explain most of its places. No role is a result too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from transformer_core.analysis.ablation import Head
from transformer_core.analysis.atlas.record import Atlas, KindLooks
from transformer_core.analysis.atlas.statistics import FALSE_DISCOVERIES, LEAST_GAIN, LEAST_PLACES
from transformer_core.analysis.roles import MOST_PLACES
from transformer_core.attention_maps import KINDS, Kind


@dataclass(frozen=True, kw_only=True)
class Role:
    """What a head does, and the evidence.

    Args:
        name: A rule of `patterns.py`; `link` for a dependency relation; `aligner`.
        detail: Of a link its relation and direction, such as `obj to_head`; of an aligner how its rows are named.
        value: Share of places that it explains; of an aligner 1 minus the alignment error rate.
        low: Lower end of the 95 % interval of `value`.
        high: Upper end.
        baseline: The larger of equal weights and the best fixed offset.
        places: That were counted; of an aligner, sentences.
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
        """Above the baseline."""
        return self.value - self.baseline

    @property
    def label(self) -> str:
        """Name and detail."""
        return f"{self.name} {self.detail}".strip()


def head_roles(atlas: Atlas) -> dict[Head, tuple[Role, ...]]:
    """The roles of every head, those furthest above their baseline first; empty for one without a clear role."""
    heads: dict[Head, list[Role]] = {
        (kind, layer, head): [] for kind in KINDS for layer in range(atlas.layers) for head in range(atlas.heads)
    }
    for each, role in (*_looking(atlas), *_linking(atlas), *_aligning(atlas)):
        heads[each].append(role)
    return {each: tuple(sorted(roles, key=lambda role: -role.gain)) for each, roles in heads.items()}


def _looking(atlas: Atlas) -> Iterator[tuple[Head, Role]]:
    for kind, looks in atlas.looks.kinds.items() if atlas.looks else ():
        yield from _of_kind(kind, looks)


def _of_kind(kind: Kind, looks: KindLooks) -> Iterator[tuple[Head, Role]]:
    for name, pattern in looks.patterns.items():
        baseline = max(pattern.uniform, pattern.fixed or 0.0)
        share = pattern.share.value
        with np.errstate(invalid="ignore"):
            named = (share >= MOST_PLACES) & (share - baseline >= LEAST_GAIN) & (pattern.q <= FALSE_DISCOVERIES)
            # A head whose weights are nearly equal has a strongest key, too, but looks nowhere.
            named &= pattern.weight.low > 2 * pattern.uniform
        for layer, head in np.argwhere(named).tolist() if pattern.places >= LEAST_PLACES else []:
            yield (
                (kind, layer, head),
                Role(
                    name=name,
                    value=float(share[layer, head]),
                    low=float(pattern.share.low[layer, head]),
                    high=float(pattern.share.high[layer, head]),
                    baseline=baseline,
                    places=pattern.places,
                    q=float(pattern.q[layer, head]),
                ),
            )


def _linking(atlas: Atlas) -> Iterator[tuple[Head, Role]]:
    links = atlas.links
    for link in links.tested if links else ():
        if not link.holds:
            continue
        assert links is not None
        pair = links.directions.index(link.direction), links.relations.index(link.relation)
        at = (*pair, link.layer, link.head)
        yield (
            ("encoder", link.layer, link.head),
            Role(
                name="link",
                detail=f"{link.relation} {link.direction}",
                value=float(links.accuracy.value[at]),
                low=float(links.accuracy.low[at]),
                high=float(links.accuracy.high[at]),
                baseline=float(links.accuracy.value[at] - links.gain.value[at]),
                places=int(links.places[pair]),
                q=link.q,
            ),
        )


def _aligning(atlas: Atlas) -> Iterator[tuple[Head, Role]]:
    for name, rows in atlas.align.rows.items() if atlas.align else ():
        assert atlas.align is not None
        good = (rows.gain.value >= LEAST_GAIN) & (rows.q <= FALSE_DISCOVERIES)
        for layer, head in np.argwhere(good).tolist() if atlas.align.sentences >= LEAST_PLACES else []:
            yield (
                ("cross", layer, head),
                Role(
                    name="aligner",
                    detail=name,
                    value=1 - float(rows.error.value[layer, head]),
                    low=1 - float(rows.error.high[layer, head]),
                    high=1 - float(rows.error.low[layer, head]),
                    baseline=1 - min(rows.fixed, rows.uniform),
                    places=atlas.align.sentences,
                    q=float(rows.q[layer, head]),
                ),
            )
