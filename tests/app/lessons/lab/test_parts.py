"""The bench "Layers and words": its effects against the core, its translation without the part that is shown."""

from __future__ import annotations

import numpy as np
import pytest

from tests.app.lessons.lab.conftest import at
from transformer_core.analysis.effects.part_effects import part_effects, translate_without
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab

TEXT = "The dog is fast."


def test_effects_and_the_translation_without(context: LessonContext, translator: Translator) -> None:
    expected = part_effects(translator, TEXT, context.result.translation)
    result = lab.data(context)
    both = np.concatenate([expected.effects.numpy(), expected.word_effects.numpy()])
    np.testing.assert_allclose(result.arrays["effects"], both, atol=1e-5)
    values = result.values["parts"]
    assert len(values["parts"]) == 7 * translator.config.num_layers and values["words"] == list(expected.words)
    most = int(expected.word_effects.sum(dim=1).argmax())
    assert values["chosen"] == f"w{most}"
    text = translate_without(translator, TEXT, most, beam=4).text
    assert [word for word, _ in values["without"]["words"]] == text.split()
    pressed = lab.data(at(context, chosen="p3")).values["parts"]
    text = translate_without(translator, TEXT, expected.parts[3], beam=4).text
    assert pressed["chosen"] == "p3" and [word for word, _ in pressed["without"]["words"]] == text.split()


@pytest.mark.parametrize("chosen", ["", "p999", "w99", "x1", "<b>", 3.0])
def test_what_makes_no_sense_shows_the_word_that_matters_most(context: LessonContext, chosen: str | float) -> None:
    expected = lab.data(context).values["parts"]["chosen"]
    assert lab.data(at(context, chosen=chosen)).values["parts"]["chosen"] == expected
