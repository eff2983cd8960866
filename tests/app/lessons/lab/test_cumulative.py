"""The bench "One head after the other": its curves are those of ordinary ablations, its translations too."""

from __future__ import annotations

import dataclasses
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.app.lessons.conftest import Visit
from transformer_core.analysis.ablation import ablated, all_heads
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.cli import main as core
from transformer_core.translator import Translator
from viz_app.figures import CurvesFigure
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab
from viz_app.lessons.lab.benches.cumulative.bench import ORDERS, RANDOM_ORDERS
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage import LessonState

TEXT = "The dog is fast."


@pytest.fixture(scope="module")
def context(visit: Visit) -> LessonContext:
    return visit("cumulative", TEXT)


def at(context: LessonContext, **settings: float | str | bool) -> LessonContext:
    return dataclasses.replace(context, state=LessonState("cumulative", settings))


@pytest.mark.parametrize("order", ORDERS)
def test_every_step_is_an_ordinary_ablation(context: LessonContext, translator: Translator, order: str) -> None:
    found = lab.data(at(context, order=order))
    values, heads = found.values["cumulative"], all_heads(translator)
    assert sorted(values["order"]) == list(range(len(heads))) and found.answers["order"] == order
    translation = context.result.translation
    run = teacher_forced_run(translator, TEXT, translation)

    @torch.no_grad()
    def log_p() -> float:
        logits = translator.model(run.source, run.inputs, run.source_mask)[0].log_softmax(dim=-1)
        return float(logits.gather(1, run.outputs[:, None]).sum())

    for count in range(0, len(heads) + 1, 5):
        with ablated(translator, [heads[number] for number in values["order"][:count]]):
            assert found.arrays["log_p"][count] == pytest.approx(log_p(), abs=1e-3)
    for each in values["texts"]:
        with ablated(translator, [heads[number] for number in values["order"][: each["count"]]]):
            assert " ".join(word for word, _ in each["words"]) == translator.translate(TEXT, beam=4).text


def test_random_orders_begin_and_end_alike(context: LessonContext) -> None:
    found = lab.data(context)
    random, log_p = found.arrays["random"], found.arrays["log_p"]
    assert len(random) == RANDOM_ORDERS
    np.testing.assert_allclose(random[:, [0, -1]], np.tile(log_p[[0, -1]], (RANDOM_ORDERS, 1)), atol=1e-4)
    assert not np.allclose(random[0], random[1])
    drawn = lab.figure("cumulative", context)
    assert isinstance(drawn, CurvesFigure) and len(drawn.series) == 1 + RANDOM_ORDERS
    np.testing.assert_allclose(np.array(drawn.series[0].y), log_p, atol=1e-6)


def test_the_head_that_went_last(context: LessonContext, translator: Translator) -> None:
    assert lesson_module("lab").selection("cumulative", context) is None
    order = lab.data(context).values["cumulative"]["order"]
    shown = lesson_module("lab").selection("cumulative", at(context, gone=2.0))
    assert shown is not None
    assert (shown.kind, shown.layer, shown.head) == all_heads(translator)[order[1]]
    assert lab.data(at(context, order="nonsense")).answers["order"] == "effect"


def test_the_recipes_give_the_same_numbers(
    context: LessonContext, random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, found = lab.recipe("cumulative", context), lab.data(context).arrays
    assert made is not None
    shutil.copytree(random_checkpoint, tmp_path / random_checkpoint.name)
    monkeypatch.chdir(tmp_path)
    assert core(shlex.split(made.command)[3:]) == 0
    with np.load("cumulative.npz") as written:
        np.testing.assert_allclose(written["log_p"], found["log_p"], atol=1e-4)
        np.testing.assert_allclose(written["random"], found["random"], atol=1e-4)
    names: dict[str, object] = {}
    exec(made.python, names)
    np.testing.assert_allclose(names["found"].log_p, found["log_p"], atol=1e-4)  # type: ignore[attr-defined]
