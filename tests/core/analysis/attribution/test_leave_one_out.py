"""Words left out all at once, against one ordinary edit for each word."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.core.analysis.attribution.sentences import SOURCE, TARGET
from tests.core.analysis.models import SHAPES, of_shapes
from transformer_core import Translator, edit, knock_out
from transformer_core.analysis.ablation import ablated, hook_point_name
from transformer_core.analysis.attribution import Attribution, Contrast, attribute, faithfulness
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, teacher_forced_run
from transformer_core.attention_maps import Kind
from transformer_core.head import Head


@contextmanager
def hidden(translator: Translator, positions: list[int], *, of_source: bool = True) -> Iterator[None]:
    """Let no query attend to these keys."""
    run = teacher_forced_run(translator, SOURCE, TARGET)
    queries: dict[Kind, int] = {"encoder": run.source.shape[1], "cross": run.inputs.shape[1]}
    if not of_source:
        queries = {"decoder": run.inputs.shape[1]}
    with ExitStack() as stack:
        for kind, count in queries.items():
            edges = [(query, key) for query in range(count) for key in positions]
            for layer in range(translator.config.num_layers):
                stack.enter_context(edit(translator.model, hook_point_name(kind, layer, "scores"), knock_out(edges)))
        yield


def run_without(translator: Translator, positions: list[int], *, of_source: bool) -> TeacherForcedRun:
    with hidden(translator, positions, of_source=of_source):
        return teacher_forced_run(translator, SOURCE, TARGET)


def positions_of(words: tuple[int, ...], word: int) -> list[int]:
    return [position for position, number in enumerate(words) if number == word]


def check_each_word(translator: Translator, result: Attribution) -> None:
    for of_source, values, labels in (
        (True, result.source, result.source_axis),
        (False, result.target, result.input_axis),
    ):
        assert any(labels.words.count(word) > 1 for word in labels.words)  # or tokens would not show
        for word in set(labels.words):
            positions = positions_of(labels.words, word)
            effect = result.run.log_p - run_without(translator, positions, of_source=of_source).log_p
            for position in positions:
                assert values[:, position] == pytest.approx(effect / len(positions), abs=1e-5), (of_source, word)


@of_shapes(SHAPES)
def test_every_effect_is_that_of_an_ordinary_edit(translator: Translator) -> None:
    result = attribute(translator, SOURCE, TARGET, method="leave-one-out")
    check_each_word(translator, result)
    assert result.target.triu(1).abs().max() < 1e-5 or len(set(result.input_axis.words)) < len(result.input_axis)


def test_edits_that_are_active_stay(learned: Translator) -> None:
    with ablated(learned, [Head("cross", 1, 2)]):
        result = attribute(learned, SOURCE, TARGET, method="leave-one-out")
        check_each_word(learned, result)
    assert not torch.allclose(result.source, attribute(learned, SOURCE, TARGET, method="leave-one-out").source)


def test_a_contrast_is_the_difference_of_two_effects(learned: Translator) -> None:
    contrast = Contrast(position=2, token=17, other=40)
    actual = attribute(learned, SOURCE, TARGET, method="leave-one-out", contrast=contrast)
    assert actual.source.shape[0] == actual.target.shape[0] == 1

    def difference(run: TeacherForcedRun) -> Tensor:
        with torch.no_grad():
            logits = learned.model(run.source, run.inputs, run.source_mask)[0, 2]
        result: Tensor = logits[17] - logits[40]
        return result

    positions = positions_of(actual.source_axis.words, actual.source_axis.words[2])
    with hidden(learned, positions):
        without = difference(actual.run)
    effect = difference(actual.run) - without
    assert float(actual.source[0, positions].sum()) == pytest.approx(float(effect), abs=1e-5)


def test_it_reports_how_much_attention_goes_to_other_keys(learned: Translator) -> None:
    """Of every query, head and layer the weight on a key, which softmax shares out when the key is masked."""
    result = attribute(learned, SOURCE, TARGET, method="leave-one-out")
    maps = learned.teacher_force(SOURCE, TARGET).attention
    for key in range(maps.cross.shape[3]):
        weights = [*maps.encoder[..., key].ravel(), *maps.cross[..., key].ravel()]
        assert float(result.report["redistributed_source"][key]) == pytest.approx(sum(weights) / len(weights), abs=1e-5)
    expected = maps.decoder.mean(axis=(0, 1, 2))
    assert result.report["redistributed_target"] == pytest.approx(expected, abs=1e-6)


def test_a_translation_of_one_token(learned: Translator) -> None:
    """Without `<s>`, self-attention has no key and says nothing."""
    result = attribute(learned, SOURCE, "", method="leave-one-out")
    assert result.target.shape == (1, 1)
    heads = [("decoder", layer, head) for layer in range(2) for head in range(4)]
    with ablated(learned, heads):  # type: ignore[arg-type]
        silent = teacher_forced_run(learned, SOURCE, "")
    assert result.target[:, 0] == pytest.approx(result.run.log_p - silent.log_p, abs=1e-5)


@pytest.mark.parametrize("method", ["alti", "grad-x-input", "leave-one-out"])
def test_faithfulness_leaves_out_the_words_that_are_named_first(learned: Translator, method: Any) -> None:
    result = attribute(learned, SOURCE, TARGET, method=method)
    measured = faithfulness(learned, result, words=2)
    words = result.source_axis.words
    count = len(set(words)) - 1  # </s> is no word
    for k in (1, 2):
        drops: dict[str, list[float]] = {"first": [], "last": []}
        for row, log_p in enumerate(result.run.log_p):
            sizes = {word: abs(float(result.source[row, positions_of(words, word)].sum())) for word in range(count)}
            ranked = sorted(sizes, key=lambda word: -sizes[word])
            for name, chosen in (("first", ranked[:k]), ("last", ranked[-k:])):
                hidden = [position for word in chosen for position in positions_of(words, word)]
                drops[name].append(float(log_p - run_without(learned, hidden, of_source=True).log_p[row]))
        for name, values in drops.items():
            assert float(getattr(measured, name)[k - 1]) == pytest.approx(sum(values) / len(values), abs=1e-5)


def test_random_words_are_drawn_with_a_seed_and_all_of_them_are_the_whole_sentence(learned: Translator) -> None:
    result = attribute(learned, SOURCE, TARGET, method="alti")
    one, same, other = (faithfulness(learned, result, words=100, draws=2, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one.random, same.random) and not torch.equal(one.random, other.random)
    count = len(set(result.source_axis.words)) - 1
    assert one.first.shape == (count,)
    for values in (one.first, one.last, one.random):
        assert float(values[-1]) == pytest.approx(float(one.first[-1]), abs=1e-5)
    everything = [position for position, word in enumerate(result.source_axis.words) if word < count]
    drop = result.run.log_p - run_without(learned, everything, of_source=True).log_p
    assert float(one.first[-1]) == pytest.approx(float(drop.mean()), abs=1e-5)
