"""Measures and roles of an atlas as orders and filters of the explorer's tiles, in plain values for the browser.

All lists by kind are flat, layer after layer; a missing number is None. A measure needs no label here: its name, note
and unit go along.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer_core.atlas.controls import survivors
from transformer_core.atlas.measures import HeadNumbers, Measure, measures
from transformer_core.atlas.statistics import FALSE_DISCOVERIES
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.head import Head
from viz_app.text import Texts
from viz_app.text.role_words import role_words

if TYPE_CHECKING:
    from transformer_core.atlas.naming import Role
    from transformer_core.atlas.record import Atlas
    from viz_app.serving.measurements.head_atlas import HeadAtlas

NO_ROLE, SIGNIFICANT = "none", "significant"  # the filters besides roles
_DIGITS = 5
_MAX_DIGITS = 3  # after the point on the screen
_ASCENDING = ("bleu", "chrf", "entropy", "distance", "alignment-output", "alignment-input", "nearest")


def order_name(measure: str) -> str:
    """Return the explorer's name for the order by a measure of the atlas, or by `role`."""
    return f"atlas-{measure}"


def head_measures(head_atlas: HeadAtlas, t: Texts) -> list[dict[str, Any]]:
    """Return the measures that order heads, and the order by role; none without an atlas."""
    if head_atlas.atlas is None:
        return []
    return [*(_measure(each, t) for each in measures(head_atlas.atlas)), _by_role(head_atlas, t)]


def _measure(measure: Measure, t: Texts) -> dict[str, Any]:
    key = measure.name.replace("-", "_")
    factor = 100 if measure.unit in ("share", "points") else 1
    largest = max((abs(factor * value) for *_, value in measure.rows()), default=1.0)
    return {
        "name": order_name(measure.name),
        "label": t(f"atlas.measure_{key}"),
        "note": t(f"atlas.about_{key}"),
        "unit": t(f"atlas.unit_{measure.unit}"),
        "digits": min(_MAX_DIGITS, max(0, 1 - math.floor(math.log10(largest or 1.0)))),
        "descending": measure.name not in _ASCENDING,
        "kinds": {kind: _columns(numbers, factor) for kind, numbers in measure.kinds.items()},
    }


def _columns(numbers: HeadNumbers, factor: int) -> dict[str, list[float | None]]:
    return {name: _flat(factor * getattr(numbers, name)) for name in ("value", "low", "high", "baseline")}


def _flat(values: Any) -> list[float | None]:
    rounded = np.round(np.asarray(values, dtype=np.float64).ravel(), _DIGITS) + 0.0
    return [value if math.isfinite(value) else None for value in rounded.tolist()]


def _by_role(head_atlas: HeadAtlas, t: Texts) -> dict[str, Any]:
    """Return the order by role: how much of its places the first role of each head explains, role by role."""
    names = list(_role_names(head_atlas, t))
    columns: dict[Kind, dict[str, list[float | None]]] = {}
    for kind in KINDS:
        first = [head_atlas.roles[head][0] if head_atlas.roles[head] else None for head in _heads(head_atlas, kind)]
        value = [None if role is None else round(100 * role.value, _DIGITS) for role in first]
        rank = [None if role is None else names.index(role.label) + 1 - role.value for role in first]
        columns[kind] = {"value": value, "rank": rank}
    return {
        "name": order_name("role"),
        "label": t("atlas.measure_role"),
        "note": t("atlas.about_role"),
        "unit": "%",
        "digits": 0,
        "descending": False,
        "kinds": columns,
    }


def role_filters(head_atlas: HeadAtlas, t: Texts) -> dict[str, Any]:
    """Return `filters`, by role and by whether the effect of a head is significant, and the `labels` of each head."""
    atlas = head_atlas.atlas
    assert atlas is not None
    names, significant = _role_names(head_atlas, t), _significant(atlas)
    filters = [{"label": NO_ROLE, "words": t("atlas.no_role"), "group": ""}]
    if significant is not None:
        controlled = atlas.effects is not None and atlas.effects.differences
        words = t("atlas.survives" if controlled else "atlas.significant")
        filters.append({"label": SIGNIFICANT, "words": words, "group": ""})
    for label, words in names.items():
        group = t("atlas.relations" if label.startswith("link ") else "atlas.roles")
        filters.append({"label": label, "words": words, "group": group})
    labels = {
        kind: [
            [role.label for role in head_atlas.roles[head]]
            + ([] if head_atlas.roles[head] else [NO_ROLE])
            + ([SIGNIFICANT] if significant is not None and significant[kind][number] else [])
            for number, head in enumerate(_heads(head_atlas, kind))
        ]
        for kind in KINDS
    }
    return {"filters": filters, "labels": labels}


def _role_names(head_atlas: HeadAtlas, t: Texts) -> dict[str, str]:
    """Return every role that a head has in words, by its label: rules and alignment, then relations."""
    roles: dict[str, tuple[Kind, Role]] = {}
    for head in (head for kind in KINDS for head in _heads(head_atlas, kind)):
        for role in head_atlas.roles[head]:
            roles.setdefault(role.label, (head[0], role))
    return {label: role_words(t, *roles[label]) for label in sorted(roles, key=lambda label: label.startswith("link "))}


def likeliest_filters(heads: Mapping[Kind, Sequence[Sequence[Mapping[str, Any]]]], t: Texts) -> dict[str, Any]:
    """Return the same for heads whose roles were measured on a few sentences, without an atlas.

    Args:
        heads: By kind, the role of each head of each layer, with its `standing`; see `findings.roles`.
        t: Labels.
    """
    labels = {
        kind: [[head["role"] if head["standing"] == "named" else NO_ROLE] for layer in table for head in layer]
        for kind, table in heads.items()
    }
    roles = sorted({label for table in labels.values() for (label,) in table} - {NO_ROLE})
    names = {NO_ROLE: t("atlas.no_role")} | {role: t(f"explorer.role_is_{role}") for role in roles}
    return {
        "filters": [{"label": label, "words": words, "group": ""} for label, words in names.items()],
        "labels": labels,
    }


def _heads(head_atlas: HeadAtlas, kind: Kind) -> list[Head]:
    atlas = head_atlas.atlas
    assert atlas is not None
    return [Head(kind, layer, head) for layer in range(atlas.layers) for head in range(atlas.heads)]


def _significant(atlas: Atlas) -> dict[Kind, list[bool]] | None:
    """Tell whether each head survives the control; in an older atlas, whether its effect differs from 0."""
    if atlas.effects is None or (q := atlas.effects.q.get("mean")) is None:
        return None
    passed = survivors(atlas.effects, "mean") or {kind: values <= FALSE_DISCOVERIES for kind, values in q.items()}
    return {kind: values.ravel().tolist() for kind, values in passed.items()}
