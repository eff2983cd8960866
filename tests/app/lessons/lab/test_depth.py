"""The benches on depth: their last layer is the model."""

from __future__ import annotations

import numpy as np
import pytest
from sacrebleu.metrics.chrf import CHRF

from tests.app.lessons.conftest import Visit
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab

TEXT = "The dog is fast."


def test_the_last_layer_is_the_models_own_distribution(context: LessonContext) -> None:
    found = lab.data(context)
    values, arrays = found.values["depth"], found.arrays
    translation = context.result.translation
    assert arrays["log_p"].shape == (context.service.translator.config.num_layers + 1, len(values["tokens"]))
    best = translation.hypotheses[0]
    np.testing.assert_allclose(arrays["log_p"][-1][: len(best.log_probabilities)], best.log_probabilities, atol=1e-4)
    for layer, tokens in enumerate(values["top"]):
        for at, (first, *_) in enumerate(tokens):
            assert (arrays["rank"][layer, at] == 1) == (first == values["tokens"][at])


def test_the_encoder_stopped_early_ends_with_the_translation(visit: Visit, translator: Translator) -> None:
    context = visit("early", TEXT)
    rows = lab.data(context).values["early"]["rows"]
    assert len(rows) == translator.config.num_layers + 1
    assert " ".join(word for word, _ in rows[-1]) == translator.translate(TEXT, beam=4).text
    assert not any(differs for _, differs in rows[-1])
    texts = [" ".join(word for word, _ in row) for row in rows]
    expected = [CHRF().sentence_score(text, [texts[-1]]).score for text in texts]
    assert lab.data(context).values["early"]["chrf"] == pytest.approx(expected) and expected[-1] == pytest.approx(100)
