"""Claims of the lesson "What is wrong with this model?" about the small models that ship, and their measures."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from transformer_core.hooks.points import capture
from transformer_core.model.masks import padding_mask
from viz_app.lessons.broken import suspects
from viz_app.lessons.broken.suspects import (
    COPYIST,
    HEALTHY,
    MAX_TOKENS,
    SUSPECTS,
    ModelEvidence,
    evenness,
    reversed_words,
    truncate_sentence,
)
from viz_app.lessons.small_models import SmallName, small_model, small_model_scores, training_curves
from viz_app.lessons.word_order import words_of
from viz_app.text.examples import EXAMPLES

SENTENCES = ("word_order", "passive", "question")
PER_LAYER = 8


def never() -> bool:
    """Ask for nothing newer."""
    return False


@pytest.fixture(scope="module")
def heard() -> dict[SmallName, list[ModelEvidence]]:
    """Statements of every model about some sentences."""
    names: list[SmallName] = [HEALTHY, *SUSPECTS.values()]
    return {
        name: [suspects._statement(small_model(name), EXAMPLES[each], never) for each in SENTENCES] for name in names
    }


def test_attention_and_vectors_are_those_of_the_model(heard: dict[SmallName, list[ModelEvidence]]) -> None:
    translator, own = small_model(HEALTHY), heard[HEALTHY][0]
    special = translator.tokenizer.special
    ids = translator.tokenizer.source.encode(EXAMPLES[SENTENCES[0]]).ids
    source = torch.tensor([[*ids, special.eos]])
    with torch.no_grad(), capture(translator.model) as captured:
        memory = translator.model.encode(source, padding_mask(source, special.pad))[0]
    for layer in range(2):
        weights = captured[f"encoder.layers.{layer}.self_attention.weights"][0]
        np.testing.assert_allclose(own.attention[PER_LAYER * layer :][:PER_LAYER], weights, atol=1e-5)
        entropies = torch.special.entr(weights).sum(dim=-1).mean(dim=-1)
        np.testing.assert_allclose(
            own.evenness[PER_LAYER * layer :][:PER_LAYER], entropies / np.log(len(ids) + 1), atol=1e-4
        )
    pairs = [
        torch.cosine_similarity(memory[i], memory[j], dim=0)
        for i in range(len(memory))
        for j in range(len(memory))
        if i != j
    ]
    assert own.alike[-1] == pytest.approx(float(torch.stack(pairs).mean()), abs=1e-4)
    assert own.wrote == translator.translate(EXAMPLES[SENTENCES[0]], beam=4).text
    assert own.tokens[-1] == own.words[-1] == "</s>" and len(own.moved) == len(own.words)


def test_evenness_goes_from_one_token_to_all() -> None:
    one, even = np.eye(4, dtype=np.float32), np.full((4, 4), 0.25, dtype=np.float32)
    assert evenness(np.stack([one, even])).tolist() == pytest.approx([0.0, 1.0])
    assert evenness(np.ones((2, 1, 1), dtype=np.float32)).tolist() == [1.0, 1.0]


def test_words_are_turned_round_and_punctuation_stays() -> None:
    words = words_of(["\u2581Go", "\u2581ho", "me", ",", "\u2581Tom", "."])
    assert [word.text for word in words] == ["Go", "home", ",", "Tom", ".", "</s>"]
    assert reversed_words(words) == [3, 1, 2, 0, 4, 5]


@pytest.mark.parametrize("text", [" ".join(EXAMPLES.values()), "Donaudampfschifffahrtsgesellschaft" * 4, "Go."])
def test_of_a_long_sentence_the_first_words_are_read(text: str) -> None:
    translator = small_model(HEALTHY)
    part = truncate_sentence(text, translator)
    assert part and text.startswith(part) and len(translator.tokenizer.source.encode(part).ids) < MAX_TOKENS
    assert (part == text) == (text == "Go.")


def test_a_suspect_without_positions_notices_no_order(heard: dict[SmallName, list[ModelEvidence]]) -> None:
    for own, healthy in zip(heard["no-positions"], heard[HEALTHY], strict=True):
        assert own.moved.max() < 1e-4 and healthy.moved.mean() > 0.3
        assert own.wrote and own.wrote == own.turned
    assert 0.8 < small_model_scores()["no-positions"].bleu / small_model_scores()[HEALTHY].bleu < 1, "nearly as well"


def test_a_suspect_without_scaling_looks_at_single_tokens(heard: dict[SmallName, list[ModelEvidence]]) -> None:
    for own, healthy in zip(heard["unscaled"], heard[HEALTHY], strict=True):
        assert own.evenness[:PER_LAYER].mean() < 0.25 < 0.6 < healthy.evenness[:PER_LAYER].mean()
    assert 0.9 < small_model_scores()["unscaled"].bleu / small_model_scores()[HEALTHY].bleu < 1, "a little worse"


def test_a_suspect_without_residuals_makes_words_alike(heard: dict[SmallName, list[ModelEvidence]]) -> None:
    for own, healthy in zip(heard["no-residual"], heard[HEALTHY], strict=True):
        assert own.alike[1:].min() > 0.25 > 2 * healthy.alike[1:].max()
    course = training_curves()["no-residual"]
    assert course.mean_nll[course.step > 1000][0] > 5 > 4 < course.mean_nll[-1], "it had only begun to learn"


def test_a_suspect_without_warmup_sees_one_word_everywhere(heard: dict[SmallName, list[ModelEvidence]]) -> None:
    for own in heard["no-warmup"]:
        assert own.alike[0] < 0.5 and own.alike[1:].min() > 0.999, (
            "after one layer all vectors are practically the same"
        )
        assert own.evenness[PER_LAYER:].min() > 0.99, "heads can hardly tell them apart"
        assert own.wrote == ""
    course = training_curves()["no-warmup"]
    assert (
        course.mean_nll[course.step >= 40].min() > 5.5
        and course.mean_nll[-1] > 2 * training_curves()[HEALTHY].mean_nll[-1]
    )


def test_the_copyist_reads_ahead_and_writes_nothing_of_use() -> None:
    text = EXAMPLES[SENTENCES[0]]
    given = small_model(HEALTHY).translate(text).text
    healthy, own = (suspects._copying(small_model(name), text, given, never) for name in (HEALTHY, COPYIST))
    assert healthy.ahead == 0 and own.ahead > 0.5 and healthy.inputs == own.inputs
    np.testing.assert_allclose(own.attention.sum(axis=1), 1, atol=1e-4)
    assert own.wrote == "" and len(set(own.greedy)) < 5 and healthy.wrote == given
    lowest = min(training_curves(), key=lambda name: float(training_curves()[name].mean_nll[-1]))
    assert lowest == COPYIST and small_model_scores()[COPYIST].bleu < 0.1
