"""Text in, translation and attention out: labels, scores, batches, edits, and maps that agree with decoding."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.core.tiny import sentence_pairs, tiny_model
from transformer_core import ConfigError, DecodingConfig, Tokenizer
from transformer_core.attention_maps import KINDS, AttentionMaps, MapsTooLarge
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.hooks.points import Site, capture, edit
from transformer_core.model.masks import padding_mask
from transformer_core.translator import SourceTooLong, TeacherForcedInput, Translation, Translator

SENTENCE = "The teacher doesn't like two well-known books."
SENTENCES = [source for source, _ in sentence_pairs()[::61]]


def new_translator(tokenizer: Tokenizer, seed: int = 1, extra_length: int = 4) -> Translator:
    """With drawn weights: it repeats itself until it is cut off."""
    model = tiny_model(seed=seed, vocab_size=len(tokenizer))
    return Translator(model, tokenizer, DecodingConfig(beam=3, extra_length=extra_length, max_source_tokens=60))


@pytest.fixture(scope="module")
def translator(tokenizer: Tokenizer) -> Translator:
    return new_translator(tokenizer)


@pytest.fixture(params=["finished", "cut off"])
def translation(request: pytest.FixtureRequest, learned: Translator, translator: Translator) -> Translation:
    """A translation that ended with `</s>`, and one that was cut off."""
    finished = request.param == "finished"
    result = (learned if finished else translator).translate(SENTENCE)
    assert result.finished is finished
    assert len(result.tokens) > 3
    return result


def same(one: AttentionMaps, other: AttentionMaps) -> bool:
    return all(np.allclose(one.weights(kind), other.weights(kind), atol=1e-5) for kind in KINDS)


# --- translations and their maps --------------------------------------------------------------------------------------


def test_labels_of_all_three_kinds(translation: Translation, tokenizer: Tokenizer) -> None:
    maps, finished = translation.attention, translation.finished
    source, tokens = tokenizer.encode(translation.source).tokens, translation.tokens
    assert maps.finished is finished
    assert maps.source.tokens == (*source, "</s>")
    assert maps.inputs.tokens == (("<s>", *tokens) if finished else ("<s>", *tokens[:-1]))
    assert maps.outputs.tokens == ((*tokens, "</s>") if finished else tokens)
    assert len(maps.inputs) == len(maps.outputs) == len(translation.scores)
    for kind in KINDS:
        weights = maps.weights(kind)
        assert weights.dtype == np.float32
        assert weights.shape == (2, 4, len(maps.queries(kind)), len(maps.keys(kind)))
        np.testing.assert_allclose(weights.sum(axis=-1), 1.0, atol=1e-5)
    assert not np.triu(maps.decoder, 1).any()
    merged = maps.merged_to_words()
    assert merged.source.tokens == (*translation.source.removesuffix(".").split(), ".", "</s>")


def test_a_row_is_named_after_what_it_produces(translation: Translation) -> None:
    """Row t of the maps is the row that decoding step t computed when it wrote output t."""
    translator = translation._translator
    maps, hypothesis = translation.attention, translation.hypotheses[0]
    source = torch.tensor([[*translation.source_encoding.ids, 2]])
    mask = padding_mask(source, 0)
    written = [1, *hypothesis.ids]
    with torch.no_grad(), capture(translator.model) as steps:
        decoder = IncrementalDecoder(translator.model, translator.model.encode(source, mask), mask, beams=1, capacity=1)
        for t in range(len(maps.outputs)):
            logits = decoder.step(torch.tensor([[written[t]]]))
            log_p = F.log_softmax(logits, dim=-1)[0]
            produced = [*hypothesis.ids, 2][t]
            assert translation.scores[t] == pytest.approx(float(log_p[produced]), abs=1e-5)
    assert len(steps.calls["decoder.layers.0.cross_attention.weights"]) == len(maps.outputs)
    for layer in range(2):
        for t in range(len(maps.outputs)):
            cross = steps.calls[f"decoder.layers.{layer}.cross_attention.weights"][t]
            np.testing.assert_allclose(cross[0, :, 0].numpy(), maps.cross[layer, :, t], atol=1e-5)
            own = steps.calls[f"decoder.layers.{layer}.self_attention.weights"][t]
            np.testing.assert_allclose(own[0, :, 0].numpy(), maps.decoder[layer, :, t, : t + 1], atol=1e-5)
        encoder = steps[f"encoder.layers.{layer}.self_attention.weights"]
        np.testing.assert_allclose(encoder[0].numpy(), maps.encoder[layer], atol=1e-5)


VARIANTS: tuple[dict[str, Any], ...] = (
    {},
    {"norm": "pre", "attention_biases": True},
    {"window": 2},
    {"positions": "learned", "max_positions": 80},
    {"scaled": False, "residual": False},
)


def has_maps(translation: Translation) -> bool:
    return any(translation._maps.values())


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("beam", [1, 4])
def test_maps_of_the_search_are_those_of_a_forced_pass(
    tokenizer: Tokenizer, options: dict[str, Any], beam: int
) -> None:
    translator = Translator(tiny_model(seed=3, vocab_size=len(tokenizer), **options), tokenizer)
    changed = edit(translator.model, "encoder.1.2.weights", lambda value, site: value.flip(-1))
    for changes in (nullcontext(), changed):
        with changes:
            result = translator.translate(SENTENCE, beam=beam)
            assert has_maps(result)
            assert same(result.attention, translator.attention(result.source_encoding, result.hypotheses[0].ids, False))


def test_maps_of_a_finished_search(learned: Translator) -> None:
    for sentence in SENTENCES:
        result = learned.translate(sentence)
        (batched,) = learned.attention_batch([TeacherForcedInput(result.source_encoding, result.hypotheses[0].ids)])
        assert has_maps(result) and result.finished
        assert same(result.attention, batched)


def test_maps_of_another_hypothesis(learned: Translator) -> None:
    """They are a pass away; the first one's are not taken for them."""
    result = learned.translate(SENTENCE, beam=3)
    for number, other in enumerate(result.hypotheses):
        shown = dataclasses.replace(result, hypotheses=(other,))
        expected = learned.attention(result.source_encoding, other.ids, other.finished)
        assert same(shown.attention, expected) and same(result.attention_of(number), expected)


