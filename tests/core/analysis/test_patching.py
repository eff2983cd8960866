"""Activation patching: against forward hooks of torch.nn, one value at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.core.analysis.models import of_shapes
from transformer_core.analysis import minimal_pairs
from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.minimal_pairs import PatchingError, same_positions
from transformer_core.analysis.patching import DIRECTIONS, SITES, Direction, PatchSite, patching, translate_patched
from transformer_core.attention_maps import KINDS
from transformer_core.model.masks import padding_mask
from transformer_core.translator import Translator

pytestmark = pytest.mark.usefixtures("any_difference")
CLEAN, CORRUPTED, LONGER = "The man sees a house.", "The man sees a horse.", "The man sees my friend today."
ANSWERS = ("Der Mann sieht ein Haus heute.", "Der Mann sieht eine Tür heute.")
SHAPES: list[dict[str, Any]] = [{}, {"norm": "pre"}, {"attention_biases": True}, {"residual": False}]


def part(translator: Translator, site: PatchSite, place: int, layer: int) -> nn.Module:
    """The module whose input is the value; of `residual` its output."""
    model = translator.model
    if site == "heads":
        return model.get_submodule(hook_point_name(KINDS[place], layer, "w_o"))
    stack = ("encoder", "decoder")[place]
    name = "feed_forward_add_norm" if site == "residual" else "feed_forward.w_2"
    return model.get_submodule(f"{stack}.layers.{layer}.{name}")


def hooked(where: nn.Module, site: PatchSite, change: Callable[[Tensor], Tensor]) -> Any:
    if site == "residual":
        return where.register_forward_hook(lambda _module, _inputs, output: change(output))
    return where.register_forward_pre_hook(lambda _module, inputs: (change(inputs[0]),))


def sentence(translator: Translator, text: str) -> Tensor:
    return torch.tensor([[*translator.encode(text).ids, translator.tokenizer.special.eos]])


@torch.no_grad()
def metric(translator: Translator, text: str, prefix: list[int], tokens: tuple[int, int]) -> float:
    special = translator.tokenizer.special
    source = sentence(translator, text)
    logits = translator.model(source, torch.tensor([[special.bos, *prefix]]), padding_mask(source, special.pad))[0, -1]
    return float(logits[tokens[0]] - logits[tokens[1]])


def first_divergence(translator: Translator) -> tuple[list[int], tuple[int, int]]:
    ids = [translator.encode_target(text).ids for text in ANSWERS]
    at = next(place for place, (a, b) in enumerate(zip(*ids, strict=False)) if a != b)
    return list(ids[0][:at]), (ids[0][at], ids[1][at])


def recorded(translator: Translator, where: nn.Module, site: PatchSite, text: str) -> Tensor:
    """The value there while a sentence is read."""
    kept: list[Tensor] = []

    def keep(value: Tensor) -> Tensor:
        kept.append(value.clone())
        return value

    with hooked(where, site, keep):
        metric(translator, text, *first_divergence(translator))
    return kept[0]


def put(value: Tensor, site: PatchSite, at: int, values: Tensor, width: int) -> Tensor:
    """A copy with a head, or a position, of other values."""
    changed, mine = value.clone(), slice(at * width, (at + 1) * width)
    if site == "heads":
        changed[:, : values.shape[1], mine] = values[..., mine]
    elif at < value.shape[1]:
        changed[:, at] = values[:, at]
    return changed


@of_shapes(SHAPES)
@pytest.mark.parametrize(("site", "direction"), list(product(SITES, DIRECTIONS)))
def test_every_cell_is_one_forward_hook(translator: Translator, site: PatchSite, direction: Direction) -> None:
    assert sentence(translator, CLEAN).shape == sentence(translator, CORRUPTED).shape
    result = patching(translator, CLEAN, CORRUPTED, answers=ANSWERS, site=site, direction=direction)
    prefix, tokens = first_divergence(translator)
    assert [result.answers, result.prefix] == [translator.tokenizer.tokens(list(ids)) for ids in (tokens, prefix)]
    clean, corrupted = (metric(translator, text, prefix, tokens) for text in (CLEAN, CORRUPTED))
    assert (result.metric_clean, result.metric_corrupted) == pytest.approx((clean, corrupted), abs=1e-4)
    donor, receiver = (CLEAN, CORRUPTED) if direction == "denoise" else (CORRUPTED, CLEAN)
    start, end = (corrupted, clean) if direction == "denoise" else (clean, corrupted)
    for place, layer, at in product(*map(range, result.metrics.shape)):
        where = part(translator, site, place, layer)
        values = recorded(translator, where, site, donor)
        if site != "heads" and at >= values.shape[1]:
            assert result.metrics[place, layer, at].isnan()
            continue
        with hooked(where, site, partial(put, site=site, at=at, values=values, width=translator.config.d_v)):
            expected = metric(translator, receiver, prefix, tokens)
        assert float(result.metrics[place, layer, at]) == pytest.approx(expected, abs=1e-4)
        share = (expected - start) / (end - start)
        assert float(result.recovered[place, layer, at]) == pytest.approx(share, rel=1e-2, abs=1e-2)


def test_sentences_of_different_length_have_heads_only(translator: Translator) -> None:
    assert sentence(translator, CLEAN).shape != sentence(translator, LONGER).shape
    heads = patching(translator, CLEAN, LONGER, answers=ANSWERS)
    assert not heads.recovered.isnan().any()
    with pytest.raises(PatchingError, match=r"have \d+ and \d+ tokens.*patch heads"):
        patching(translator, CLEAN, LONGER, answers=ANSWERS, site="residual")


@pytest.mark.parametrize(
    ("there", "here", "same"),
    [
        ([1, 2, 3], [4, 5, 6], ([0, 1, 2], [0, 1, 2])),
        ([1, 2, 9], [1, 7, 8, 9], ([0, 2], [0, 3])),
        ([1, 1, 9], [1, 9], ([0, 2], [0, 1])),
        ([5], [6, 7], ([], [])),
    ],
)
def test_positions_match_at_both_ends(there: list[int], here: list[int], same: tuple[list[int], list[int]]) -> None:
    assert same_positions(there, here) == same


def test_what_cannot_be_compared(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PatchingError, match="are the same"):
        patching(translator, CLEAN, CORRUPTED, answers=("Ja.", "Ja."))
    with pytest.raises(ValueError, match="site is 'x'"):
        patching(translator, CLEAN, CORRUPTED, site="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="direction is 'x'"):
        patching(translator, CLEAN, CORRUPTED, direction="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="empty"):
        patching(translator, " ", CORRUPTED, answers=ANSWERS)
    monkeypatch.setattr(minimal_pairs, "MIN_DIFFERENCE", 1e9)
    with pytest.raises(PatchingError, match="too little to say"):
        patching(translator, CLEAN, CORRUPTED, answers=ANSWERS)


@of_shapes(SHAPES[:3])
@pytest.mark.parametrize(
    ("site", "cell"),
    [("heads", (0, 0, 1)), ("heads", (1, 1, 0)), ("heads", (2, 0, 1)), ("residual", (0, 1, 2)), ("residual", (1, 0, 1)),
     ("ffn", (1, 1, 2))],
)  # fmt: skip
@pytest.mark.parametrize("beam", [1, 3])
def test_search_as_forced_pass(translator: Translator, site: PatchSite, cell: tuple[int, int, int], beam: int) -> None:
    prefix, _ = first_divergence(translator)
    result = translate_patched(translator, CLEAN, CORRUPTED, cell, answers=ANSWERS, site=site, beam=beam)
    best = result.hypotheses[0]
    assert list(best.ids[: len(prefix)]) == prefix
    where = part(translator, site, *cell[:2])
    values = recorded(translator, where, site, CLEAN)
    change = partial(put, site=site, at=cell[2], values=values, width=translator.config.d_v)
    special = translator.tokenizer.special
    ids = [*best.ids, *([special.eos] if result.finished else [])]
    with torch.no_grad(), hooked(where, site, change):
        inputs = torch.tensor([[special.bos, *ids[:-1]]])
        logits = translator.model(sentence(translator, CORRUPTED), inputs, None)[0]
    log_p = logits.log_softmax(dim=1).gather(1, torch.tensor(ids)[:, None])[:, 0]
    assert list(best.log_probabilities) == pytest.approx(log_p.tolist(), abs=1e-4)
    if beam == 1:  # greedy: every token after the prefix is the likeliest one
        assert logits.argmax(dim=1)[len(prefix) :].tolist() == ids[len(prefix) :]


def test_a_cell_that_does_not_exist(translator: Translator) -> None:
    with pytest.raises(ValueError, match=r"no cell \(2, 9, 9\) of heads"):
        translate_patched(translator, CLEAN, CORRUPTED, (2, 9, 9), answers=ANSWERS)
