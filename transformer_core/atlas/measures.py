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

import numpy as np

from transformer_core.atlas.naming import evidence
from transformer_core.atlas.record import Atlas, Decoded, Estimate, Family, FloatArray, Score
from transformer_core.atlas.statistics import MIN_PLACES
from transformer_core.attention_maps import KINDS, Kind


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

    def rows(self) -> Iterator[tuple[Kind, int, int, float]]:
        """Yield kind, layer, head and value of every head with a value."""
        for kind, numbers in self.kinds.items():
            for layer, head in np.argwhere(np.isfinite(numbers.value)).tolist():
                yield kind, layer, head, float(numbers.value[layer, head])


def measures(atlas: Atlas) -> tuple[Measure, ...]:
    """Return all measures of an atlas, in the order of `NAMES`."""
    found = (make(atlas) for make in _MEASURES.values())
    return tuple(measure for measure in found if measure is not None and measure.kinds)


def measure_named(atlas: Atlas, name: str) -> Measure:
    """Return a measure by name; the first one for an empty name.

    Raises:
        ValueError: The atlas does not have it; the message lists its measures.
    """
    found = {measure.name: measure for measure in measures(atlas)}
    if not found:
        raise ValueError("the atlas holds no measure of heads")
    if name and name not in found:
        raise ValueError(f"measure is {name!r}, but must be one of {', '.join(found)}")
    return found[name or next(iter(found))]


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
    chosen = [np.take_along_axis(each, best[None], axis=0)[0] for each in (value, low, high, np.stack(q))]
    detail = tuple(tuple(labels[number] for number in row) for row in best.tolist())
    return _numbers(Estimate(value=chosen[0], low=chosen[1], high=chosen[2]), q=chosen[3], detail=detail)


def _gain(atlas: Atlas) -> Measure | None:
    """Return how far the rule, relation or alignment that explains a head best is above its baseline.

    A relation counts only if the first treebank chose it for this head, since the best of many is good by chance.
    """
    found = {}
    for kind in KINDS:
        each = [e for e in evidence(atlas, kind) if e.places >= MIN_PLACES and not np.isnan(e.q).all()]
        if each:
            baselines = [np.where(np.isnan(e.q) & (e.name == "link"), np.nan, e.baseline) for e in each]
            gains = [
                Estimate(value=e.share.value - base, low=e.share.low - base, high=e.share.high - base)
                for e, base in zip(each, baselines, strict=True)
            ]
            found[kind] = _best([f"{e.name} {e.detail}".strip() for e in each], gains, [e.q for e in each])
    return Measure(name="gain", part="roles", unit="points", kinds=found)


def _relation(atlas: Atlas) -> Measure | None:
    """Return the relation furthest above its baseline for each head; the interval is not corrected for this choice."""
    relations = [e for e in evidence(atlas, "encoder") if e.name == "link"]
    if atlas.links is None or not any(e.places >= MIN_PLACES for e in relations):
        return None
    gain = atlas.links.gain
    flat = zip(*(array.reshape(-1, *array.shape[2:]) for array in (gain.value, gain.low, gain.high)), strict=True)
    pairs = zip(relations, (Estimate(value=value, low=low, high=high) for value, low, high in flat), strict=True)
    each, gains = zip(*((e, estimate) for e, estimate in pairs if e.places >= MIN_PLACES), strict=True)
    numbers = _best([f"{e.name} {e.detail}" for e in each], gains, [e.q for e in each])
    return Measure(name="relation", part="links", unit="points", diverging=True, kinds={"encoder": numbers})


def _effect(change: str, name: str) -> Callable[[Atlas], Measure | None]:
    def make(atlas: Atlas) -> Measure | None:
        effects = atlas.effects
        if effects is None or change not in effects.changes:
            return None
        random = effects.changes.get("random", {})
        found = {
            kind: _numbers(
                estimate,
                random[kind].value if kind in random else np.nan,
                effects.q.get(change, {}).get(kind),
            )
            for kind, estimate in effects.changes[change].items()
        }
        return Measure(name=name, part="effects", unit="nats", diverging=True, kinds=found)

    return make


def _gradient(atlas: Atlas) -> Measure | None:
    if atlas.effects is None:
        return None
    found = {kind: _numbers(estimate) for kind, estimate in atlas.effects.gradient.items()}
    return Measure(name="gradient", part="effects", unit="nats", kinds=found)


