"""Means over captures of padded batches are those over the sentences one by one."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.core.analysis.models import make_translator
from tests.core.tiny import SPECIAL, inputs_for, padded, tiny_model
from transformer_core import DecodingConfig, Tokenizer, Transformer
from transformer_core.decoding.beam import beam_search
from transformer_core.hooks.captured import mask_of, vectors_of
from transformer_core.hooks.points import POINTS, Captured, capture
from transformer_core.model.masks import input_padding_mask, padding_mask

PAIRS = [
    ("The man sees a house today.", "Der Mann sieht ein Haus."),
    ("A child finds two well-known books.", "Ein Kind findet zwei bekannte Bücher heute."),
    ("My friend paints.", "Mein Freund malt."),
]
OF_KEYS = ("scores", "weights")  # as wide as the sentence is long


def by_hand(seen: Captured, address: str) -> Tensor:
    """The mean over captures of single sentences: each vector once."""
    rows = [call.movedim(-2, 1).flatten(0, 1) for call in seen.calls[address]]
    return torch.cat(rows).mean(dim=0)


@pytest.mark.parametrize(
    "options", [{}, {"norm": "pre", "embedding_norm": True}, {"window": 2}, {"causal": False}], ids=str
)
def test_a_padded_batch_has_the_means_of_its_sentences(tokenizer: Tokenizer, options: dict[str, Any]) -> None:
    translator = make_translator(tokenizer, **options)
    translator.model.eval()
    points = set(POINTS) - set(OF_KEYS)
    with capture(translator.model, points) as together:
        translator.score(PAIRS)
    with capture(translator.model, points) as apart:
        for pair in PAIRS:
            translator.score([pair])
    assert set(together) == set(apart)
    for address in together:
        expected = by_hand(apart, address)
        torch.testing.assert_close(together.mean(address), expected, atol=1e-5, rtol=1e-4, msg=address)
        torch.testing.assert_close(apart.mean(address), expected, msg=address)
        if address.endswith("head_outputs"):
            padding_too = together[address].transpose(0, 1).flatten(1, 2).mean(dim=1)
            assert not torch.allclose(padding_too, expected, rtol=1e-2)


def test_the_mask_is_that_of_the_pass(model: Transformer) -> None:
    source, target, mask = inputs_for((5, 3), 4)
    target[1, 2:] = SPECIAL.pad
    with torch.no_grad(), capture(model, "all") as seen:
        model(source, target, mask, input_padding_mask(target, SPECIAL.pad))
        model(source[:1], target[:1], None)
    lengths = {"encoder": [5, 3], "decoder": [4, 2]}
    for address, (padded_call, whole_call) in seen.calls.items():
        stack = "encoder" if ".cross_attention." in address and address.endswith(("keys", "values")) else address[:7]
        result, whole = mask_of(padded_call), mask_of(whole_call)
        assert result is not None and whole is not None
        assert result.sum(dim=1).tolist() == lengths[stack]
        assert whole.all() and len(vectors_of(whole_call)) == lengths[stack][0]
    assert mask_of(seen[address].clone()) is None


def test_gradients_know_the_mask_too(model: Transformer) -> None:
    with capture(model, "encoder.2.attention_output", grad=True) as seen:
        torch.autograd.backward(model(*inputs_for((5, 3), 4)).square().sum())
    (address,) = seen
    gradient = seen.grad[address]
    torch.testing.assert_close(seen.grad.mean(address), torch.cat([gradient[0], gradient[1, :3]]).mean(dim=0))


def test_every_step_of_a_search_counts(model: Transformer) -> None:
    """After a pass over padded targets, each row of a step is a vector of its own; sources keep their padding."""
    source = padded([5, 3])
    addresses = "encoder.layers.0.self_attention.head_outputs", "decoder.layers.0.self_attention.head_outputs"
    mask = padding_mask(source, SPECIAL.pad)
    with capture(model, ["encoder.1.head_outputs", "decoder.1.head_outputs", "cross.1.head_outputs"]) as seen:
        model(source, source, mask, mask)
        assert mask_of(seen[addresses[1]]) is not None
        seen.calls.clear()
        beam_search(model, source, SPECIAL, DecodingConfig(beam=2, extra_length=2))
    torch.testing.assert_close(
        seen.mean(addresses[0]),
        torch.cat([row[:, :n].transpose(0, 1) for row, n in zip(seen[addresses[0]], (5, 3), strict=True)]).mean(dim=0),
    )
    torch.testing.assert_close(seen.mean(addresses[1]), by_hand(seen, addresses[1]))


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_compiler")
@torch.no_grad()
def test_a_compiled_model_tells_its_mask() -> None:
    model, batch = tiny_model(num_layers=1), inputs_for((5, 3), 4)
    compiled = torch.compile(model, backend="eager")
    with capture(model, "head_outputs") as eager:
        model(*batch)
    with capture(compiled, "head_outputs") as seen:  # type: ignore[arg-type]
        compiled(*batch)
    for address in eager:
        assert mask_of(seen[address]) is not None
        torch.testing.assert_close(seen.mean(address), eager.mean(address), atol=1e-5, rtol=1e-5)