def test_searches_without_maps_of_their_own(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit in the decoder, one that attends to later tokens, several sentences, long ones: one forced pass."""
    translator = new_translator(tokenizer)
    assert has_maps(translator.translate(SENTENCE))
    with edit(translator.model, "decoder.1.2.weights", lambda value, site: value.flip(-1)):
        changed = translator.translate(SENTENCE)
        assert not has_maps(changed)
        expected = translator.attention(changed.source_encoding, changed.hypotheses[0].ids, changed.finished)
        assert same(changed.attention, expected)
    assert not has_maps(translator.with_mask(causal=False).translate(SENTENCE))
    assert not any(map(has_maps, translator.translate_batch([SENTENCE, SENTENCE])))
    monkeypatch.setattr("transformer_core.decoding.beam._MAX_MAP_BYTES", 1_000)
    assert not has_maps(translator.translate(SENTENCE))


def test_unseen_sentences_are_translated(learned: Translator) -> None:
    unseen = sentence_pairs()[::7]
    translations = learned.translate_batch([source for source, _ in unseen])
    right = sum(t.text == target for t, (_, target) in zip(translations, unseen, strict=True))
    assert right >= 0.8 * len(unseen)
    assert all(t.finished for t in translations)


def test_a_translation_tells_about_itself(translation: Translation, tokenizer: Tokenizer) -> None:
    assert translation.source == SENTENCE
    best = translation.hypotheses[0]
    assert translation.text == tokenizer.decode(best.ids)
    assert translation.tokens == tokenizer.tokens(best.ids)
    assert translation.scores == best.log_probabilities
    assert len(translation.hypotheses) == translation._translator.decoding.beam
    for finished in (True, False):
        scores = [h.score for h in translation.hypotheses if h.finished is finished]
        assert scores == sorted(scores, reverse=True)
    assert len(translation.alternatives) == len(translation.scores)
    for t, shown in enumerate(translation.alternatives):
        assert len(shown) == 6
        assert [log for _, log in shown] == sorted((log for _, log in shown), reverse=True)
        produced = translation.tokens[t] if t < len(translation.tokens) else "</s>"
        if dict(shown).get(produced) is not None:
            assert dict(shown)[produced] == pytest.approx(translation.scores[t], abs=1e-6)


def test_maps_of_every_hypothesis(translation: Translation, tokenizer: Tokenizer) -> None:
    for number, hypothesis in enumerate(translation.hypotheses):
        maps = translation.attention_of(number)
        end = ("</s>",) if hypothesis.finished else ()
        assert maps.outputs.tokens == (*tokenizer.tokens(hypothesis.ids), *end)
    assert translation.attention is translation.attention  # computed once
    assert same(translation.attention, translation.attention_of(0))


def test_a_batch_is_its_sentences(translator: Translator) -> None:
    batch = translator.translate_batch(["", *SENTENCES, "  "])
    for sentence, together in zip(["", *SENTENCES, "  "], batch, strict=True):
        alone = translator.translate(sentence)
        assert together.source == sentence
        assert together.text == alone.text
        assert together.scores == pytest.approx(alone.scores, abs=1e-4)
        assert same(together.attention, alone.attention)
    assert translator.translate_batch([]) == []


def test_an_empty_sentence_has_an_empty_translation(translator: Translator) -> None:
    translation = translator.translate("")
    assert (translation.text, translation.tokens, translation.scores, translation.finished) == ("", (), (), True)
    assert translation.attention.source.tokens == ("</s>",)
    assert translation.attention.inputs.tokens == ("<s>",)
    assert translation.attention.outputs.tokens == ("</s>",)


@settings(max_examples=20)
@given(text=st.text(max_size=30))
def test_any_text_is_translated(translator: Translator, text: str) -> None:
    translation = translator.translate(text, beam=2)
    maps = translation.attention
    assert len(maps.source) == len(translation.source_encoding) + 1
    assert all(np.isfinite(maps.weights(kind)).all() for kind in KINDS)
    assert translation.source_encoding == translator.tokenizer.encode(text)


def test_too_long_a_sentence_is_refused_with_its_count(translator: Translator) -> None:
    long = "dog " * 100
    tokens = len(translator.tokenizer.encode(long))
    for attempt in (translator.translate, translator.encode):
        with pytest.raises(SourceTooLong, match=f"{tokens} tokens, but at most 60") as caught:
            attempt(long)
        assert (caught.value.tokens, caught.value.limit) == (tokens, 60)


def test_options_of_a_call(translator: Translator) -> None:
    assert len(translator.translate(SENTENCE, beam=5).hypotheses) == 5
    for hypothesis in translator.translate(SENTENCE, alpha=0.0).hypotheses:
        assert hypothesis.score == pytest.approx(hypothesis.log_probability, abs=1e-4)
    with pytest.raises(ConfigError, match="beam is 0"):
        translator.translate(SENTENCE, beam=0)


def test_a_translation_can_be_stopped(translator: Translator) -> None:
    with pytest.raises(DecodingStopped):
        translator.translate(SENTENCE, should_stop=lambda: True)


# --- forced targets ---------------------------------------------------------------------------------------------------


def test_forcing_a_target_against_plain_torch(translator: Translator, tokenizer: Tokenizer) -> None:
    source, target = sentence_pairs()[7]
    forced = translator.teacher_force(source, target)
    source_ids, target_ids = tokenizer.encode(source).ids, tokenizer.encode(target).ids
    ids = torch.tensor([[*source_ids, 2]])
    with torch.no_grad():
        logits = translator.model(ids, torch.tensor([[1, *target_ids]]), padding_mask(ids, 0))[0]
    expected = -F.cross_entropy(logits, torch.tensor([*target_ids, 2]), reduction="none")
    assert forced.scores == pytest.approx(expected.tolist(), abs=1e-4)
    assert forced.log_probability == pytest.approx(float(expected.sum()), abs=1e-3)
    assert forced.tokens == tokenizer.tokens(target_ids)
    assert forced.attention.outputs.tokens == (*forced.tokens, "</s>")
    assert forced.attention.inputs.tokens == ("<s>", *forced.tokens)


def test_scores_of_many_pairs_are_those_of_each(translator: Translator) -> None:
    pairs = [*sentence_pairs()[::61], ("The dog.", "")]
    together = translator.score(pairs)
    assert together == pytest.approx([translator.teacher_force(*pair).log_probability for pair in pairs], abs=1e-3)
    assert translator.score([]) == []


def test_the_score_of_a_translation_is_its_forced_score(translation: Translation) -> None:
    reading = TeacherForcedInput(translation.source_encoding, translation.hypotheses[0].ids, translation.finished)
    _, scores = translation._translator._forced(reading)
    assert scores == pytest.approx(translation.scores, abs=1e-4)


@pytest.mark.parametrize("together", ["in one pass", "a few at a time"])
def test_batched_maps(
    learned: Translator, translator: Translator, monkeypatch: pytest.MonkeyPatch, together: str
) -> None:
    """Finished or cut off, long and short: no padding is left, and none is seen."""
    if together == "a few at a time":
        monkeypatch.setattr("transformer_core.translator._MAX_PASS_BYTES", 20_000)
    passes: list[int] = []
    forced_pass = Translator._forced_pass

    def counted(self: Translator, inputs: Sequence[TeacherForcedInput]) -> list[AttentionMaps]:
        passes.append(len(inputs))
        return forced_pass(self, inputs)

    monkeypatch.setattr(Translator, "_forced_pass", counted)
    for each in (learned, translator):
        translations = each.translate_batch(["", *SENTENCES, SENTENCE])
        inputs = [
            TeacherForcedInput(result.source_encoding, result.hypotheses[0].ids, result.finished)
            for result in translations
        ]
        passes.clear()
        maps = each.attention_batch(inputs)
        assert sum(passes) == len(inputs) and (max(passes) == len(inputs)) == (together == "in one pass")
        assert len({len(result.source) for result in maps}) > 2
        for result, translation in zip(maps, translations, strict=True):
            alone = translation.attention
            assert same(result, alone) and result.finished is translation.finished
            assert (result.source, result.inputs, result.outputs) == (alone.source, alone.inputs, alone.outputs)
    assert translator.attention_batch([]) == []
    translator.most_map_bytes = 1_000
    try:
        with pytest.raises(MapsTooLarge, match="at most 1,000"):
            translator.attention_batch(inputs)
    finally:
        translator.most_map_bytes = None


def test_a_sentence_given_up_leaves_the_batch(learned: Translator) -> None:
    """The others are what they are without it."""
    sources = [learned.encode(text).ids for text in ("", *SENTENCES)]
    asked: list[int] = []

    def is_given_up(number: int) -> bool:
        asked.append(number)
        return number == 2 and asked.count(2) == 3

    results = learned.search(sources, is_given_up=is_given_up)
    assert asked.count(2) == 3 and 0 not in asked, "an empty sentence is not searched for"
    assert results[2].hypotheses == () and results[2].history == ()
    alone = learned.search([ids for number, ids in enumerate(sources) if number != 2])
    for one, other in zip([*results[:2], *results[3:]], alone, strict=True):
        assert [each.ids for each in one.hypotheses] == [each.ids for each in other.hypotheses]
        assert one.hypotheses[0].score == pytest.approx(other.hypotheses[0].score, abs=1e-5)
    everybody = learned.search(sources[1:], is_given_up=lambda number: True)
    assert all(result.hypotheses == () for result in everybody)


# --- edits ------------------------------------------------------------------------------------------------------------


def test_edits_reach_decoding_and_maps_alike(translator: Translator) -> None:
    def first_only(value: Tensor, site: Site) -> Tensor:
        return torch.zeros_like(value).index_fill_(-1, torch.tensor([0]), 1.0)

    plain = translator.translate(SENTENCE)
    with edit(translator.model, "decoder.layers.0.cross_attention.weights", first_only):
        edited = translator.translate(SENTENCE)
        maps = edited.attention
    # What the edit returns goes on; the maps show what the model then used further up.
    assert edited.scores != pytest.approx(plain.scores, abs=1e-4)
    assert not np.allclose(maps.cross[1, :, 0], plain.attention.cross[1, :, 0], atol=1e-5)
    again = translator.translate(SENTENCE)
    assert again.scores == pytest.approx(plain.scores, abs=1e-6)
