"""Sub-layers, layers and words switched off, against hooks of torch.nn; the cached search is the forced pass."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.core.analysis.models import FEW_SHAPES, SOURCE, TARGET, make_translator, of_shapes
from transformer_core import Tokenizer, Translator, hook_points
from transformer_core.analysis.effects.part_effects import Part, all_parts, part_effects, translate_without
from transformer_core.analysis.teacher_forced_run import teacher_forced_run


@contextmanager
def switched_off(translator: Translator, part: Part) -> Iterator[None]:
    """With the hooks of torch.nn, on modules rather than hook points."""
    layer = translator.model.get_submodule(f"{part.stack}.layers.{part.layer}")
    with ExitStack() as stack:
        if part.sublayer == "layer":
            seen: list[Tensor] = []
            first = layer.register_forward_pre_hook(lambda _module, inputs: seen.append(inputs[0]))
            last = layer.register_forward_hook(lambda _module, _inputs, _output: seen.pop())
            stack.callback(first.remove)
            stack.callback(last.remove)
        else:
            name = "w_2" if part.sublayer == "feed_forward" else "w_o"
            module = layer.get_submodule(f"{part.sublayer}.{name}")
            handle = module.register_forward_pre_hook(lambda _module, inputs: (torch.zeros_like(inputs[0]),))
            stack.callback(handle.remove)
        yield


@contextmanager
def word_hidden(translator: Translator, positions: list[int]) -> Iterator[None]:
    with ExitStack() as stack:
        for address, point in hook_points(translator.model).items():
            if address.endswith("scores") and ("encoder.layers" in address or "cross" in address):

                def hide(_module: Any, _inputs: Any, scores: Tensor) -> Tensor:
                    hidden = scores.clone()
                    hidden[..., positions] = -math.inf
                    return hidden

                if address.startswith("encoder") or "cross" in address:
                    stack.callback(point.register_forward_hook(hide).remove)
        yield


def positions_of(words: tuple[str, ...], tokens: tuple[str, ...]) -> list[list[int]]:
    """Tokens that each word is made of."""
    result, start = [], 0
    for word in words:
        stop = start + 1
        while "".join(tokens[start:stop]) != word:
            stop += 1
        result.append(list(range(start, stop)))
        start = stop
    return result


@torch.no_grad()
def log_p(translator: Translator, target: Any = TARGET) -> Tensor:
    run = teacher_forced_run(translator, SOURCE, target)
    return run.log_p


@of_shapes(FEW_SHAPES)
def test_every_effect_is_one_hook_of_torch(translator: Translator) -> None:
    result = part_effects(translator, SOURCE, TARGET)
    whole = log_p(translator)
    assert list(result.parts) == all_parts(translator)
    for part, effects in zip(result.parts, result.effects, strict=True):
        with switched_off(translator, part):
            torch.testing.assert_close(effects, whole - log_p(translator), atol=1e-5, rtol=1e-4)
    assert "".join(result.words).replace("\u2581", " ").strip() == SOURCE
    hidden = positions_of(result.words, result.run.source_tokens)
    for positions, effects in zip(hidden, result.word_effects, strict=True):
        with word_hidden(translator, positions):
            torch.testing.assert_close(effects, whole - log_p(translator), atol=1e-4, rtol=1e-3)


@of_shapes(FEW_SHAPES)
@pytest.mark.parametrize("beam", [1, 3])
def test_the_cached_search_is_the_forced_pass(translator: Translator, beam: int) -> None:
    for part in all_parts(translator)[::2]:
        result = translate_without(translator, SOURCE, part, beam=beam)
        best = result.hypotheses[0]
        with switched_off(translator, part):
            expected = log_p(translator, result)
        count = len(best.log_probabilities)
        assert list(best.log_probabilities) == pytest.approx(expected[:count].tolist(), abs=1e-4), part
    result = translate_without(translator, SOURCE, 1, beam=beam)
    words = part_effects(translator, SOURCE, TARGET)
    with word_hidden(translator, positions_of(words.words, words.run.source_tokens)[1]):
        expected = log_p(translator, result)
    count = len(result.hypotheses[0].log_probabilities)
    assert list(result.hypotheses[0].log_probabilities) == pytest.approx(expected[:count].tolist(), abs=1e-4)


def test_a_word_that_does_not_exist(tokenizer: Tokenizer) -> None:
    with pytest.raises(ValueError, match="word is 99"):
        translate_without(make_translator(tokenizer), SOURCE, 99)
