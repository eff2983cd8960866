"""Matrices in float16 against the same values in float32: products, translations, maps, edits, analyses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.core.analysis.attribution.sentences import SOURCE, TARGET
from tests.core.analysis.models import SHAPES, make_translator
from tests.core.tiny import SPECIAL, padded
from transformer_core import Tokenizer, Transformer, Translator, checkpoint, edit, load_checkpoint, save_checkpoint
from transformer_core.analysis import minimal_pairs
from transformer_core.analysis import patching as patching_module
from transformer_core.analysis.ablation import ablated
from transformer_core.analysis.attribution import METHODS, attribute
from transformer_core.analysis.effects.cumulative_ablation import cumulative_ablation
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.analysis.effects.part_effects import part_effects
from transformer_core.analysis.lens import logit_lens
from transformer_core.analysis.score_decomposition import POINTS, decompose_score
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.cpu import onednn
from transformer_core.decoding.greedy import greedy_search
from transformer_core.head import Head
from transformer_core.model import float16_matrices as half_weights
from transformer_core.model.float16_matrices import linear_float16_weight

OTHER = "The man sees two well-known dogs today."
ANSWERS = ("Der Mann sieht zwei Bücher.", "Der Mann sieht zwei Hunde.")
CLOSE: dict[str, Any] = {"atol": 1e-5, "rtol": 1e-4}


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that tiny matrices, too, are raised in blocks, the last of which is not whole."""
    monkeypatch.setattr(half_weights, "_BLOCK_VALUES", 90)
    monkeypatch.setattr(minimal_pairs, "MIN_DIFFERENCE", 0.0)  # drawn weights tell sentences apart only a little


def both(tokenizer: Tokenizer, **options: Any) -> tuple[Translator, Translator]:
    """A model whose weights float16 can hold, in float32 and with its matrices in float16."""
    drawn = make_translator(tokenizer, **options)
    stored = {name: weight.detach().half() for name, weight in drawn.model.named_parameters()}
    rows = [
        Translator(
            Transformer.from_weights(drawn.config, stored, half=half),
            tokenizer,
            drawn.decoding.replace(extra_length=3),  # drawn weights generate up to the limit
        )
        for half in (False, True)
    ]
    return rows[0], rows[1]


