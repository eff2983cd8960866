"""The bench "Made of": its parts, its cuts against a model without these edges, and the token that is chosen."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from torch import Tensor

from tests.app.lessons.lab.conftest import at
from transformer_core.analysis.flow import POINTS, flows
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.head import Head, head_named
from transformer_core.hooks.hook_sites import Site
from transformer_core.hooks.points import edit
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab

WORD = 2


@pytest.mark.parametrize("against", ["mean", "rival"])
def test_its_cuts_are_those_of_weights_set_to_0(context: LessonContext, translator: Translator, against: str) -> None:
    stage = lab.data(at(context, word=WORD, against=against))
    values, cuts = stage.values["flow"], stage.arrays["flow_cuts"]
    assert stage.answers == {"word": WORD, "against": against} and values["word"] == WORD
    run = teacher_forced_run(translator, context.source, context.result.translation, points=POINTS)
    (flow,) = flows(translator, run, [WORD], against=values["rivals"][WORD] if against == "rival" else None)
    edges = [
        (value, head_named(head), place)
        for head, part in flow.edges.items()
        for place, value in np.ndenumerate(part)
        if value > 0
    ]
    edges.sort(key=lambda edge: -edge[0])
    for number, share in enumerate(values["shares"]):
        gone = [(head, place) for _, head, place in edges[: round(share * values["edges"])]]
        with edit(translator, "weights", partial(without, gone)):
            log_p = teacher_forced_run(translator, context.source, context.result.translation).log_p[WORD]
        assert cuts[0, number] == pytest.approx(float(log_p - run.log_p[WORD]), abs=1e-4)
    assert np.abs(cuts).max() > 1e-3 and values["log_p"] == pytest.approx(float(run.log_p[WORD]), abs=1e-4)


def without(gone: list[tuple[Head, tuple[int, ...]]], weights: Tensor, site: Site) -> None:
    for (kind, layer, row), place in gone:
        if (kind, layer) == (site.kind, site.layer):
            weights[(0, row, *place)] = 0.0


def test_its_parts_sum_to_each_logit(context: LessonContext) -> None:
    stage = lab.data(at(context, word=WORD, against="rival"))
    values, parts = stage.values["flow"], stage.arrays["flow_parts"]
    assert parts.shape == (len(values["outputs"]), len(values["source"]) + len(values["outputs"]) + 2)
    np.testing.assert_allclose(parts[:, :-1].sum(axis=1), parts[:, -1], atol=1e-3)
    rival = stage.arrays["flow_rival"]
    assert rival[:-1].sum() == pytest.approx(rival[-1], abs=1e-3)
    assert all(token != other for token, other in zip(values["outputs"], values["rivals"], strict=True))


def test_a_word_in_the_middle_is_chosen_until_one_is_pressed(context: LessonContext) -> None:
    stage = lab.data(context)
    values = stage.values["flow"]
    words = [number for number, token in enumerate(values["outputs"][:-1]) if token.strip("▁.,!?")]
    assert values["word"] in words and "flow_rival" not in stage.arrays
    assert stage.answers == {"word": -1, "against": "mean"}
    assert lab.data(at(context, word=999)).values["flow"]["word"] == len(values["outputs"]) - 1
