"""Parts of a word against the logits, and the prose against the shipped translators."""

from __future__ import annotations

import numpy as np
import pytest

from tests.app.lessons.conftest import Visit
from transformer_core.analysis.flow import POINTS, flow
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.translator import Translator
from viz_app.lessons.heads import numbers as heads
from viz_app.lessons.heads.made_of import SENTENCE


def test_parts_sum_to_the_logits_above_their_mean(visit: Visit) -> None:
    context = visit("flow", "The dog is fast.")
    data = heads.data(context)
    parts, made = data.arrays["made_of"], data.values["made"]
    translator = context.service.translator
    run = teacher_forced_run(translator, SENTENCE, translator.translate(SENTENCE), points=POINTS)
    assert (made["source"], made["outputs"]) == (list(run.source_tokens), list(run.tokens))
    logits = run.captured["decoder.logits"][0]
    expected = logits.gather(1, run.outputs[:, None])[:, 0] - logits.mean(dim=1)
    np.testing.assert_allclose(parts[:, -1], expected, atol=1e-3)
    np.testing.assert_allclose(parts[:, :-1].sum(axis=1), expected, atol=1e-3)


@pytest.mark.parametrize(("name", "article", "other"), [("en-de", "▁dem", "▁der"), ("en-fr", "▁le", "▁la")])
def test_the_noun_decides_the_article_before_it(name: str, article: str, other: str) -> None:
    translator = Translator.load(find_checkpoint(f"checkpoints/{name}"))
    translation = translator.translate(SENTENCE)
    at = max(number for number, token in enumerate(translation.tokens) if token == article)
    contrast, mean = (flow(translator, (SENTENCE, translation.text), at, against) for against in (other, None))
    noun, the = (contrast.run.source_tokens.index(token) for token in ("▁sofa", "▁the"))
    assert contrast.source.argmax() == noun and contrast.source[noun] > contrast.inputs.max()
    assert contrast.source[noun] > np.delete(contrast.source, noun).clip(min=0).sum()
    preposition = [parts.inputs[at] / parts.source[noun] for parts in (contrast, mean)]
    assert preposition[0] < preposition[1]
    assert contrast.source[the] / contrast.source[noun] < mean.source[the] / mean.source[noun]
