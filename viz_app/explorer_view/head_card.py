"""The card of a head: what the atlas of its model has measured of it, in plain values for the browser.

A part that was not measured is left out. Layers and heads count from 0; shares are from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from transformer_core.attention_maps import KINDS, Axis, Kind
from transformer_core.head import Head
from transformer_core.text.tokenizer import axis
from viz_app.text import Texts
from viz_app.text.role_words import head_words, plain_words, role_words, task_words

if TYPE_CHECKING:
    from transformer_core.atlas.naming import Role
    from transformer_core.atlas.record import Atlas, Estimate, Example, FloatArray, Spread
    from transformer_core.text.tokenizer import Tokenizer
    from viz_app.serving.measurements.head_atlas import HeadAtlas
    from viz_app.serving.models.translation_service import TranslationService

_DIGITS = 5  # after the point, as in the file of an atlas
_CHANGE = "mean"  # the head says what it says on average


def names_of_heads(head_atlas: HeadAtlas, t: Texts) -> dict[Kind, list[list[dict[str, Any]]]] | None:
    """Return the role of every head in words, [layer][head] for each kind; None where it was not measured."""
    atlas = head_atlas.atlas
    if atlas is None or atlas.looks is None:
        return None
    return {
        kind: [
            [_name(t, kind, head_atlas.roles[Head(kind, layer, head)]) for head in range(atlas.heads)]
            for layer in range(atlas.layers)
        ]
        for kind in KINDS
    }


def _name(t: Texts, kind: Kind, roles: Sequence[Role]) -> dict[str, Any]:
    return {"words": plain_words(t, kind, roles), "clear": bool(roles)}


def head_card(service: TranslationService, t: Texts, head: Head) -> dict[str, Any] | None:
    """Return all that is known of a head; None for one that this model does not have, or without an atlas."""
    about = service.translator.tokenizer, service.name, service.parses, service.head_penalty
    return _card(service.head_atlas, t, head, *about)


@lru_cache(maxsize=256)  # every run of a page has one; no service, which would keep a model in memory
def _card(
    head_atlas: HeadAtlas, t: Texts, head: Head, tokenizer: Tokenizer, model: str, parses: bool, penalised: bool
) -> dict[str, Any] | None:
    from transformer_core.atlas.naming import closest_roles

    atlas, (kind, layer, number) = head_atlas.atlas, head
    if atlas is None or layer >= atlas.layers or number >= atlas.heads:
        return None
    roles = head_atlas.roles[head]
    evidence = roles or closest_roles(atlas, head)
    parts = {
        "looks": _looks(atlas, head),
        "effect": _effect(atlas, head),
        "decode": _decode(atlas, head),
        "flow": _flow(atlas, head),
        "circuits": _circuits(atlas, t, head),
        "siblings": _siblings(head_atlas, t, head),
        "examples": _examples(atlas, tokenizer, head, parses),
    }
    return {
        "model": model,
        "head": str(head),
        "words": head_words(t, kind, roles),
        "plain": plain_words(t, kind, roles),
        "clear": bool(roles),
        "penalty": t("roles.penalty") if penalised else "",
        "evidence": [_evidence(atlas, t, kind, role) for role in evidence],
        **{name: part for name, part in parts.items() if part is not None},
        "source": _source(atlas, t),
    }


def _evidence(atlas: Atlas, t: Texts, kind: Kind, role: Role) -> dict[str, Any]:
    return {
        "words": role_words(t, kind, role),
        "part": role.part,
        "data": _data(atlas, role.part),
        "places": role.places,
        **{name: _plain(value) for name, value in role.shown.items()},
    }


def _looks(atlas: Atlas, head: Head) -> dict[str, Any] | None:
    kind, layer, number = head
    looks = atlas.looks.kinds.get(kind) if atlas.looks else None
    if looks is None:
        return None
    assert atlas.looks is not None

    def beside(spread: Spread) -> dict[str, Any]:
        return _at(spread.heads, layer, number) | {"baseline": _plain(spread.uniform), "places": spread.places}

    return {
        "offsets": list(atlas.looks.offsets),
        "shares": [_plain(float(share)) for share in looks.offsets[layer, number]],
        "entropy": beside(looks.entropy),
        "distance": beside(looks.distance),
        "sentences": atlas.looks.sentences,
        "data": _data(atlas, "looks"),
    }


def _effect(atlas: Atlas, head: Head) -> dict[str, Any] | None:
    """Nats per token that are lost without the head; the control has an interval of its own."""
    from transformer_core.atlas.controls import CONTROLS

    kind, layer, number = head
    changes = atlas.effects.changes if atlas.effects else {}
    if kind not in changes.get(_CHANGE, {}):
        return None
    assert atlas.effects is not None
    effect = _at(changes[_CHANGE][kind], layer, number)
    if baseline := changes.get(CONTROLS[_CHANGE][0]) or changes.get("random"):  # an older atlas has no other
        effect["baseline"] = _at(baseline[kind], layer, number)
    differences = {name: atlas.effects.differences.get(f"{_CHANGE}/{name}") for name in CONTROLS[_CHANGE]}
    effect["controls"] = [
        _at(difference[kind], layer, number)
        | {"name": name, "control": _at(changes[name][kind], layer, number)["value"]}
        | {"significant": _significant(atlas.effects.q[f"{_CHANGE}/{name}"], head)}
        for name, difference in differences.items()
        if difference
    ]
    return {
        **effect,
        "significant": _significant(atlas.effects.q[_CHANGE], head),
        "tokens": atlas.effects.tokens,
        "data": _data(atlas, "effects"),
    }


def _decode(atlas: Atlas, head: Head) -> dict[str, Any] | None:
    """Return BLEU without the head, beside the whole model's."""
    kind, layer, number = head
    decode = atlas.decode
    if decode is None or kind not in decode.heads:
        return None
    score = decode.heads[kind][layer][number]
    return {
        "bleu": score.bleu,
        "half": score.bleu_half,
        "whole": decode.whole.bleu,
        "change": score.bleu_change,
        "significant": _significant(decode.q, head),
        "sentences": decode.sentences,
        "data": _data(atlas, "decode"),
    }


