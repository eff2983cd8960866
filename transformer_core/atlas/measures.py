"""Named measures of an atlas, with one number for every head.

    for measure in measures(atlas):
        print(measure.name, measure.unit, measure.kinds["encoder"].value)     # (L, H)

A missing part of the atlas gives no measure. A measure has only the kinds of attention for which it is defined. NaN
means that nothing was counted, or that the atlas has no interval.

Shape legend: L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from transformer_core.atlas.controls import CONTROLS
from transformer_core.atlas.naming import evidence, link_roles
from transformer_core.atlas.record import (
    Alignment,
    Atlas,
    Decoded,
    Effects,
    Estimate,
    FloatArray,
    Flows,
    Links,
    Looks,
    Resemblance,
)
from transformer_core.atlas.statistics import MIN_PLACES
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.head import Head


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadNumbers:
    """Measure of all heads of a kind.

    Args:
        value: (L, H).
        low: (L, H) lower ends of the 95 % intervals.
        high: (L, H) upper ends.
        baseline: (L, H) baseline of `value`, in the same unit; NaN if there is none, or if it is already subtracted.
        q: (L, H) p-values after correction; NaN without a test.
        detail: (L, H) labels, such as the rule that fits best; empty strings for none.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    baseline: FloatArray
    q: FloatArray
    detail: tuple[tuple[str, ...], ...] = ()


_Numbers = dict[Kind, HeadNumbers]


@dataclass(frozen=True, kw_only=True, eq=False)
class Measure:
    """Named measure.

    Args:
        name: Such as `gain`; see `NAMES`.
        part: Its part of the atlas.
        unit: `share`, `points` (differences of shares), `nats`, `tokens`, `score` (BLEU or chrF, 0 to 100), or
            `distance` (0 to 1).
        diverging: Whether 0 is the middle, with numbers of both signs.
        kinds: By kind of attention.
    """

    name: str
    part: str
    unit: str
    diverging: bool = False
    kinds: dict[Kind, HeadNumbers] = field(default_factory=dict)

    def rows(self) -> Iterator[tuple[Head, float]]:
        """Yield every head with a value, and the value."""
        for kind, numbers in self.kinds.items():
            for layer, head in np.argwhere(np.isfinite(numbers.value)).tolist():
                yield Head(kind, layer, head), float(numbers.value[layer, head])


def measures(atlas: Atlas) -> tuple[Measure, ...]:
    """Return all measures of an atlas, in the order of `NAMES`."""
    available = []
    for name, each in _MEASURES.items():
        part = atlas if each.part == "roles" else getattr(atlas, each.part)
        if part is not None and (kinds := each.numbers(part)):
            available.append(Measure(name=name, part=each.part, unit=each.unit, diverging=each.diverging, kinds=kinds))
    return tuple(available)


def measure_named(atlas: Atlas, name: str) -> Measure:
    """Return a measure by name; the first one for an empty name.

    Raises:
        ValueError: The atlas does not have it; the message lists its measures.
    """
    by_name = {measure.name: measure for measure in measures(atlas)}
    if not by_name:
        raise ValueError("the atlas holds no measure of heads")
    if name and name not in by_name:
        raise ValueError(f"measure is {name!r}, but must be one of {', '.join(by_name)}")
    return by_name[name or next(iter(by_name))]


def _numbers(
    estimate: Estimate,
    baseline: float | FloatArray = np.nan,
    q: FloatArray | None = None,
    detail: tuple[tuple[str, ...], ...] = (),
) -> HeadNumbers:
    shape = estimate.value.shape
    return HeadNumbers(
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        baseline=np.broadcast_to(np.asarray(baseline, dtype=np.float64), shape),
        q=np.full(shape, np.nan) if q is None else q,
        detail=detail,
    )


def _best(labels: Sequence[str], estimates: Sequence[Estimate], q: Sequence[FloatArray]) -> HeadNumbers:
    """Choose the largest of several numbers for each head."""
    value, low, high = (np.stack([getattr(each, name) for each in estimates]) for name in ("value", "low", "high"))
    best = np.argmax(np.where(np.isnan(value), -np.inf, value), axis=0)
    best_values = [np.take_along_axis(each, best[None], axis=0)[0] for each in (value, low, high, np.stack(q))]
    detail = tuple(tuple(labels[number] for number in row) for row in best.tolist())
    return _numbers(
        Estimate(value=best_values[0], low=best_values[1], high=best_values[2]), q=best_values[3], detail=detail
    )


def _gain(atlas: Atlas) -> _Numbers:
    """Return how far the rule, relation or alignment that explains a head best is above its baseline.

    A relation counts only if the first treebank chose it for this head, since the best of many is good by chance.
    """
    best = {}
    for kind in KINDS:
        each = [e for e in evidence(atlas, kind) if e.places >= MIN_PLACES and not np.isnan(e.q).all()]
        if each:
            baselines = [np.where(np.isnan(e.q) & (e.name == "link"), np.nan, e.baseline) for e in each]
            gains = [
                Estimate(value=e.share.value - base, low=e.share.low - base, high=e.share.high - base)
                for e, base in zip(each, baselines, strict=True)
            ]
            best[kind] = _best([f"{e.name} {e.detail}".strip() for e in each], gains, [e.q for e in each])
    return best


