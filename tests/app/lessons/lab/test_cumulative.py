"""The bench "One head after the other": its curves, its translations and the head that went last."""

from __future__ import annotations

import numpy as np
import pytest

from tests.app.lessons.lab.conftest import at
from transformer_core.analysis.ablation import ablated, all_heads
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab
from viz_app.lessons.lab.benches.cumulative.bench import ORDERS, RANDOM_ORDERS

TEXT = "The dog is fast."


@pytest.mark.parametrize("order", ORDERS)
def test_its_translations_are_those_without_the_first_heads(
    context: LessonContext, translator: Translator, order: str
) -> None:
    found, heads = lab.data(at(context, order=order)), all_heads(translator)
    values = found.values["cumulative"]
    assert sorted(values["order"]) == list(range(len(heads))) and found.answers["order"] == order
    for each in values["texts"]:
        with ablated(translator, [heads[number] for number in values["order"][: each["count"]]]):
            assert " ".join(word for word, _ in each["words"]) == translator.translate(context.text, beam=4).text


def test_random_orders_begin_and_end_alike(context: LessonContext) -> None:
    found = lab.data(context)
    random, log_p = found.arrays["random"], found.arrays["log_p"]
    assert len(random) == RANDOM_ORDERS
    np.testing.assert_allclose(random[:, [0, -1]], np.tile(log_p[[0, -1]], (RANDOM_ORDERS, 1)), atol=1e-4)
    assert not np.allclose(random[0], random[1])


def test_the_head_that_went_last(context: LessonContext, translator: Translator) -> None:
    assert lab.selection("cumulative", context) is None
    order = lab.data(context).values["cumulative"]["order"]
    shown = lab.selection("cumulative", at(context, gone=2.0))
    assert shown is not None
    assert (shown.kind, shown.layer, shown.head) == all_heads(translator)[order[1]]
    assert lab.data(at(context, order="nonsense")).answers["order"] == "effect"