def _flow(atlas: Atlas, head: Head) -> dict[str, Any] | None:
    """Return the share of all flow, beside that of equal heads."""
    kind, layer, number = head
    if atlas.flow is None:
        return None
    share = _at(atlas.flow.share[kind], layer, number)
    even = 1 / (len(KINDS) * atlas.layers * atlas.heads)
    return {**share, "baseline": _plain(even), "sentences": atlas.flow.sentences, "data": _data(atlas, "flow")}


def _circuits(atlas: Atlas, t: Texts, head: Head) -> list[dict[str, Any]] | None:
    """Return the tasks whose smallest faithful circuit has the head, beyond the null; the largest score first."""
    from transformer_core.analysis.circuit.wiring import Wiring

    if not atlas.circuits:
        return None
    node = Wiring(atlas.layers, atlas.heads).senders.index(str(head))
    circuits = [
        {name: _plain(float(getattr(each.scores, name)[node])) for name in ("value", "low", "high")}
        | {"words": task_words(t, task), "null": _plain(float(each.null_limits[node]))}
        | {"whole": _plain(each.clean - each.corrupted), "pairs": each.pairs}
        | {"edges": each.smallest, "all": each.curve.edges[-1]}
        for task, each in atlas.circuits.items()
        if each.curve and node in each.carriers
    ]
    return sorted(circuits, key=lambda each: -abs(each["value"])) or None


