"""Figures of a head atlas: all heads coloured by a measure, and scores against the number of heads that are left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import asdict

from transformer_core.atlas.measures import Measure, measure_named
from transformer_core.atlas.record import Atlas, Curve, FloatArray
from viz_app.figures.build.request import Request
from viz_app.figures.model.charts import CurvesFigure, MatrixFigure, Series
from viz_app.figures.options import SCORES
from viz_app.text import DEFAULT_LANGUAGE, Texts, texts

ORDERS = ("effect", "gradient", "greedy", "reverse", "random")


def head_grid(r: Request) -> MatrixFigure:
    """Return every head as a cell: a row for each layer of each kind of attention, coloured by a measure.

    Raises:
        ValueError: There is no atlas, it does not have the measure, or the measure has no number for some head.
    """
    t = texts(r.language)
    measure = r.means or measure_named(r.require_atlas, r.measure)
    for kind, numbers in measure.kinds.items():
        if not np.isfinite(numbers.value).all():
            raise ValueError(f"the measure {measure.name} has no number for some heads of {kind}")
    name, unit = measure_name(t, measure.name), t(f"atlas.unit_{measure.unit}")
    percent = 100 if measure.unit in ("share", "points") else 1
    values = percent * np.concatenate([numbers.value for numbers in measure.kinds.values()])
    kinds = ", ".join(t(f"atlas.kind_{kind}") for kind in measure.kinds)
    caption = t("atlas.grid_caption", measure=name, kinds=kinds, heads=values.size, ends=_ends(measure, t))
    return MatrixFigure(
        values=values,
        row_labels=[
            t("atlas.row", kind=t(f"atlas.short_{kind}"), layer=layer + 1)
            for kind in measure.kinds
            for layer in range(len(numbers.value))
        ],
        row_breaks=[len(numbers.value) * number for number in range(1, len(measure.kinds))],
        column_start=1,
        base=0.0,
        row_title=t("atlas.rows"),
        column_title=t("atlas.columns"),
        scale_title=f"{name} ({unit})",
        diverging=measure.diverging,
        title=t("atlas.grid_title", measure=name),
        caption=caption,
        alt=caption,
        language=r.language,
        theme=r.theme,
        name=f"headlight_grid_{_key(measure.name)}",
        provenance=_provenance(r, None if r.means else r.atlas, {"name": "grid", "measure": measure.name}),
    )


def pruning_curves(r: Request) -> CurvesFigure:
    """Return a score of the translations against the number of heads that are left, a curve for each order.

    A band is the 95 % interval over sentences. The random orders are one curve, their mean, with a band from the lowest
    to the highest.

    Raises:
        ValueError: There is no atlas, it has no such curves, or the number of heads lies beside them.
    """
    atlas, t = r.require_atlas, texts(r.language)
    if r.score not in SCORES:
        raise ValueError(f"score is {r.score!r}, but must be one of {', '.join(SCORES)}")
    groups = pruned_groups(atlas)
    if r.group not in groups:
        raise ValueError(f"group is {r.group!r}, but must be one of {', '.join(groups) or 'none: nothing was pruned'}")
    assert atlas.prune is not None
    score, group = t(f"atlas.score_{r.score}"), t(f"atlas.group_{r.group}")
    series = [
        _series(order, _curves(atlas, r.group, order), r.score, t) for order in ORDERS if _curves(atlas, r.group, order)
    ]
    caption = t("atlas.pruning_caption", score=score, group=group, sentences=f"{atlas.prune.sentences:,}")
    if r.left is not None and r.left not in {count for curve in _of_group(atlas, r.group) for count in curve.kept}:
        caption = f"{caption} {t('atlas.pruning_between', left=r.left)}"
    return CurvesFigure(
        series=series,
        x_title=t("atlas.left"),
        y_title=score,
        cut=r.left,
        signed=False,
        title=t("atlas.pruning_title", score=score, group=group),
        caption=caption,
        language=r.language,
        theme=r.theme,
        name=f"headlight_pruning_{r.group}_{r.score}" + (f"_left{r.left}" if r.left is not None else ""),
        provenance=_provenance(r, atlas, {"name": "pruning", "group": r.group, "score": r.score}),
    )


def pruned_groups(atlas: Atlas) -> tuple[str, ...]:
    """Return the groups of heads that were pruned: `all`, and kinds of attention."""
    return tuple(dict.fromkeys(curve.heads for curve in atlas.prune.curves)) if atlas.prune else ()


def most_left(atlas: Atlas, group: str) -> int:
    """Heads of a group before any is removed."""
    return max((count for curve in _of_group(atlas, group) for count in curve.kept), default=0)


def _of_group(atlas: Atlas, group: str) -> list[Curve]:
    return [curve for curve in (atlas.prune.curves if atlas.prune else ()) if curve.heads == group]


def _curves(atlas: Atlas, group: str, order: str) -> list[Curve]:
    return [curve for curve in _of_group(atlas, group) if curve.order == order]


def _series(order: str, curves: Sequence[Curve], score: str, t: Texts) -> Series:
    rising = np.argsort(curves[0].kept)  # a cut reads curves from the left to the right
    scores: FloatArray = np.array([[getattr(each, score) for each in curve.scores] for curve in curves])[:, rising]
    half = np.array([getattr(each, f"{score}_half") for each in curves[0].scores])[rising]
    drawn = len(curves) > 1
    label = t("atlas.order_random_mean", count=len(curves)) if drawn else t(f"atlas.order_{order}")
    return Series(
        x=np.array(curves[0].kept)[rising],
        y=scores.mean(axis=0),
        label=label,
        dashed=order == "random",
        marked=not drawn,
        low=scores.min(axis=0) if drawn else scores[0] - half,
        high=scores.max(axis=0) if drawn else scores[0] + half,
    )


def _ends(measure: Measure, t: Texts) -> str:
    """Return the heads with the largest and the smallest value."""
    rows = sorted(measure.rows(), key=lambda row: row[1])
    return "; ".join(
        t(
            f"atlas.grid_{end}",
            head=str(head),
            value=number(value, measure.unit, t),
        )
        for end, (head, value) in (("most", rows[-1]), ("least", rows[0]))
    )


def measure_name(t: Texts, name: str) -> str:
    """Return the name of a measure."""
    return t(f"atlas.measure_{_key(name)}")


def number(value: float, unit: str, t: Texts) -> str:
    """Return a value of a measure as it is written."""
    if unit == "share":
        return t("figures.percent", percent=f"{100 * value:.0f}")
    digits = {"points": 0, "nats": 3, "nats_translation": 3, "tokens": 1, "score": 1, "distance": 2}[unit]
    factor, sign = (100, "+") if unit == "points" else (1, "")
    return f"{factor * value:{sign}.{digits}f}".replace("-", "\u2212")


def _key(name: str) -> str:
    return name.replace("-", "_")


def _provenance(r: Request, atlas: Atlas | None, view: dict[str, Any]) -> dict[str, Any]:
    """Return the model, the origin of its atlas or of the table, and the view; no sentence plays a part."""
    model = {name: r.provenance[name] for name in ("checkpoint", "checkpoint_sha256", "table") if name in r.provenance}
    language = {"language": r.language} if r.language != DEFAULT_LANGUAGE else {}
    return {**model, "view": {**view, **language}, **({"atlas": atlas_record(atlas)} if atlas else {})}


def atlas_record(atlas: Atlas) -> dict[str, Any]:
    """Return the origin of the numbers: the model, and data, seed, draws and version of each part."""
    parts = {}
    for name, source in atlas.sources.items():
        files = atlas.inputs(name).items()
        data = {use: dict(zip(("name", "sha256", "sentences"), file, strict=True)) for use, file in files}
        parts[name] = {**asdict(source), "data": data}
    return {"weights_hash": atlas.weights_hash, "parts": parts}
