"""The explorer of a sentence at a snapshot of a training, and the curves of that training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from transformer_core.attention_maps import Kind
from viz_app.components.explorer.payload import pack
from viz_app.components.explorer.selection import Selection
from viz_app.explorer_view.foreign_maps import NO_ANSWERS
from viz_app.explorer_view.head_measures import likeliest_filters
from viz_app.explorer_view.snapshot import opening_view
from viz_app.figures import CurvesFigure, Series
from viz_app.figures.colours.palette import Theme
from viz_app.figures.text.chart_captions import with_caption
from viz_app.text import Texts

if TYPE_CHECKING:
    from transformer_core.history.snapshots import History  # with torch, which takes seconds to import

_MIN_SHARE = 0.5  # of its positions a role must explain, or it names no head


def snapshot_name(history: History, snapshot: int, t: Texts) -> str:
    """Return "after 481 steps"; step 0 is the start of a training, or of one that continues another."""
    if step := history.steps[snapshot]:
        return t("growth.at", step=f"{step:,}")
    return t("growth.at_continued" if history.continues else "growth.at_start")


def first_selection(history: History) -> Selection:
    """Return the start: all heads beside the one that aligns best after the training, or else the last one."""
    layer, head = history.model["layers"] - 1, history.model["heads"] - 1
    view = opening_view(layer + 1, head + 1)
    if history.alignment is not None:
        rates = history.alignment["aer"][-1]
        places = [(layer, head) for layer, row in enumerate(rates) for head in range(len(row))]
        layer, head = min(places, key=lambda place: rates[place[0]][place[1]])
    return Selection(layer=layer, head=head, view=view)


def snapshot_payload(history: History, sentence: int, snapshot: int, name: str, t: Texts) -> bytes:
    """Return the explorer's payload of a sentence at a snapshot, all counted from 0; `name` is the model's."""
    pair = history.sentences[sentence]
    maps = pair.maps(snapshot)
    if not history.model.get("causal", True):
        maps = replace(maps, decoder=maps.decoder[:0])  # the explorer draws no decoder without a mask
    rates = history.alignment["aer"][snapshot] if history.alignment else None
    words = t.table("explorer") | {"role_examples": t("growth.role_source", count=len(history.sentences))}
    return pack(
        maps,
        steps=None,
        texts=words,
        selection=first_selection(history),
        alignment=None if rates is None else {"cross": rates},
        about={"text": pair.source, "model": name, "own": name, "models": [], "answers": NO_ANSWERS},
        source_language="",
        target_language="",
    )


def snapshot_roles(history: History, snapshot: int, name: str, t: Texts) -> dict[str, Any]:
    """Return the finding of the explorer: the role that each head fits most clearly beyond chance at a snapshot."""
    layers, heads = history.model["layers"], history.model["heads"]
    heads_by_kind: dict[Kind, list[list[Mapping[str, Any]]]] = {
        kind: [[_role(roles, snapshot, layer, head) for head in range(heads)] for layer in range(layers)]
        for kind, roles in history.roles.items()
        if roles
    }
    filters = likeliest_filters(heads_by_kind, t)
    return {"roles": {"model": name, "atlas": False, "problem": "", "heads": heads_by_kind, "measures": [], **filters}}


def _role(roles: Mapping[str, Any], snapshot: int, layer: int, head: int) -> Mapping[str, Any]:
    def share(name: str) -> float:
        value: float = roles[name]["shares"][snapshot][layer][head]
        return value

    role = max(roles, key=lambda name: share(name) - roles[name]["chance"])
    standing = "named" if share(role) >= _MIN_SHARE else "leans"
    numbers = {"share": share(role), "chance": roles[role]["chance"], "places": roles[role]["places"]}
    return {"role": role, "standing": standing, **numbers}


def training_curves(history: History, snapshot: int, t: Texts, theme: Theme) -> list[CurvesFigure]:
    """Return the loss, and BLEU and alignment error where they were measured, over the steps after the first.

    A line stands at the snapshot, with the readings there.
    """
    validation, alignment, course = history.validation, history.alignment, history.course
    losses = [_series(course["step"], course["mean_nll"], t("growth.loss_train"))]
    scores = []
    if validation is not None:
        losses.append(_series(history.steps, validation["nll"], validation["name"]))
        scores.append(_series(history.steps, validation["bleu"], t("growth.bleu")))
    if alignment is not None:
        least = [100 * min(map(min, table)) for table in alignment["aer"]]
        scores.append(_series(history.steps, least, t("growth.aer")))
    step = history.steps[snapshot] or None
    return [
        with_caption(
            CurvesFigure(
                series=series,
                x_title=t("growth.updates"),
                y_title=title,
                x_log=True,
                cut=step,
                signed=False,
                title=t("growth.curves", state=snapshot_name(history, snapshot, t)),
                language=t.language,
                theme=theme,
            )
        )
        for series, title in ((losses, t("growth.loss")), (scores, t("growth.scores")))
        if series
    ]


def _series(steps: Any, values: Any, label: str) -> Series:
    pairs = [(step, value) for step, value in zip(steps, values, strict=True) if step > 0]
    return Series(x=[step for step, _ in pairs], y=[value for _, value in pairs], label=label)