def _siblings(head_atlas: HeadAtlas, t: Texts, head: Head) -> dict[str, Any] | None:
    """Return the nearest heads of this model, and of others by the name of their model."""
    kind, layer, number = head
    resembles = head_atlas.atlas.resembles if head_atlas.atlas else None
    family = resembles.kinds.get(kind) if resembles else None
    if family is None:
        return None
    assert head_atlas.atlas is not None and resembles is not None
    heads = []
    for each in family.nearest[layer][number]:
        other = resembles.models.get(each.model)
        place = divmod(each.number, other.heads if other else head_atlas.atlas.heads)
        words = "" if other else head_words(t, kind, head_atlas.roles[Head(kind, *place)])
        numbers = {name: _plain(getattr(each, name)) for name in ("distance", "low", "high")}
        model = other.name if other else ""
        heads.append({**numbers, "model": model, "layer": place[0], "head": place[1], "words": words})
    return {
        "heads": heads,
        "typical": _plain(family.typical),
        "uniform": _plain(float(family.uniform[layer, number])),
        "sentences": family.sentences,
        "data": _data(head_atlas.atlas, "resembles"),
    }


def _examples(atlas: Atlas, tokenizer: Tokenizer, head: Head, parses: bool) -> list[dict[str, Any]] | None:
    kind, layer, number = head
    examples = atlas.examples
    if examples is None or kind not in examples.kinds:
        return None
    return [
        _example(each, kind, examples.sentences[each.sentence], examples.targets[each.sentence], tokenizer, parses)
        for each in examples.kinds[kind][layer][number]
    ]


def _example(
    example: Example, kind: Kind, source: str, target: str, tokenizer: Tokenizer, parses: bool
) -> dict[str, Any]:
    """Return an example with the tokens of its query and key; a parser's output has no way back from its text."""
    read = axis(tokenizer.source.encode(source).tokens, end=True)
    generated = read
    if kind != "encoder":
        tokens = tokenizer.encode(target).tokens if not parses else ()
        generated = axis(tokens, start=kind == "decoder", end=kind == "cross")
    queries, keys = generated, (generated if kind == "decoder" else read)
    return {
        "text": source,
        "target": "" if kind == "encoder" else target,
        "at": example.query,
        "query": _token(queries, example.query, parses and kind != "encoder"),
        "key": _token(keys, example.key, parses and kind == "decoder"),
        "weight": _plain(example.weight),
        "fits": example.fits,
    }


def _token(positions: Axis, number: int, unknown: bool) -> str:
    return "" if unknown or number >= len(positions) else positions.tokens[number]


def atlas_inputs(atlas: Atlas, t: Texts) -> list[str]:
    """Return the files that were measured, each with its sentences and the start of its sha256, in words."""
    counts: dict[tuple[str, str], list[int]] = {}
    for part in atlas.sources:
        for name, digest, count in atlas.inputs(part).values():
            counts.setdefault((name, digest), []).append(count)
    inputs = []
    for (name, digest), used in sorted(counts.items()):
        span = "–".join(f"{n:,}" for n in sorted({min(used), max(used)}))  # parts may use different numbers
        inputs.append(t("atlas.input", name=name, count=span, digest=digest[:12]))
    return inputs


def _source(atlas: Atlas, t: Texts) -> dict[str, Any]:
    """Return the source of the numbers: the model, and data, seed and version of each part."""
    return {
        "weights": atlas.weights_hash[:12],
        "seeds": sorted({each.seed for each in atlas.sources.values()}),
        "versions": sorted({each.version for each in atlas.sources.values()}),
        "data": atlas_inputs(atlas, t),
    }


def _data(atlas: Atlas, part: str) -> str:
    """Return the file, or the files, that a part was measured on; empty where it used none."""
    source = atlas.sources.get(part)
    return ", ".join(sorted({name for name, _ in source.data.values()})) if source else ""


def _at(estimate: Estimate, layer: int, head: int) -> dict[str, Any]:
    return {name: _plain(float(getattr(estimate, name)[layer, head])) for name in ("value", "low", "high")}


def _plain(value: float) -> float | None:
    """Return a number for JSON, which has no NaN."""
    return round(value, _DIGITS) if math.isfinite(value) else None


def _significant(q: Mapping[Kind, FloatArray], head: Head) -> bool:
    from transformer_core.atlas.statistics import FALSE_DISCOVERIES

    kind, layer, number = head
    return bool(q[kind][layer, number] <= FALSE_DISCOVERIES)