def _decoded(name: str, score: Callable[[Score], float], p: Callable[[Score], float]) -> Callable[..., Measure | None]:
    """Return the change of a score of the translations without a head; the atlas has a test, but no interval."""

    def make(atlas: Atlas) -> Measure | None:
        if atlas.decode is None:
            return None
        found = {kind: _change(atlas.decode, kind, name, score, p) for kind in atlas.decode.heads}
        return Measure(name=name, part="decode", unit="score", diverging=True, kinds=found)

    return make


def _change(
    decode: Decoded, kind: Kind, name: str, score: Callable[[Score], float], p: Callable[[Score], float]
) -> HeadNumbers:
    whole = score(decode.whole)
    value = np.array([[score(each) - whole for each in row] for row in decode.heads[kind]], dtype=np.float64)
    q = decode.q[kind] if name == "bleu" else np.array([[p(each) for each in row] for row in decode.heads[kind]])
    none = np.full(value.shape, np.nan)
    return _numbers(Estimate(value=value, low=none, high=none), q=q)


def _spread(name: str, unit: str) -> Callable[[Atlas], Measure | None]:
    def make(atlas: Atlas) -> Measure | None:
        if atlas.looks is None:
            return None
        spreads = {kind: getattr(looks, name) for kind, looks in atlas.looks.kinds.items()}
        found = {kind: _numbers(each.heads, each.uniform) for kind, each in spreads.items()}
        return Measure(name=name, part="looks", unit=unit, kinds=found)

    return make


def _weight(pattern: str) -> Callable[[Atlas], Measure | None]:
    """Return the mean weight on the keys of a rule."""

    def make(atlas: Atlas) -> Measure | None:
        if atlas.looks is None:
            return None
        rules = {kind: looks.patterns.get(pattern) for kind, looks in atlas.looks.kinds.items()}
        found = {kind: _numbers(rule.weight, rule.uniform) for kind, rule in rules.items() if rule is not None}
        return Measure(name=f"weight-{pattern}", part="looks", unit="share", kinds=found)

    return make


def _alignment(rows: str) -> Callable[[Atlas], Measure | None]:
    def make(atlas: Atlas) -> Measure | None:
        if atlas.align is None:
            return None
        found = atlas.align.rows[rows]
        numbers = _numbers(found.error, min(found.fixed, found.uniform), found.q)
        return Measure(name=f"alignment-{rows}", part="align", unit="share", kinds={"cross": numbers})

    return make


def _nearest(atlas: Atlas) -> Measure | None:
    if atlas.resembles is None:
        return None
    found = {kind: _of_family(family, atlas.heads) for kind, family in atlas.resembles.kinds.items()}
    return Measure(name="nearest", part="resembles", unit="distance", kinds=found)


def _of_family(family: Family, heads: int) -> HeadNumbers:
    """Return the distance to the nearest other head of the same model, with its name."""
    own = [[next((each for each in near if not each.model), None) for near in row] for row in family.nearest]
    value, low, high = (
        np.array([[np.nan if each is None else getattr(each, name) for each in row] for row in own], dtype=np.float64)
        for name in ("distance", "low", "high")
    )
    detail = tuple(
        tuple("" if each is None else f"{each.number // heads + 1}.{each.number % heads + 1}" for each in row)
        for row in own
    )
    return _numbers(Estimate(value=value, low=low, high=high), family.typical, None, detail)


_MEASURES: dict[str, Callable[[Atlas], Measure | None]] = {
    "gain": _gain,
    "relation": _relation,
    "effect": _effect("mean", "effect"),
    "effect-zero": _effect("zero", "effect-zero"),
    "gradient": _gradient,
    "bleu": _decoded("bleu", lambda score: score.bleu, lambda score: score.bleu_p),
    "chrf": _decoded("chrf", lambda score: score.chrf, lambda score: score.chrf_p),
    "entropy": _spread("entropy", "nats"),
    "distance": _spread("distance", "tokens"),
    "weight-separator": _weight("separator"),
    "weight-end": _weight("end"),
    "weight-start": _weight("start"),
    "alignment-output": _alignment("output"),
    "alignment-input": _alignment("input"),
    "nearest": _nearest,
}
NAMES = tuple(_MEASURES)
