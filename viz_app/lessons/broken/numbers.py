"""Lesson "What is wrong with this model?": small models with one part left out, and the evidence against each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from transformer_core.storage.files import CheckpointError
from viz_app.figures.model.figure import display_label
from viz_app.lessons.broken.suspects import (
    COPYIST,
    HEALTHY,
    SUSPECTS,
    FloatArray,
    ModelEvidence,
    gather_evidence,
    run_copy_test,
    truncate_sentence,
)
from viz_app.lessons.chart_data import curve, curves_chart
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.small_models import SmallName, small_model, small_model_scores, training_curves
from viz_app.lessons.small_target import small_source, writes_other_language
from viz_app.text import Texts

EXHIBITS = ("loss", "attention", "order", "vectors", "evenness")
SHOWS_SMALL_TRANSLATIONS = True


def data(context: LessonContext) -> StageData:
    """Return the charts and outputs of both models, of the open scene only."""
    scene = _scene(context)
    suspect = SUSPECTS.get(scene, COPYIST)
    try:
        charts = _charts(suspect, context, _names(scene, context))
        evidence = _copying(context) if scene == "predict" else _evidence(suspect, context)
        part = truncate_sentence(small_source(context), small_model(HEALTHY))
    except CheckpointError:
        return StageData(values={"missing": True})
    cut = part != " ".join(small_source(context).split())
    shared = {
        "missing": False,
        "scene": scene,  # for which the evidence is
        "read": part,
        "cut": cut,
        "chosen": "" if cut or writes_other_language(context) else context.result.translation.text,
        "bleu": [small_model_scores()[name].bleu for name in (HEALTHY, suspect)],
        "charts": charts,
    }
    return StageData(values=shared | dict(evidence.values), arrays=evidence.arrays)


def _scene(context: LessonContext) -> str:
    scene = context.state.scene or next(iter(SUSPECTS))
    return scene if scene in SUSPECTS else "predict"


def _names(scene: str, context: LessonContext) -> tuple[str, str]:
    """Return the labels of the healthy model and of the suspect, which do not give the answer away."""
    letter = scene.upper() if scene in SUSPECTS else "E"
    return context.t("lesson_broken.healthy"), context.t("lesson_broken.suspect", letter=letter)


def _charts(suspect: SmallName, context: LessonContext, names: tuple[str, str]) -> dict[str, Any]:
    """Return the exhibits that are charts, each with the line below it; of the copyist the loss alone."""
    t = context.t
    exhibits = ("loss",) if suspect == COPYIST else tuple(name for name in EXHIBITS if name != "attention")
    charts = {name: _CHARTS[name](suspect, context, names) | {"key": False} for name in exhibits}
    last = [series["y"][-1] for series in charts["loss"]["series"]]
    charts["loss"]["said"] = _said(t, "loss", last, update=f"{charts['loss']['series'][0]['x'][-1]:,.0f}")
    if suspect == COPYIST:
        return charts
    evidence = gather_evidence(suspect, context)
    layers = len(evidence.alike) - 1
    heads = len(evidence.evenness) // layers
    titles = {"order": "moved", "vectors": "alike", "evenness": "evenness"}
    for name, title in titles.items():
        charts[name]["y"] |= {"title": t(f"lesson_broken.{title}"), "ends": [0, 1.05]}
    lowest = min(value for series in charts["vectors"]["series"] for value in series["y"])
    charts["vectors"]["y"]["ends"] = [min(0, lowest) - 0.05, 1.05]
    charts["order"]["x"]["ticks"] = [(at + 1, display_label(word)) for at, word in enumerate(evidence.words)]
    charts["vectors"]["x"]["ticks"] = [(layer, str(layer)) for layer in range(layers + 1)]
    numbered = (divmod(head, heads) for head in range(layers * heads))
    charts["evenness"]["x"]["ticks"] = [(at, f"{layer + 1}.{head + 1}") for at, (layer, head) in enumerate(numbered, 1)]
    charts["evenness"]["paired"] = True
    for series in charts["evenness"]["series"]:
        series["look"] = {"line": False}
    for series in charts["vectors"]["series"]:
        series["names"] = [_signed(value) for value in series["y"]]
    means = {name: [np.mean(series["y"]) for series in charts[name]["series"]] for name in ("order", "evenness")}
    last = [series["y"][-1] for series in charts["vectors"]["series"]]
    charts["order"]["said"] = _said(t, "order", means["order"])
    charts["vectors"]["said"] = _said(t, "vectors", last, layer=layers)
    charts["evenness"]["said"] = _said(t, "evenness", means["evenness"], heads=layers * heads)
    return charts


def _said(t: Texts, exhibit: str, pair: Sequence[float], **values: object) -> str:
    """Summarise an exhibit in one sentence, with numbers of both models."""
    one, other = map(_signed, pair)
    return t(f"lesson_broken.say_{exhibit}", one=one, other=other, **values)


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "\u2212")


def _evidence(suspect: SmallName, context: LessonContext) -> StageData:
    pair = _pair(suspect, context)
    return StageData(
        values={
            "tokens": pair[0].tokens,
            "words": pair[0].words,
            "wrote": [each.wrote for each in pair],
            "turned": [each.turned for each in pair],
        },
        arrays={"attention": np.stack([np.rint(255 * each.attention).astype(np.uint8) for each in pair])},
    )


def _copying(context: LessonContext) -> StageData:
    pair = [run_copy_test(name, context) for name in (HEALTHY, COPYIST)]
    return StageData(
        values={
            "inputs": pair[0].inputs,
            "ahead": [each.ahead for each in pair],
            "wrote": [each.wrote for each in pair],
            "greedy": [each.greedy for each in pair],
        },
        arrays={"copying": np.stack([np.rint(255 * each.attention).astype(np.uint8) for each in pair])},
    )


def _pair(suspect: SmallName, context: LessonContext) -> tuple[ModelEvidence, ModelEvidence]:
    """Gather the evidence of both models; they share a vocabulary, so tokens and words agree."""
    return gather_evidence(HEALTHY, context), gather_evidence(suspect, context)


def _loss(suspect: SmallName, context: LessonContext, names: tuple[str, str]) -> dict[str, Any]:
    curves = training_curves()
    both = [(curves[name], label) for name, label in zip((HEALTHY, suspect), names, strict=True)]
    return _chart(context.t, [curve(each.step, each.mean_nll, label) for each, label in both], "update", "loss")


def _order(suspect: SmallName, context: LessonContext, names: tuple[str, str]) -> dict[str, Any]:
    return _numbered(context.t, [each.moved for each in _pair(suspect, context)], names, 1, "word", "moved_short")


def _vectors(suspect: SmallName, context: LessonContext, names: tuple[str, str]) -> dict[str, Any]:
    values = [each.alike for each in _pair(suspect, context)]
    return _numbered(context.t, values, names, 0, "after_layer", "alike_short")


def _evenness(suspect: SmallName, context: LessonContext, names: tuple[str, str]) -> dict[str, Any]:
    values = [each.evenness for each in _pair(suspect, context)]
    return _numbered(context.t, values, names, 1, "head_number", "evenness_short")


def _numbered(
    t: Texts, values: Sequence[FloatArray], names: tuple[str, str], first: int, x: str, y: str
) -> dict[str, Any]:
    """Return a chart with a marked curve for each model, over whole numbers from `first` on."""
    both = zip(values, names, strict=True)
    curves = [curve(range(first, first + len(each)), each, label, marked=True) for each, label in both]
    return _chart(t, curves, x, y)


def _chart(t: Texts, curves: Sequence[Mapping[str, Any]], x: str, y: str) -> dict[str, Any]:
    return curves_chart(curves, t(f"lesson_broken.{x}"), t(f"lesson_broken.{y}"))


_CHARTS: Mapping[str, Callable[[SmallName, LessonContext, tuple[str, str]], dict[str, Any]]] = {
    "loss": _loss,
    "order": _order,
    "vectors": _vectors,
    "evenness": _evenness,
}
