"""Hooks, maps, edits and analysis on a converted model of each family."""

from __future__ import annotations

import math

import pytest
import torch

from tests.core.conversion.families import ONE_EACH
from tests.core.conversion.twins import Twin
from tests.core.tiny import nobody_listens
from transformer_core.analysis.attribution import attribute
from transformer_core.analysis.score_decomposition import POINTS, decompose_score
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.data import make_batch
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.evaluation.evaluate import perplexity
from transformer_core.hooks.edits import zero
from transformer_core.hooks.points import capture, edit
from transformer_core.model.masks import padding_mask

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


@torch.no_grad()
@pytest.mark.parametrize("opened", [False, True])
def test_cached_steps_agree_with_a_forced_pass(twin: Twin, opened: bool) -> None:
    """The fused step, and the readable one that hooks make it take."""
    translator, special = twin.converted, twin.converted.tokenizer.special
    sources = [translator.encode(text).ids for text in (SOURCE, "The dog")]
    targets = [translator.encode_target(text).ids for text in (TARGET, "Der Hund sieht den Mann.")]
    batch = make_batch(sources, targets, special)
    mask = padding_mask(batch.source, special.pad)
    model = translator.model
    memory = model.encode(batch.source, mask)
    whole = model.logits(model.decode(batch.inputs, memory, mask))
    decoder = IncrementalDecoder(model, memory, mask, beams=1)
    assert decoder.fused_step is not None
    for position in range(min(map(len, targets))):
        tokens = batch.inputs[:, position : position + 1]
        if opened:
            with capture(model, "weights"):
                logits = decoder.step(tokens)
        else:
            logits = decoder.step(tokens)
        assert torch.allclose(logits, whole[:, position], atol=1e-4)


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


def test_edits_change_the_run_and_end_with_it(twin: Twin) -> None:
    translator = twin.converted
    plain = translator.score([(SOURCE, TARGET)])
    with edit(translator.model, "cross.2", zero):
        changed = translator.score([(SOURCE, TARGET)])
    assert abs(changed[0] - plain[0]) > 1e-3
    assert translator.score([(SOURCE, TARGET)]) == plain
    assert nobody_listens(translator.model)


def test_attribution(twin: Twin) -> None:
    result = attribute(twin.converted, SOURCE, TARGET, method="integrated-gradients", steps=128)
    assert float(result.report["gap"].abs().max()) < 0.05
    assert float(result.source.abs().max()) > 0.05
    shares = attribute(twin.converted, SOURCE, TARGET, method="alti")
    assert torch.allclose(
        shares.source.sum(dim=1) + shares.target.sum(dim=1), torch.ones(len(shares.source)), atol=1e-4
    )


def test_parts_of_scores_sum_to_them(twin: Twin) -> None:
    """The embedding's norm among them, where there is one."""
    translator = twin.converted
    run = teacher_forced_run(translator, SOURCE, TARGET, points=POINTS)
    deep = translator.config.activation == "relu"
    for kind, layer in (("encoder", 0), ("decoder", 0), *((("cross", 1),) if deep else ())):
        parts = decompose_score(translator, run, f"{kind}.{layer + 1}.2")
        assert float(parts.of(2, 1).sum()) == pytest.approx(float(parts.scores[2, 1]), abs=1e-4)


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
