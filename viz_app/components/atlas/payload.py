"""An atlas for the browser, as one byte buffer.

A header and the weights of one sentence, see `viz_app.components.buffer`. A weight w is the byte round(255 w), so
within 1/510 of the true one. All tables of numbers are flat, layer after layer; a missing number is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

import numpy as np
from msgspec import Meta

from transformer_core.analysis.ablation import Head
from transformer_core.atlas.controls import survivors
from transformer_core.atlas.measures import HeadNumbers, measures
from transformer_core.atlas.naming import Role
from transformer_core.atlas.record import Atlas
from transformer_core.atlas.statistics import FALSE_DISCOVERIES
from transformer_core.attention_maps import KINDS, AttentionMaps, Kind
from viz_app.components.buffer import PackedMaps, Part, PlainAxis, join_buffer, pack_maps, plain_axis
from viz_app.components.palette import palettes
from viz_app.text import Texts
from viz_app.text.role_words import head_words, role_words

MAX_TOKENS = 48  # of each axis of a map; more cannot be told apart in a preview
_DIGITS = 5


class AtlasColumns(TypedDict):
    """Numbers of a measure for the heads of one kind; `detail` in words."""

    value: list[float | None]
    low: list[float | None]
    high: list[float | None]
    baseline: list[float | None]
    q: list[float | None]
    detail: list[str]


class AtlasMeasure(TypedDict):
    """One measure of all heads, with its labels."""

    name: str
    label: str
    about: str
    unit: str
    diverging: bool
    kinds: dict[Kind, AtlasColumns]


class AtlasRole(TypedDict):
    """Role of a head: its label, the label in words, whether it links words, and its share."""

    label: str
    words: str
    link: bool
    value: float
    baseline: float


class AtlasSentence(TypedDict):
    """Maps of the reader's sentence; `cut` is the largest length of an axis if one was cut, else 0."""

    maps: dict[Kind, PackedMaps]
    cut: int
    axes: dict[str, PlainAxis]


class AtlasHeader(TypedDict):
    """Header of the buffer; `significant`, `roles` and `names`, in words, by kind, layer after layer."""

    language: str
    texts: Annotated[dict[str, str], Meta(title="AtlasTexts")]
    colours: Annotated[dict[str, Any], Meta(title="Palettes")]
    start: Annotated[dict[str, Any], Meta(title="AtlasState")]
    layers: int
    heads: int
    measures: list[AtlasMeasure]
    roles: dict[Kind, list[list[AtlasRole]]]
    names: dict[Kind, list[str]]
    significant: dict[Kind, list[bool]] | None
    sentence: AtlasSentence | None
    has_sentence: bool


def pack(
    atlas: Atlas,
    roles: Mapping[Head, Sequence[Role]],
    t: Texts,
    *,
    start: Mapping[str, Any],
    maps: AttentionMaps | None = None,
    has_sentence: bool = True,
) -> bytes:
    """Pack an atlas.

    Args:
        atlas: With L layers of H heads.
        roles: Of every head.
        t: Labels in the reader's language.
        start: What a fresh component shows: `AtlasState.to_dict`.
        maps: Of the reader's sentence; None until the reader asks for them.
        has_sentence: Whether there can be maps.
    """
    found = measures(atlas)
    parts: list[Part] = []
    controlled = atlas.effects and atlas.effects.differences
    header: AtlasHeader = {
        "language": t.language,
        "texts": t.table("atlas") | ({"significant": t("atlas.survives")} if controlled else {}),
        "colours": palettes(),
        "start": dict(start),
        "layers": atlas.layers,
        "heads": atlas.heads,
        "measures": [
            {
                "name": measure.name,
                "label": t(f"atlas.measure_{_key(measure.name)}"),
                "about": t(f"atlas.about_{_key(measure.name)}"),
                "unit": measure.unit,
                "diverging": measure.diverging,
                "kinds": {kind: _plain(numbers, t, kind, measure.name) for kind, numbers in measure.kinds.items()},
            }
            for measure in found
        ],
        "roles": {kind: [_roles(roles.get(head, ()), t, kind) for head in _heads(atlas, kind)] for kind in KINDS},
        "names": {kind: [head_words(t, kind, roles.get(head, ())) for head in _heads(atlas, kind)] for kind in KINDS},
        "significant": _significant(atlas),
        "sentence": None if maps is None else _sentence(maps, parts),
        "has_sentence": has_sentence,
    }
    return join_buffer(header, *parts)


def _heads(atlas: Atlas, kind: Kind) -> list[Head]:
    return [(kind, layer, head) for layer in range(atlas.layers) for head in range(atlas.heads)]


def _plain(numbers: HeadNumbers, t: Texts, kind: Kind, measure: str) -> AtlasColumns:
    """Return the arrays of a measure as flat lists; details in words."""
    details = [detail for row in numbers.detail for detail in row]
    if details and measure != "nearest":
        details = [label_words(t, kind, detail) for detail in details]
    return {
        "value": _flat(numbers.value),
        "low": _flat(numbers.low),
        "high": _flat(numbers.high),
        "baseline": _flat(numbers.baseline),
        "q": _flat(numbers.q),
        "detail": details,
    }


def _flat(values: Any) -> list[float | None]:
    rounded = np.round(np.asarray(values, dtype=np.float64).ravel(), _DIGITS) + 0.0
    return [
        value if finite else None for value, finite in zip(rounded.tolist(), np.isfinite(rounded).tolist(), strict=True)
    ]


def _roles(roles: Sequence[Role], t: Texts, kind: Kind) -> list[AtlasRole]:
    return [
        {
            "label": role.label,
            "words": label_words(t, kind, role.label),
            "link": role.name == "link",
            "value": round(role.shown["value"], _DIGITS),
            "baseline": round(role.shown["baseline"], _DIGITS),
        }
        for role in roles
    ]


def label_words(t: Texts, kind: Kind, label: str) -> str:
    """Return a role's label in words; the label itself for a rule or relation that this version does not know."""
    name, _, detail = label.partition(" ")
    nan = float("nan")
    try:
        return role_words(
            t, kind, Role(name=name, detail=detail, value=nan, low=nan, high=nan, baseline=nan, places=0, q=nan)
        )
    except (KeyError, ValueError):
        return label


def _significant(atlas: Atlas) -> dict[Kind, list[bool]] | None:
    """Tell whether each head survives the control; in an older atlas, whether its effect differs from 0."""
    if atlas.effects is None or (q := atlas.effects.q.get("mean")) is None:
        return None
    found = survivors(atlas.effects, "mean") or {kind: values <= FALSE_DISCOVERIES for kind, values in q.items()}
    return {kind: values.ravel().tolist() for kind, values in found.items()}


def _sentence(maps: AttentionMaps, parts: list[Part]) -> AtlasSentence:
    """Return the axes and the places of the weights, which are added to the parts."""
    shown = {kind: maps.weights(kind)[:, :, :MAX_TOKENS, :MAX_TOKENS] for kind in KINDS}  # (L, H, Q, K)
    data = {kind: np.rint(np.clip(weights, 0.0, 1.0) * 255).astype(np.uint8) for kind, weights in shown.items()}
    cut = max(len(maps.source), len(maps.inputs)) > MAX_TOKENS
    axes = {"source": maps.source, "inputs": maps.inputs, "outputs": maps.outputs}
    return {
        "maps": pack_maps(data, parts),
        "cut": MAX_TOKENS if cut else 0,
        "axes": {n: plain_axis(axis) for n, axis in axes.items()},
    }


def _key(name: str) -> str:
    return name.replace("-", "_")
