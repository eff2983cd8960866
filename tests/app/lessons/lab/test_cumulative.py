"""The bench "One head after the other": its curves, its translations and the head that went last."""

from __future__ import annotations

from tests.app.lessons.conftest import place_of
from tests.app.lessons.lab.conftest import at
from transformer_core.analysis.ablation import ablated, all_heads
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab
from viz_app.lessons.lab.benches.cumulative.bench import RANDOM_ORDERS

TEXT = "The dog is fast."


def test_its_translations_are_those_without_the_first_heads(context: LessonContext, translator: Translator) -> None:
    stage, heads = lab.data(at(context, order="gradient")), all_heads(translator)
    values = stage.values["cumulative"]
    assert sorted(values["order"]) == list(range(len(heads))) and stage.answers["order"] == "gradient"
    assert len(stage.arrays["random"]) == RANDOM_ORDERS
    for each in values["texts"]:
        with ablated(translator, [heads[number] for number in values["order"][: each["count"]]]):
            assert " ".join(word for word, _ in each["words"]) == translator.translate(context.text, beam=4).text


def test_the_head_that_went_last(context: LessonContext, translator: Translator) -> None:
    assert lab.selection("cumulative", context) is None
    order = lab.data(context).values["cumulative"]["order"]
    assert place_of(lab.selection("cumulative", at(context, gone=2.0))) == all_heads(translator)[order[1]]
    assert lab.data(at(context, order="nonsense")).answers["order"] == "effect"