def numbers(value: object) -> Iterator[Tensor]:
    """Every tensor, array and float within a result."""
    if isinstance(value, Tensor | np.ndarray | float):
        yield torch.as_tensor(value)
    elif is_dataclass(value):
        for field in fields(value):
            yield from numbers(getattr(value, field.name))
    elif isinstance(value, dict):
        yield from numbers(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from numbers(each)


def assert_same(expected: object, got: object) -> None:
    pairs = list(zip(numbers(expected), numbers(got), strict=True))
    assert pairs
    for one, other in pairs:
        torch.testing.assert_close(other, one, **CLOSE)


# --- products ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("works", [True, False])
@pytest.mark.parametrize("rows", [1, 7, 9])
@pytest.mark.parametrize("biased", [True, False])
def test_products_as_in_float32(monkeypatch: pytest.MonkeyPatch, works: bool, rows: int, biased: bool) -> None:
    if not works:
        monkeypatch.setattr(onednn, "works", lambda dtype: False)
    torch.manual_seed(0)
    weight, bias = torch.randn(23, 12).half(), torch.randn(23) if biased else None
    x, given = torch.randn(1, rows, 12, requires_grad=True), torch.randn(5, 1, rows, 23)
    expected, got = F.linear(x, weight.float(), bias), linear_float16_weight(x, weight, bias)
    torch.testing.assert_close(got, expected, **CLOSE)
    for value, batched in ((given[0], False), (given, True)):
        grads = [
            torch.autograd.grad(out, x, value, retain_graph=True, is_grads_batched=batched)[0]
            for out in (expected, got)
        ]
        torch.testing.assert_close(grads[1], grads[0], **CLOSE)


# --- the model --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", SHAPES, ids=str)
def test_logits_maps_and_translations_are_the_same(tokenizer: Tokenizer, options: dict[str, Any]) -> None:
    single, half = both(tokenizer, **options)
    assert half.model.output_weight.dtype == torch.float16 and single.model.output_weight.dtype == torch.float32
    source = padded([6, 3])
    assert greedy_search(half.model, source, SPECIAL, 5) == greedy_search(single.model, source, SPECIAL, 5)
    expected, got = (each.translate_batch([SOURCE, "The man."], beam=3) for each in (single, half))
    for one, other in zip(expected, got, strict=True):
        assert one.tokens == other.tokens
        assert_same([h.score for h in one.hypotheses], [h.score for h in other.hypotheses])  # of which some are equal
        assert_same(one.scores, other.scores)
        assert_same(one.attention, other.attention)
    with ablated(single, [Head("cross", 0, 1)]), ablated(half, [Head("cross", 0, 1)]):
        assert_same(single.teacher_force(SOURCE, TARGET).scores, half.teacher_force(SOURCE, TARGET).scores)
        assert single.translate(SOURCE).text == half.translate(SOURCE).text


def test_an_edit_acts_and_is_undone(tokenizer: Tokenizer) -> None:
    _, half = both(tokenizer)
    before = half.teacher_force(SOURCE, TARGET).scores
    with edit(half.model, "decoder.layers.0.self_attention.head_outputs", lambda value, _site: 0 * value):
        assert half.teacher_force(SOURCE, TARGET).scores != before
    assert half.teacher_force(SOURCE, TARGET).scores == before


def test_another_mask_keeps_the_matrices_that_are_there(tokenizer: Tokenizer) -> None:
    single, half = both(tokenizer)
    other = half.with_mask(causal=False)
    assert other.model.output_weight.data_ptr() == half.model.output_weight.data_ptr()
    assert_same(
        single.with_mask(causal=False).teacher_force(SOURCE, TARGET).scores, other.teacher_force(SOURCE, TARGET).scores
    )


def test_it_cannot_be_trained(tokenizer: Tokenizer) -> None:
    _, half = both(tokenizer)
    with pytest.raises(ValueError, match="float16 cannot be trained; load the checkpoint with half=False"):
        half.model.train()
    assert not half.model.training and not half.model.encoder.training


# --- checkpoints ------------------------------------------------------------------------------------------------------


def saved(tokenizer: Tokenizer, folder: Path) -> int:
    """Parameters of a checkpoint, which this saves."""
    model = make_translator(tokenizer).model
    save_checkpoint(folder, dict(model.named_parameters()), model.config, tokenizer)
    return sum(parameter.numel() for parameter in model.parameters())


def test_large_models_are_loaded_so(tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = saved(tokenizer, tmp_path)
    for limit, half in ((size, True), (size + 1, False)):
        monkeypatch.setattr(checkpoint, "LARGE_MODEL", limit)
        assert Translator.load(tmp_path).model.has_half_weights is half
        assert Translator.load(tmp_path, half=not half).model.has_half_weights is not half
        assert not load_checkpoint(tmp_path).model.has_half_weights  # to be trained, perhaps


# --- analyses ---------------------------------------------------------------------------------------------------------


def _score_parts(translator: Translator) -> object:
    return decompose_score(translator, teacher_forced_run(translator, SOURCE, TARGET, points=POINTS), "cross.2.3")


ANALYSES: dict[str, Callable[[Translator], object]] = {
    "head effects": lambda translator: head_effects(translator, SOURCE, TARGET),
    "part effects": lambda translator: part_effects(translator, SOURCE, TARGET),
    "lens": lambda translator: logit_lens(translator, SOURCE, TARGET),
    "staircase": lambda translator: cumulative_ablation(translator, SOURCE, TARGET, order="gradient", texts=2).log_p,
    "patching": lambda translator: patching_module.patching(translator, SOURCE, OTHER, answers=ANSWERS).metrics,
    "score parts": _score_parts,
}


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("name", ANALYSES)
def test_analyses_of_the_lab_find_the_same(tokenizer: Tokenizer, name: str, norm: str) -> None:
    assert_same(*map(ANALYSES[name], both(tokenizer, norm=norm)))


@pytest.mark.parametrize("method", METHODS)
def test_attributions_are_the_same(tokenizer: Tokenizer, method: Any) -> None:
    expected, got = (
        attribute(each, SOURCE, TARGET, method=method) for each in both(tokenizer, tie="none", output_bias=True)
    )
    assert_same((expected.source, expected.target), (got.source, got.target))