def _relation(links: Links) -> _Numbers:
    """Return the relation furthest above its baseline for each head; the interval is not corrected for this choice."""
    gain = links.gain
    flat = zip(*(array.reshape(-1, *array.shape[2:]) for array in (gain.value, gain.low, gain.high)), strict=True)
    relations = [
        (f"link {e.detail}", Estimate(value=value, low=low, high=high), e.q)
        for e, (value, low, high) in zip(link_roles(links), flat, strict=True)
        if e.places >= MIN_PLACES
    ]
    return {"encoder": _best(*zip(*relations, strict=True))} if relations else {}


def _effect(change: str) -> Callable[[Effects], _Numbers]:
    def numbers(effects: Effects) -> _Numbers:
        name, changes = CONTROLS[change][0], effects.changes
        control = changes.get(name) or changes.get("random", {})  # an older atlas has no other control
        q = effects.q.get(f"{change}/{name}") or effects.q.get(change, {})
        return {
            kind: _numbers(estimate, control[kind].value if kind in control else np.nan, q.get(kind))
            for kind, estimate in effects.changes.get(change, {}).items()
        }

    return numbers


def _flow(flow: Flows) -> _Numbers:
    """Return the share of all flow, beside that of equal heads."""
    even = 1 / sum(share.value.size for share in flow.share.values())
    return {kind: _numbers(share, even) for kind, share in flow.share.items()}


def _decoded(name: str) -> Callable[[Decoded], _Numbers]:
    """Return the change of a score of the translations without a head; an older atlas has no interval."""

    def table(decode: Decoded, kind: Kind, field_name: str) -> FloatArray:
        return np.array([[getattr(each, field_name) for each in row] for row in decode.heads[kind]], dtype=np.float64)

    def numbers(decode: Decoded) -> _Numbers:
        estimates = {}
        for kind in decode.heads:
            value = table(decode, kind, name) - getattr(decode.whole, name)
            ends = [[getattr(each, f"{name}_change") or (np.nan, np.nan) for each in row] for row in decode.heads[kind]]
            low, high = np.moveaxis(np.array(ends, dtype=np.float64), 2, 0)
            q = decode.q[kind] if name == "bleu" else table(decode, kind, f"{name}_p")
            estimates[kind] = _numbers(Estimate(value=value, low=low, high=high), q=q)
        return estimates

    return numbers


def _spread(name: str) -> Callable[[Looks], _Numbers]:
    def numbers(looks: Looks) -> _Numbers:
        spreads = {kind: getattr(each, name) for kind, each in looks.kinds.items()}
        return {kind: _numbers(each.heads, each.uniform) for kind, each in spreads.items()}

    return numbers


def _weight(pattern: str) -> Callable[[Looks], _Numbers]:
    """Return the mean weight on the keys of a rule."""

    def numbers(looks: Looks) -> _Numbers:
        rules = {kind: each.patterns[pattern] for kind, each in looks.kinds.items() if pattern in each.patterns}
        return {kind: _numbers(rule.weight, rule.uniform) for kind, rule in rules.items()}

    return numbers


def _alignment(name: str) -> Callable[[Alignment], _Numbers]:
    def numbers(align: Alignment) -> _Numbers:
        rows = align.rows[name]
        return {"cross": _numbers(rows.error, min(rows.fixed, rows.uniform), rows.q)}

    return numbers


def _nearest(resembles: Resemblance) -> _Numbers:
    """Return the distance to the nearest other head of the same model, with its name."""
    by_kind = {}
    for kind, family in resembles.kinds.items():
        nearest = [[next((each for each in near if not each.model), None) for near in row] for row in family.nearest]
        value, low, high = (
            np.array([[np.nan if each is None else getattr(each, name) for each in row] for row in nearest], np.float64)
            for name in ("distance", "low", "high")
        )
        heads = family.uniform.shape[1]
        detail = tuple(
            tuple("" if each is None else f"{each.number // heads + 1}.{each.number % heads + 1}" for each in row)
            for row in nearest
        )
        by_kind[kind] = _numbers(Estimate(value=value, low=low, high=high), family.typical, None, detail)
    return by_kind


@dataclass(frozen=True)
class _Definition:
    """Part of the atlas, unit, numbers of the part (of the whole atlas for `roles`), and whether signs differ."""

    part: str
    unit: str
    numbers: Callable[[Any], _Numbers]
    diverging: bool = False


_MEASURES = {
    "gain": _Definition("roles", "points", _gain),
    "relation": _Definition("links", "points", _relation, diverging=True),
    "effect": _Definition("effects", "nats", _effect("mean"), diverging=True),
    "effect-zero": _Definition("effects", "nats", _effect("zero"), diverging=True),
    "gradient": _Definition("effects", "nats", lambda part: {kind: _numbers(e) for kind, e in part.gradient.items()}),
    "flow": _Definition("flow", "share", _flow),
    "bleu": _Definition("decode", "score", _decoded("bleu"), diverging=True),
    "chrf": _Definition("decode", "score", _decoded("chrf"), diverging=True),
    "entropy": _Definition("looks", "nats", _spread("entropy")),
    "distance": _Definition("looks", "tokens", _spread("distance")),
    "weight-separator": _Definition("looks", "share", _weight("separator")),
    "weight-end": _Definition("looks", "share", _weight("end")),
    "weight-start": _Definition("looks", "share", _weight("start")),
    "alignment-output": _Definition("align", "share", _alignment("output")),
    "alignment-input": _Definition("align", "share", _alignment("input")),
    "nearest": _Definition("resembles", "distance", _nearest),
}
NAMES = tuple(_MEASURES)
