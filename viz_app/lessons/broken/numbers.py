"""Lesson "What is wrong with this model?": small models with one part left out, and the evidence against each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from transformer_core.storage.files import CheckpointError
from viz_app.figures import CurvesFigure, HeatmapFigure, HeatmapPanel, Series
from viz_app.figures.model.figure import Figure
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
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.small_models import SmallName, small_model, small_model_scores, training_curves
from viz_app.lessons.small_target import small_source, writes_other_language

EXHIBITS = ("loss", "attention", "order", "vectors", "evenness")
SHOWS_SMALL_TRANSLATIONS = True
EVIDENCE = frozenset(SUSPECTS)  # scenes whose picture does not tell the answer to their question


def data(context: LessonContext) -> StageData:
    """The course of both trainings, and what both models make of the sentence; of the open scene only."""
    scene = _scene(context)
    suspect = SUSPECTS.get(scene, COPYIST)
    try:
        known = _courses(suspect)
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
    }
    return StageData(values=shared | dict(evidence.values), arrays=known | dict(evidence.arrays))


def figure(scene: str, context: LessonContext) -> Figure | None:
    """The exhibit that is shown, for print."""
    exhibit = context.state.choice("exhibit", EXHIBITS[0], EXHIBITS) if scene in SUSPECTS else "loss"
    try:
        suspect = SUSPECTS.get(scene, COPYIST)
        drawn = _FIGURES[exhibit](suspect, context, _names(scene, context))
        models = {name: small_model(name).checkpoint_hash for name in (HEALTHY, suspect)}
    except CheckpointError:
        return None
    return dataclasses.replace(drawn, provenance={"models": models})


def _scene(context: LessonContext) -> str:
    scene = context.state.scene or next(iter(SUSPECTS))
    return scene if scene in SUSPECTS else "predict"


def _names(scene: str, context: LessonContext) -> tuple[str, str]:
    """What the healthy model and the suspect are called before anybody knows better."""
    letter = scene.upper() if scene in SUSPECTS else "E"
    return context.t("lesson_broken.healthy"), context.t("lesson_broken.suspect", letter=letter)


def _courses(suspect: SmallName) -> dict[str, Any]:
    """(2, records) step and loss: of the healthy model first."""
    found = training_curves()
    pair = found[HEALTHY], found[suspect]
    return {
        "step": np.stack([course.step for course in pair]).astype(np.int32),
        "loss": np.stack([course.mean_nll for course in pair]).astype(np.float32),
    }


def _evidence(suspect: SmallName, context: LessonContext) -> StageData:
    pair = _pair(suspect, context)
    return StageData(
        values={
            "tokens": pair[0].tokens,
            "words": pair[0].words,
            "wrote": [each.wrote for each in pair],
            "turned": [each.turned for each in pair],
        },
        arrays={
            "attention": np.stack([np.rint(255 * each.attention).astype(np.uint8) for each in pair]),
            "evenness": np.stack([each.evenness for each in pair]),
            "alike": np.stack([each.alike for each in pair]),
            "moved": np.stack([each.moved for each in pair]),
        },
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
    """Both models share a vocabulary, so that tokens and words are the same."""
    return gather_evidence(HEALTHY, context), gather_evidence(suspect, context)


def _loss(suspect: SmallName, context: LessonContext, names: tuple[str, str]) -> Figure:
    found = training_curves()
    series = tuple(
        Series(x=found[name].step, y=found[name].mean_nll, label=label)
        for name, label in zip((HEALTHY, suspect), names, strict=True)
    )
    return _curves(context, series, "update", "loss")


def _order(suspect: SmallName, context: LessonContext, names: tuple[str, str]) -> Figure:
    pair = _pair(suspect, context)
    series = _numbered([each.moved for each in pair], names, first=1)
    return _curves(context, series, "word", "moved_short", caption=" ".join(pair[0].words[:-1]))


def _vectors(suspect: SmallName, context: LessonContext, names: tuple[str, str]) -> Figure:
    series = _numbered([each.alike for each in _pair(suspect, context)], names, first=0)
    return _curves(context, series, "after_layer", "alike_short")


def _evenness(suspect: SmallName, context: LessonContext, names: tuple[str, str]) -> Figure:
    series = _numbered([each.evenness for each in _pair(suspect, context)], names, first=1)
    return _curves(context, series, "head_number", "evenness_short")


def _numbered(values: Sequence[FloatArray], names: tuple[str, str], *, first: int) -> tuple[Series, ...]:
    """A marked curve for each model, over whole numbers from `first` on."""
    return tuple(
        Series(x=np.arange(first, first + len(each)), y=each, label=label, marked=True)
        for each, label in zip(values, names, strict=True)
    )


def _curves(context: LessonContext, series: tuple[Series, ...], x: str, y: str, caption: str = "") -> CurvesFigure:
    t = context.t
    return CurvesFigure(
        series=series,
        x_title=t(f"lesson_broken.{x}"),
        y_title=t(f"lesson_broken.{y}"),
        caption=caption,
        language=t.language,
    )


def _attention(suspect: SmallName, context: LessonContext, names: tuple[str, str]) -> Figure:
    t, pair = context.t, _pair(suspect, context)
    number = round(context.state.number("head", 0, 0, len(pair[0].attention) - 1))
    layer, head = divmod(number, small_model(HEALTHY).config.num_heads)
    return HeatmapFigure(
        panels=tuple(
            HeatmapPanel(
                weights=each.attention[number],
                query_labels=each.tokens,
                key_labels=each.tokens,
                layer=layer,
                head=head,
                title=label,
            )
            for each, label in zip(pair, names, strict=True)
        ),
        kind="encoder",
        language=t.language,
        title=t("figures.title_head", layer=layer + 1, head=head + 1, kind=t("figures.kind_encoder")),
        query_title=t("figures.tokens_query_encoder"),
        key_title=t("figures.tokens_key_encoder"),
        scale_title=t("figures.scale"),
    )


_FIGURES: Mapping[str, Callable[[SmallName, LessonContext, tuple[str, str]], Figure]] = {
    "loss": _loss,
    "attention": _attention,
    "order": _order,
    "vectors": _vectors,
    "evenness": _evenness,
}
