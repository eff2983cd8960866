"""The benches on depth: what they add to the numbers that test_recipes.py compares with the library's."""

from __future__ import annotations

import pytest
from sacrebleu.metrics.chrf import CHRF

from tests.app.lessons.conftest import Visit
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab

TEXT = "The dog is fast."


def test_a_token_has_rank_1_where_it_is_listed_first(context: LessonContext) -> None:
    stage = lab.data(context)
    values, ranks = stage.values["depth"], stage.arrays["rank"]
    assert len(values["top"]) == context.service.translator.config.num_layers + 1
    for layer, tokens in enumerate(values["top"]):
        for at, (first, *_) in enumerate(tokens):
            assert (ranks[layer, at] == 1) == (first == values["tokens"][at])


def test_early_translations_are_compared_with_the_last(visit: Visit) -> None:
    values = lab.data(visit("early", TEXT)).values["early"]
    assert not any(differs for _, differs in values["rows"][-1])
    texts = [" ".join(word for word, _ in row) for row in values["rows"]]
    expected = [CHRF().sentence_score(text, [texts[-1]]).score for text in texts]
    assert values["chrf"] == pytest.approx(expected) and expected[-1] == pytest.approx(100)
