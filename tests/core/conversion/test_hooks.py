"""Hooks, maps, edits and analysis on a converted model of each family."""

from __future__ import annotations

import math

import pytest
import torch

from tests.core.conversion.families import ONE_EACH
from tests.core.conversion.twins import Twin
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.evaluation.evaluate import perplexity

pytestmark = pytest.mark.parametrize("twin", ONE_EACH, indirect=True)
SOURCE, TARGET = "The man sees a house.", "Der Mann sieht ein Haus."


def test_maps_are_labelled_and_rows_sum_to_one(twin: Twin) -> None:
    translator = twin.converted
    maps = translator.teacher_force(SOURCE, TARGET).attention
    encoding = translator.encode(SOURCE)
    assert maps.source.tokens == (*encoding.tokens, "</s>")
    assert maps.outputs.tokens[-1] == "</s>" and maps.inputs.tokens[0] == "<s>"
    for weights in (maps.encoder, maps.decoder, maps.cross):
        assert abs(weights.sum(axis=-1) - 1).max() < 1e-5


def test_translations_score_as_forced(twin: Twin) -> None:
    """Beam search through the cache, and a pass over its result: a token that is given counts 0 in both."""
    translator = twin.converted.with_languages()
    translator.decoding = translator.decoding.replace(min_length=4)
    translation = translator.translate(SOURCE, beam=3)
    assert len(translation.scores) >= 5
    if translation.finished:
        (total,) = translator.score([(SOURCE, translation.text)])
        again = translator.encode_target(translation.text).ids == translation.hypotheses[0].ids
        assert not again or total == pytest.approx(sum(translation.scores), abs=1e-4)
    run = teacher_forced_run(translator, SOURCE, translation)
    given = 1 if translator.tokenizer.special.forced_bos >= 0 else 0
    assert run.log_p[given:].tolist() == pytest.approx(translation.scores[given:], abs=1e-4)
    assert translation.attention.cross.shape[2] == len(translation.scores)


@torch.no_grad()
def test_perplexity_leaves_out_what_is_given(twin: Twin) -> None:
    """The language's token is no token that the model chose, so it is neither added nor counted."""
    translator, special = twin.converted, twin.converted.tokenizer.special
    pairs = [(SOURCE, TARGET), ("The dog", "Der Hund sieht den Mann.")]
    logs: list[float] = []
    for source, target in pairs:
        ids = translator.encode_target(target).ids
        encoded = torch.tensor([[*translator.encode(source).ids, special.eos]])
        labels = torch.tensor([[*ids, special.eos]])
        inputs = torch.tensor([[special.bos, *ids]])
        logits = twin.model(input_ids=encoded, decoder_input_ids=inputs).logits
        each = torch.log_softmax(logits, dim=-1).gather(2, labels[:, :, None]).flatten().tolist()
        logs.extend(each[1:] if special.forced_bos >= 0 else each)
    result = perplexity(translator, pairs)
    assert result.tokens == len(logs)
    assert result.value == pytest.approx(math.exp(-sum(logs) / len(logs)), rel=1e-4)
